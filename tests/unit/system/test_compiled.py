"""What stands in for numba gives a function's own answers, and lets unsigned numbers wrap."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import pytest

from rhale.system.compiled import (
    can_compile,
    compile_for,
    leave_as_it_is,
    njit,
    will_compile,
    writable,
)


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch, tmp_path):
    """What these functions are compiled to is nobody else's."""
    try:
        import numba
    except ImportError:
        yield
        return
    from rhale.system.shared_cache import find_folder

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "compiled"))
    find_folder.cache_clear()
    yield
    find_folder.cache_clear()


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
    (tmp_path / "test_compiled.twice-1.py27.nbi").touch()  # of another Python
    assert will_compile(elsewhere)
    (tmp_path / "test_compiled.twice-1.py{}{}.nbi".format(*sys.version_info)).touch()
    assert not will_compile(elsewhere)


def test_a_function_for_certain_types_is_compiled_when_it_is_loaded_and_never_again():
    numba = pytest.importorskip("numba")
    numbers = numba.types.Array(numba.types.float64, 1, "A", readonly=True)

    @compile_for(numbers)
    def first(numbers):
        return numbers[0]

    assert not first.made.signatures
    loaded = first.load()
    assert first.is_kept
    even = np.arange(6.0)[::2]
    even.flags.writeable = False
    assert loaded(even + 5) == 5
    assert loaded(even) == 0
    assert len(loaded.signatures) == 1
    with pytest.raises(TypeError, match="No matching definition"):
        loaded(np.ones(3, dtype=np.float32))


def test_threads_that_load_a_function_together_compile_it_once():
    numba = pytest.importorskip("numba")

    @compile_for(numba.types.float64)
    def half(number):
        return number / 2

    waiting = Barrier(4)

    def load(_):
        waiting.wait()
        return half.load()(3.0)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(load, range(4))) == [1.5] * 4
    assert len(half.made.signatures) == 1


def test_nothing_can_be_compiled_without_numba_or_where_it_is_switched_off(monkeypatch):
    numba = pytest.importorskip("numba")
    assert can_compile() is not numba.config.DISABLE_JIT
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert not can_compile()
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not can_compile()


def test_a_numba_with_other_names_inside_keeps_code_where_it_likes(monkeypatch):
    caching = pytest.importorskip("numba.core.caching")
    monkeypatch.delitem(sys.modules, "rhale.system.shared_cache", raising=False)
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
