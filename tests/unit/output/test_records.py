from dataclasses import dataclass

import numpy as np
import pytest

from rhale.stats.arrays import CROSSING, crosses_processes, freeze, same_fields


@dataclass(frozen=True, eq=False)
class Pair:
    a: object
    b: object = None


def test_the_arrays_of_a_record_are_read_only_and_those_of_the_caller_are_not():
    own = np.zeros(2)
    pair = Pair(own)
    freeze(pair)
    assert not pair.a.flags.writeable
    assert own.flags.writeable


def test_records_are_compared_by_value_and_nan_is_equal_to_nan():
    one, same = (Pair(np.array([1.0, np.nan]), (float("nan"), "x")) for _ in range(2))
    assert same_fields(one, same)
    assert not same_fields(one, Pair(np.array([1.0, 2.0]), one.b))


def test_a_name_stands_for_one_record(monkeypatch):
    monkeypatch.setattr("rhale.stats.arrays.CROSSING", dict(CROSSING))
    with pytest.raises(
        TypeError, match=r"Grid crosses processes by its name; rhale\.effects\.binning\.cells"
    ):
        crosses_processes(type("Grid", (), {}))
    assert crosses_processes(Pair) is Pair
