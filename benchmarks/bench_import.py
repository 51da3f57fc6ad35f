"""Importing rhale in a fresh process."""

import subprocess
import sys

from measuring import best_time, seconds

LIMIT = 0.3


def run(code):
    answer = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return answer.stdout.split()


def test_import_is_quick_and_brings_no_optional_library(ledger):
    loaded = run("import sys, rhale; print(*sys.modules)")
    assert "rhale" in loaded
    optional = {"matplotlib", "sklearn", "torch", "jax", "pandas", "polars", "pyarrow", "tqdm"}
    assert not optional & set(loaded)

    start = best_time(lambda: run("pass"), rounds=7)
    numpy = best_time(lambda: run("import numpy"), rounds=7) - start
    rhale = best_time(lambda: run("import rhale"), rounds=7) - start

    ledger.add(
        "import, against `import numpy`",
        "fresh process, start of Python taken off",
        seconds(rhale),
        seconds(numpy),
        f"{rhale / numpy:.2f}",
        "< 0.3 s",
        met=rhale < LIMIT,
    )
