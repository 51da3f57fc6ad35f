"""What stands in for numba gives a function's own answers, and lets unsigned numbers wrap."""

import numpy as np

from rhale.models.trees.compiled import leave_as_it_is


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
