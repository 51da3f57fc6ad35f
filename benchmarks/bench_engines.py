"""Spark and Ray with two workers against one: the same partitions, a model that takes its time.

It needs the environment of the tests of engines: after `make test-engines`, run
`.venv-engines/bin/python benchmarks/bench_engines.py`. Every cluster is a process of its own, and
the two of an engine take turns, so that a busy machine is busy for both. A first run on each, which
starts workers and imports libraries, does not count.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import rhale

N_PARTS, PART_ROWS, N_FEATURES = 16, 40_000, 4
ROUNDS = 3
TARGET = 1.6  # two workers against one
SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.sql.files.openCostInBytes": str(2**27),  # one file, one partition
}


def heavy():
    """A model that computes for some microseconds a row, on one core."""
    weights = np.random.default_rng(0).normal(size=(N_FEATURES, 64)) / 2
    inner = np.random.default_rng(1).normal(size=(64, 64)) / 8

    def model(rows):
        hidden = np.tanh(rows.to_numpy() @ weights)
        for _ in range(10):
            hidden = np.tanh(hidden @ inner) + hidden / 2
        return hidden.sum(axis=1)

    return model


def write_rows(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(2)
    for part in range(N_PARTS):
        columns = {f"x{i}": rng.normal(size=PART_ROWS) for i in range(N_FEATURES)}
        pq.write_table(pa.table(columns), folder / f"{part:03d}.parquet")


def spark_rows(folder, n_workers):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{n_workers}]")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    return builder.getOrCreate().read.parquet(str(folder))


def ray_rows(folder, n_workers):
    import pyarrow.parquet as pq
    import ray

    quiet = {"include_dashboard": False, "logging_level": "error", "log_to_driver": False}
    ray.init(num_cpus=n_workers, object_store_memory=300_000_000, **quiet)
    files = sorted(folder.iterdir())
    return ray.data.from_arrow([pq.read_table(file) for file in files])  # Ray would unite them


def serve(engine, n_workers, folder):
    """Be a cluster: explain once to get warm, then once for every line that comes in."""
    data = {"spark": spark_rows, "ray": ray_rows}[engine](Path(folder), n_workers)
    model = heavy()
    rhale.explain(model, data)
    print("ready", flush=True)
    for line in sys.stdin:
        start = perf_counter()
        found = rhale.explain(model, data)
        print(perf_counter() - start, flush=True)
        found.save(line.strip())


class Cluster:
    """A cluster in another process."""

    def __init__(self, engine, n_workers, folder):
        self.name, self.times = f"{engine}-{n_workers}", []
        command = [sys.executable, __file__, engine, str(n_workers), str(folder)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(  # noqa: S603 - this file
            command, stdin=pipe, stdout=pipe, env=environment, text=True
        )
        while self.process.stdout.readline().strip() != "ready":
            if self.process.poll() is not None:
                msg = f"{self.name} did not start"
                raise RuntimeError(msg)

    def run(self, folder):
        self.process.stdin.write(f"{folder / self.name}.json\n")
        self.process.stdin.flush()
        self.times.append(float(self.process.stdout.readline()))

    def answer(self, folder):
        self.process.stdin.close()
        self.process.wait()
        return rhale.load(f"{folder / self.name}.json")


def measure(engine, rows, answers):
    """Print how much faster two workers are than one."""
    one, two = (Cluster(engine, n, rows) for n in (1, 2))
    for _ in range(ROUNDS):
        one.run(answers)
        two.run(answers)
    found, wanted = two.answer(answers), one.answer(answers)
    assert found.effects == wanted.effects, "two workers give other numbers than one"
    ratio = min(one.times) / min(two.times)
    print(
        f"{engine}: one worker {min(one.times):.1f} s, two {min(two.times):.1f} s, ratio "
        f"{ratio:.2f} (target {TARGET}), same bits; rounds "
        f"{', '.join(f'{a / b:.2f}' for a, b in zip(one.times, two.times, strict=True))}"
    )


def main():
    with TemporaryDirectory() as folder:
        rows, answers = Path(folder) / "rows", Path(folder) / "answers"
        rows.mkdir()
        answers.mkdir()
        write_rows(rows)
        busy = os.getloadavg()[0]
        print(f"{N_PARTS} partitions of {PART_ROWS:,} rows, load average {busy:.1f}", flush=True)
        for engine in ("spark", "ray"):
            measure(engine, rows, answers)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        main()
