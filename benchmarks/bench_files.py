"""Tables in files: memory that does not grow with the rows, and speed against a plain loop."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from bench_torch import average
from measuring import race, seconds
from networks import network

import rhale

N_FEATURES, GROUP = 8, 1_000_000
BATCH, SMALL = 2**16, 2**12  # rows that are read at a time, and that a network is asked about
LARGE = int(float(os.environ.get("RHALE_BENCH_ROWS", "1e7")))  # 1e8 takes 3 GB of disk, minutes
ALLOWED = 100  # MiB
TARGETS = {("network", 1): 1.3, ("function", 2): 3.0}  # times, by readings
ALONE = """
import json, sys
from pathlib import Path
import rhale

fx = rhale.explain(
    lambda rows: (rows.to_numpy() ** 2).sum(axis=1), sys.argv[1], gradient=lambda r: 2 * r.to_numpy()
)
peak = next(s for s in Path("/proc/self/status").read_text().splitlines() if s.startswith("VmHWM"))
answer = [fx.provenance["rows"], int(peak.split()[1]) / 1024, [e.std[0] for e in fx.effects]]
print(json.dumps(answer))
"""


def write_rows(path, n_rows):
    """Write normal numbers, one row group at a time."""
    rng, names = np.random.default_rng(0), [f"x{i}" for i in range(N_FEATURES)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for start in range(0, n_rows, GROUP):
            size = min(GROUP, n_rows - start)
            columns = [rng.standard_normal(size, dtype=np.float32) for _ in names]
            file.write_table(pa.table(columns, schema=schema))
    return path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_rows(ledger, tmp_path):
    peaks = []
    for n_rows in (GROUP, LARGE):
        path = write_rows(tmp_path / "rows.parquet", n_rows)
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", ALONE, path], capture_output=True, text=True, check=True
        )
        found, peak, spreads = json.loads(done.stdout)
        path.unlink()
        assert found == n_rows
        np.testing.assert_allclose(spreads, 0.0, atol=1e-6)  # slopes 2 x are lines
        peaks.append(peak)
    more = peaks[1] - peaks[0]
    ledger.add(
        "peak memory of a process that explains Parquet",
        f"8 features, {GROUP:,} and {LARGE:,} rows",
        f"{peaks[1]:.0f} MiB",
        f"{peaks[0]:.0f} MiB",
        f"{more:+.0f} MiB",
        f"< {ALLOWED} MiB more",
        met=more < ALLOWED,
    )


def slopes_of_network(model):
    """Slopes of a network, in the small batches that suit its layers best."""

    def slopes(rows):
        found = []
        for part in torch.tensor(rows).split(SMALL):
            part.requires_grad_()
            found += torch.autograd.grad(model(part).sum(), part)
        return torch.cat(found).numpy()

    return slopes


def plain_loop(path, slopes, n_readings):
    """Read the file as often as `explain` does, and ask for the slopes of every row once."""
    total = np.zeros(N_FEATURES)
    for reading in range(n_readings):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH):
                rows = batch.to_pandas().to_numpy()
                if reading == 0:
                    total += slopes(rows).sum(axis=0, dtype=np.float64)
    return total / file.metadata.num_rows


@pytest.mark.parametrize("n_readings", [1, 2])
@pytest.mark.parametrize("kind", ["network", "function"])
def test_files_cost_little_more_than_a_plain_loop(benchmark, ledger, tmp_path, kind, n_readings):
    path = write_rows(tmp_path / "rows.parquet", GROUP)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    model = network()
    if kind == "network":
        slopes, asked = slopes_of_network(model), {"model": model}
    else:
        slopes = np.cos
        asked = {
            "model": lambda rows: np.sin(rows.to_numpy()).sum(axis=1),
            "gradient": lambda rows: np.cos(rows.to_numpy()),
        }

    found = race(
        benchmark,
        lambda: rhale.explain(**asked, data=path, bins=rhale.Fixed(20)),
        lambda: plain_loop(path, slopes, n_readings),
        rounds=3,
    )

    torch.set_num_threads(threads)
    averages = [average(e) for e in found.our_answer]
    np.testing.assert_allclose(averages, found.other_answer, rtol=1e-4, atol=1e-6)
    target = TARGETS.get((kind, n_readings))
    ledger.add(
        f"{kind} on Parquet, against slopes alone and {n_readings} x reading",
        f"8 features, {GROUP:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2f}",
        f"<= {target}" if target else "",
        met=found.cost <= target if target else None,
    )
