"""A process loads its compiled loops when that pays, and does without them where numba is not there."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from rhale.effects.binning.adaptive import PRICED, Adaptive
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.stats import jit
from rhale.stats.jit import Measured, choose_compiled_loops, load_loops
from rhale.stats.sampling import HASHED_PER_EFFECT, column_keys


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(jit, "MEASURED_SO_FAR", Measured())
    load_loops.cache_clear()
    yield
    load_loops.cache_clear()


@pytest.fixture
def _some_loops(monkeypatch):
    monkeypatch.setattr(jit, "load_loops", lambda: "the loops")


@pytest.mark.usefixtures("_some_loops")
@pytest.mark.parametrize(("is_loaded", "n_waited"), [(False, 32), (True, 2)])
def test_loops_are_given_after_so_many_numbers_and_sooner_where_numba_is_loaded(
    monkeypatch, is_loaded, n_waited
):
    monkeypatch.setattr(jit, "PAYS_FROM", 64)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    if is_loaded:
        monkeypatch.setitem(sys.modules, "numba", SimpleNamespace())
    expected = [None] * n_waited + ["the loops"] * (40 - n_waited)
    assert [choose_compiled_loops(2) for _ in range(40)] == expected


@pytest.mark.usefixtures("_some_loops")
def test_keys_and_runs_count_by_the_time_they_take(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    column_keys(
        [np.ones(6 * HASHED_PER_EFFECT), np.ones(6 * HASHED_PER_EFFECT)], 6 * HASHED_PER_EFFECT
    )
    assert jit.MEASURED_SO_FAR.n_numbers == 12
    x = np.linspace(0, 1, 100)
    moments = measure_moments(Grid(np.linspace(0, 1, 11)), x, x)
    before = jit.MEASURED_SO_FAR.n_numbers
    Adaptive(spread_bins="mean")(moments)
    assert jit.MEASURED_SO_FAR.n_numbers - before == PRICED * 10**2 // 2


def test_where_the_compiler_is_switched_off_there_is_no_loop(monkeypatch):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert load_loops() is None


def test_where_numba_is_not_installed_there_is_no_loop(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert load_loops() is None


def test_each_loop_is_compiled_for_one_layout_of_its_arguments():
    pytest.importorskip("numba")
    assert [len(loop.signatures) for loop in load_loops()] == [1, 1, 1]
