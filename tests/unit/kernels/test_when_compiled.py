"""A process compiles when it has measured so much that compiling pays."""

import sys

import pytest

from rhale.kernels import when_compiled
from rhale.kernels.when_compiled import (
    STIRRED,
    Measured,
    load_loop,
    load_stir,
    loop_after,
    stir_after,
)

LOOPS = {"moments_loop": load_loop, "keys_loop": load_stir}


@pytest.fixture
def _fresh(monkeypatch):
    monkeypatch.setattr(when_compiled, "SO_FAR", Measured())
    monkeypatch.setattr(when_compiled, "load_loop", lambda: "the loop")
    monkeypatch.setattr(when_compiled, "load_stir", lambda: "stirs")


@pytest.mark.usefixtures("_fresh")
def test_the_loop_is_given_after_so_many_numbers_and_from_then_on(monkeypatch):
    monkeypatch.setattr(when_compiled, "PAYS_FROM", 10)
    assert [loop_after(4) for _ in range(5)] == [None, None, None, "the loop", "the loop"]


@pytest.mark.usefixtures("_fresh")
def test_keys_count_by_the_time_they_take_and_both_loops_come_together(monkeypatch):
    monkeypatch.setattr(when_compiled, "PAYS_FROM", 10)
    assert [stir_after(4 * STIRRED) for _ in range(4)] == [None, None, None, "stirs"]
    assert loop_after(1) == "the loop"


@pytest.mark.usefixtures("_fresh")
def test_a_small_table_loads_nothing(monkeypatch):
    monkeypatch.setattr(when_compiled, "load_loop", pytest.fail)
    monkeypatch.setattr(when_compiled, "load_stir", pytest.fail)
    assert loop_after(10_000_000) is None
    assert stir_after(10_000_000) is None


@pytest.mark.parametrize("room", LOOPS)
@pytest.mark.parametrize("reason", [ImportError, RuntimeError])
def test_where_nothing_can_be_compiled_there_is_no_loop(monkeypatch, reason, room):
    class Refuses:
        def find_spec(self, name, *_):
            if name == f"rhale.kernels.{room}":
                raise reason

    monkeypatch.delitem(sys.modules, f"rhale.kernels.{room}", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refuses(), *sys.meta_path])
    assert LOOPS[room].__wrapped__() is None


@pytest.mark.parametrize("room", LOOPS)
def test_where_the_compiler_is_switched_off_there_is_no_loop(monkeypatch, room):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    monkeypatch.delitem(sys.modules, f"rhale.kernels.{room}", raising=False)
    assert LOOPS[room].__wrapped__() is None
