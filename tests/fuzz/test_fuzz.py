"""Every reader against some damaged files; `make fuzz` tries thousands."""

import os
import sys

import pytest
from tests.fuzz.readers import READERS
from tests.fuzz.runner import BAD, run_cases

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and forks are Linux's")

CASES = int(os.environ.get("RHALE_FUZZ_CASES", "25"))
SEED = int(os.environ.get("RHALE_FUZZ_SEED", "0"))
NEEDS = {
    "xgboost-json": ("xgboost", "treelite", "numba"),
    "xgboost-ubj": ("xgboost", "treelite", "numba"),
    "lightgbm": ("lightgbm", "treelite", "numba"),
    "catboost": ("catboost",),
    "onnx": ("onnx", "onnxruntime"),
    "skops": ("skops", "sklearn"),
    "explanation": ("vl_convert", "jinja2"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(name):
    for library in NEEDS.get(name, ("pyarrow",)):
        pytest.importorskip(library)
    results = list(run_cases(name, SEED, range(CASES)))
    assert len(results) == CASES
    bad = [str(r) for r in results if r.outcome in BAD or (not r.mutations and r.outcome != "read")]
    assert not bad, "\n".join(bad)
