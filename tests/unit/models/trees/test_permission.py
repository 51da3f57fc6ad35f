"""Trees are walked without numba where that was allowed, and only there."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import rhale
from rhale.models.trees import permission
from rhale.models.trees.permission import (
    IN_PYTHON,
    KEEPS_UNSIGNED,
    may_walk_in_python,
    walking_without_numba,
)

pytest.importorskip("sklearn")

from sklearn.ensemble import HistGradientBoostingRegressor

WITHOUT = """
    import sys

    sys.modules["numba"] = sys.modules["treelite"] = None
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    import rhale
    from rhale.models.trees.permission import walking_without_numba

    x = np.random.default_rng(0).normal(size=(200, 2))
    model = HistGradientBoostingRegressor(max_iter=3).fit(x, x[:, 0] * x[:, 1])
    with walking_without_numba():
        rhale.explain(model, x).save(sys.argv[1])
"""


def test_leave_ends_with_its_block():
    with walking_without_numba():
        assert IN_PYTHON.get()
    assert not IN_PYTHON.get()


def test_leave_needs_unsigned_numbers_that_stay_unsigned(monkeypatch):
    for keeps in (True, False):
        monkeypatch.setattr(permission, "KEEPS_UNSIGNED", keeps)
        assert not may_walk_in_python()
        with walking_without_numba():
            assert may_walk_in_python() is keeps


def test_only_numpy_1_turns_unsigned_numbers_into_floats():
    assert KEEPS_UNSIGNED is (int(np.__version__.split(".")[0]) >= 2)


@pytest.mark.skipif(not KEEPS_UNSIGNED, reason="a walk without numba needs NumPy 2")
def test_a_walk_without_numba_gives_the_numbers_of_the_compiled_one(tmp_path):
    pytest.importorskip("numba")
    pytest.importorskip("treelite")
    place = tmp_path / "plain.json"
    code = textwrap.dedent(WITHOUT)
    subprocess.run([sys.executable, "-W", "error", "-c", code, place], check=True)  # noqa: S603
    x = np.random.default_rng(0).normal(size=(200, 2))
    model = HistGradientBoostingRegressor(max_iter=3).fit(x, x[:, 0] * x[:, 1])
    compiled, plain = rhale.explain(model, x), rhale.load(place)
    assert plain.provenance["answers_walked"] > 0
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one.edges, other.edges)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)
        np.testing.assert_allclose(one.std, other.std, rtol=1e-12)
        np.testing.assert_allclose(one.curve(x[:, 0]), other.curve(x[:, 0]), rtol=1e-12)
