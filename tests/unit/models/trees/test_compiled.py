"""What stands in for numba gives a function's own answers, and lets unsigned numbers wrap."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from rhale.models.trees.compiled import leave_as_it_is, njit, will_compile, writable


def test_unsigned_numbers_wrap_around_without_a_warning():
    @leave_as_it_is(cache=True, nogil=True)
    def below(number):
        return number - np.uint64(1)

    assert below(np.uint64(0)) == 2**64 - 1


def test_it_seems_compiled_so_that_nobody_is_told_to_wait():
    @leave_as_it_is(cache=True)
    def same(number):
        return number

    assert same.signatures


def test_an_inlined_function_is_left_alone():
    def same(number):
        return number

    assert leave_as_it_is(inline="always")(same) is same


def test_a_function_is_compiled_if_no_cache_has_it(tmp_path):
    pytest.importorskip("numba")

    @njit(cache=True)
    def twice(number):
        return 2 * number

    assert twice(4) == 8
    assert not will_compile(twice)
    stats = SimpleNamespace(cache_path=tmp_path)
    elsewhere = SimpleNamespace(
        signatures=[], stats=stats, py_func=twice.py_func, __name__=twice.__name__
    )
    assert will_compile(elsewhere)
    (tmp_path / "test_compiled.twice-1.py311.nbi").touch()
    assert not will_compile(elsewhere)


def test_a_numba_with_other_names_inside_keeps_code_where_it_likes(monkeypatch):
    caching = pytest.importorskip("numba.core.caching")
    monkeypatch.delitem(sys.modules, "rhale.models.trees.shared_cache", raising=False)
    monkeypatch.delattr(caching, "_CacheLocator")

    @njit(cache=True)
    def thrice(number):
        return 3 * number

    assert type(thrice._cache) is caching.FunctionCache


def test_rows_are_copied_only_where_numba_would_compile_anew():
    rows = np.arange(6.0).reshape(3, 2)
    assert writable(rows) is rows
    read_only = rows.view()
    read_only.flags.writeable = False
    for other in (read_only, rows.T, rows[:, :1], rows.astype(np.float32)):
        found = writable(other)
        assert found.flags.c_contiguous
        assert found.flags.writeable
        assert found.dtype == np.float64
        assert found.tolist() == other.tolist()
