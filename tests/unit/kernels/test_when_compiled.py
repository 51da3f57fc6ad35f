"""A process compiles when it has measured so much that compiling pays."""

import sys

import numpy as np
import pytest

from rhale.kernels import when_compiled
from rhale.kernels.sample import STIRRED, column_keys
from rhale.kernels.when_compiled import Measured, load_loops, loops_after

ROOMS = ["moments_loop", "keys_loop"]


@pytest.fixture
def _fresh(monkeypatch):
    monkeypatch.setattr(when_compiled, "SO_FAR", Measured())
    monkeypatch.setattr(when_compiled, "load_loops", lambda: "the loops")


@pytest.mark.usefixtures("_fresh")
def test_the_loops_are_given_after_so_many_numbers_and_from_then_on(monkeypatch):
    monkeypatch.setattr(when_compiled, "PAYS_FROM", 10)
    assert [loops_after(4) for _ in range(5)] == [None, None, None, "the loops", "the loops"]


@pytest.mark.usefixtures("_fresh")
def test_keys_count_by_the_time_they_take():
    column_keys([np.ones(6 * STIRRED), np.ones(6 * STIRRED)], 6 * STIRRED)
    assert when_compiled.SO_FAR.n_numbers == 12


@pytest.mark.usefixtures("_fresh")
def test_a_small_table_loads_nothing(monkeypatch):
    monkeypatch.setattr(when_compiled, "load_loops", pytest.fail)
    assert loops_after(10_000_000) is None


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("reason", [ImportError, RuntimeError])
def test_where_nothing_can_be_compiled_there_is_no_loop(monkeypatch, reason, room):
    class Refuses:
        def find_spec(self, name, *_):
            if name == f"rhale.kernels.{room}":
                raise reason

    monkeypatch.delitem(sys.modules, f"rhale.kernels.{room}", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refuses(), *sys.meta_path])
    assert load_loops.__wrapped__() is None


@pytest.mark.parametrize("room", ROOMS)
def test_where_the_compiler_is_switched_off_there_is_no_loop(monkeypatch, room):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    monkeypatch.delitem(sys.modules, f"rhale.kernels.{room}", raising=False)
    assert load_loops.__wrapped__() is None
