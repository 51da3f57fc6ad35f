"""A process compiles when it has measured so much that compiling pays."""

import sys

import pytest

from rhale.kernels import when_compiled
from rhale.kernels.when_compiled import Measured, load_loop, loop_after


@pytest.fixture
def _fresh(monkeypatch):
    monkeypatch.setattr(when_compiled, "SO_FAR", Measured())
    monkeypatch.setattr(when_compiled, "load_loop", lambda: "the loop")


@pytest.mark.usefixtures("_fresh")
def test_the_loop_is_given_after_so_many_numbers_and_from_then_on(monkeypatch):
    monkeypatch.setattr(when_compiled, "PAYS_FROM", 10)
    assert [loop_after(4) for _ in range(5)] == [None, None, None, "the loop", "the loop"]


@pytest.mark.usefixtures("_fresh")
def test_a_small_table_loads_nothing(monkeypatch):
    monkeypatch.setattr(when_compiled, "load_loop", pytest.fail)
    assert loop_after(10_000_000) is None


@pytest.mark.parametrize("reason", [ImportError, RuntimeError])
def test_where_nothing_can_be_compiled_there_is_no_loop(monkeypatch, reason):
    class Refuses:
        def find_spec(self, name, *_):
            if name == "rhale.kernels.moments_loop":
                raise reason

    monkeypatch.delitem(sys.modules, "rhale.kernels.moments_loop", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refuses(), *sys.meta_path])
    assert load_loop.__wrapped__() is None


def test_where_the_compiler_is_switched_off_there_is_no_loop(monkeypatch):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    monkeypatch.delitem(sys.modules, "rhale.kernels.moments_loop", raising=False)
    assert load_loop.__wrapped__() is None
