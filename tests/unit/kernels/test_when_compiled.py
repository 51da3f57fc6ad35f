"""A process compiles when it has measured so much that compiling pays."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from rhale.kernels import when_compiled
from rhale.kernels.adaptive import PRICED, Adaptive
from rhale.kernels.grid import Grid
from rhale.kernels.moments import measure
from rhale.kernels.sample import STIRRED, column_keys
from rhale.kernels.when_compiled import Measured, are_kept, find_loops, load_loops, loops_after

ROOMS = ["moments_loop", "keys_loop", "search_loop"]


@pytest.fixture
def _fresh(monkeypatch):
    monkeypatch.setattr(when_compiled, "SO_FAR", Measured())
    monkeypatch.setattr(when_compiled, "load_loops", lambda: "the loops")


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize(
    ("kept", "loaded", "n_waited"),
    [(False, False, 32), (False, True, 32), (True, False, 16), (True, True, 1)],
    ids=["to compile, numba to load", "to compile", "numba to load", "what was compiled to load"],
)
def test_the_loops_are_given_after_so_many_numbers_and_from_then_on(
    monkeypatch, kept, loaded, n_waited
):
    monkeypatch.setattr(when_compiled, "PAYS_FROM", 64)
    monkeypatch.setattr(when_compiled, "are_kept", lambda: kept)
    if loaded:
        monkeypatch.setitem(sys.modules, "numba", SimpleNamespace())
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    expected = [None] * n_waited + ["the loops"] * (40 - n_waited)
    assert [loops_after(2) for _ in range(40)] == expected


@pytest.mark.usefixtures("_fresh")
def test_keys_count_by_the_time_they_take():
    column_keys([np.ones(6 * STIRRED), np.ones(6 * STIRRED)], 6 * STIRRED)
    assert when_compiled.SO_FAR.n_numbers == 12


@pytest.mark.usefixtures("_fresh")
def test_runs_count_by_the_time_they_take():
    x = np.linspace(0, 1, 100)
    moments = measure(Grid(np.linspace(0, 1, 11)), x, x)
    before = when_compiled.SO_FAR.n_numbers
    Adaptive(spread_bins="mean")(moments)
    assert when_compiled.SO_FAR.n_numbers - before == PRICED * 10**2 // 2


@pytest.mark.usefixtures("_fresh")
def test_a_small_table_loads_nothing(monkeypatch):
    monkeypatch.setattr(when_compiled, "load_loops", pytest.fail)
    monkeypatch.setattr(when_compiled, "are_kept", pytest.fail)
    assert loops_after(10_000_000) is None


@pytest.fixture
def _sought_anew():
    for found in (find_loops, load_loops, are_kept):
        found.cache_clear()
    yield
    for found in (find_loops, load_loops, are_kept):
        found.cache_clear()


def assert_no_loops():
    assert find_loops() is None
    assert load_loops() is None
    assert not are_kept()


@pytest.mark.usefixtures("_sought_anew")
@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("reason", [ImportError, RuntimeError])
def test_where_nothing_can_be_compiled_there_is_no_loop(monkeypatch, reason, room):
    class Refuses:
        def find_spec(self, name, *_):
            if name == f"rhale.kernels.{room}":
                raise reason

    monkeypatch.delitem(sys.modules, f"rhale.kernels.{room}", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refuses(), *sys.meta_path])
    assert_no_loops()


@pytest.mark.usefixtures("_sought_anew")
def test_where_the_compiler_is_switched_off_there_is_no_loop(monkeypatch):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert_no_loops()


@pytest.mark.usefixtures("_sought_anew")
def test_where_numba_is_not_installed_there_is_no_loop(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert_no_loops()


@pytest.mark.usefixtures("_sought_anew")
def test_what_was_compiled_is_kept():
    pytest.importorskip("numba")
    loops = load_loops()
    assert are_kept()
    assert loops is load_loops()
    assert [len(loop.signatures) for loop in loops] == [1, 1, 1]
