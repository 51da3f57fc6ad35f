"""The same calls in two trees, in turn: what a change of structure costs.

    python benchmarks/before_after.py b9c3dd6            # this tree against a commit
    python benchmarks/before_after.py HEAD --rounds 2

Both trees run in processes of their own, one after the other, several times; the best time of
each counts. Answers are compared by `make golden`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]


def method_parts():
    """Cells, their moments and compiled loops, also of commits whose package `kernels` held them."""
    if find_spec("rhale.kernels") is not None:
        names = "grid", "moments", "when_compiled"
        grid, moments, jit = (import_module(f"rhale.kernels.{name}") for name in names)
        return grid.Grid, moments.measure, jit
    from rhale.effects.binning.cells import Grid
    from rhale.effects.binning.moments import measure_moments
    from rhale.stats import jit

    return Grid, measure_moments, jit


def measure():
    """Best times of all calls in this process, in milliseconds."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
    import torch
    from sklearn.ensemble import HistGradientBoostingRegressor

    import rhale

    Grid, moments, jit = method_parts()  # noqa: N806 - a class
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(200_000, 8)), rng.normal(size=8)
    layers = torch.nn.Linear(8, 64), torch.nn.SiLU(), torch.nn.Linear(64, 1)
    network = torch.nn.Sequential(*layers).double()
    column, effects = rng.normal(size=1_000_000), rng.normal(size=(3, 1_000_000))
    grid = Grid(np.linspace(-6, 6, 101))

    def model(rows):
        return np.tanh(rows @ weights)

    def slopes(rows):
        return (1 - np.tanh(rows @ weights) ** 2)[:, None] * weights

    def framed(rows):
        return model(rows.to_numpy())

    def sums(rows):
        return rows.sum(axis=1)

    def read_file(pays_from):
        usual, jit.PAYS_FROM = jit.PAYS_FROM, pays_from
        rhale.explain(
            lambda rows: np.sin(rows.to_numpy()).sum(axis=1),
            file.name,
            gradient=lambda rows: np.cos(rows.to_numpy()),
            bins=rhale.Fixed(20),
        )
        jit.PAYS_FROM = usual

    narrow = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1))
    wide = rng.uniform(size=(100_000, 40))
    frame = pd.DataFrame(x[:20_000], columns=list("abcdefgh"))
    trees = HistGradientBoostingRegressor(max_iter=50).fit(x[:20_000], model(x[:20_000]))
    rhale.explain(trees, x[:500])  # compiles the walk
    file = tempfile.NamedTemporaryFile(suffix=".parquet")  # noqa: SIM115 - it ends with the process
    columns = rng.standard_normal((8, 1_000_000), dtype=np.float32)
    pq.write_table(pa.table(list(columns), names=list("abcdefgh")), file.name)
    read_file(0)  # compiles the loops
    calls = {
        "moments of 1e6 rows, 3 series": lambda: moments(grid, column, effects),
        "gradients, 2e5 rows": lambda: rhale.explain(model, x, gradient=slopes),
        "secants, 5e4 rows": lambda: rhale.explain(model, x[:50_000]),
        "a network, 1e5 rows": lambda: rhale.explain(network, x[:100_000]),
        "walked trees, 2e4 rows": lambda: rhale.explain(trees, x[:20_000]),
        "1,000 rows": lambda: rhale.explain(model, x[:1_000]),
        "1,000 rows, n_jobs=1": lambda: rhale.explain(model, x[:1_000], n_jobs=1),
        "pdp, 1,000 rows": lambda: rhale.explain(model, x[:1_000], method="pdp"),
        "pdp, 1,000 rows of pandas": lambda: rhale.explain(framed, frame[:1_000], method="pdp"),
        "pdp, 2e4 rows": lambda: rhale.explain(model, x[:20_000], method="pdp"),
        "pdp, 2e4 rows of pandas": lambda: rhale.explain(framed, frame, method="pdp"),
        "ale, 2e4 rows of pandas": lambda: rhale.explain(framed, frame, method="ale"),
        "a function on Parquet, 1e6 rows": lambda: read_file(np.inf),
        "a function on Parquet, 1e6 rows, compiled loops": lambda: read_file(0),
        "40 features, 1e5 rows": lambda: rhale.explain(sums, wide, gradient=np.ones_like),
        "regions of walked trees, 2e4 rows": lambda: rhale.explain(trees, x[:20_000], regions=True),
        "pairs of a narrow network, 1e4 rows": lambda: rhale.interactions(narrow, x[:10_000]),
    }
    return {name: best(call) for name, call in calls.items()}


def best(call, rounds=5):
    times = []
    for _ in range(rounds):
        start = perf_counter()
        call()
        times.append(1e3 * (perf_counter() - start))
    return min(times)


def times_in(tree):
    """Times of a process that imports rhale from a tree."""
    own = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    own |= {"NUMBA_NUM_THREADS": "1"}
    # glibc gives memory back and takes it again as chance has it: +-5 % that no change has made
    own |= dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), str(2**32))
    command = [sys.executable, __file__, "--measure"]
    done = subprocess.run(command, env=own, check=True, capture_output=True, text=True)  # noqa: S603
    return json.loads(done.stdout.splitlines()[-1])


def compare(commit, rounds):
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(before), commit], check=True)  # noqa: S603
        try:
            found = [(times_in(before), times_in(ROOT)) for _ in range(rounds)]
        finally:
            subprocess.run([*git, "remove", "--force", str(before)], check=True)  # noqa: S603
    print(f"| call | {commit}, ms | here, ms | ratio |\n| --- | --- | --- | --- |")
    for name in found[0][0]:
        old, new = (min(pair[i][name] for pair in found) for i in (0, 1))
        print(f"| {name} | {old:.1f} | {new:.1f} | {new / old:.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measure()))
    else:
        compare(asked.commit, asked.rounds)


if __name__ == "__main__":
    main()
