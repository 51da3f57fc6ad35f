from datetime import date, timedelta

import numpy as np
import pytest

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.optimal import Optimal
from rhale.effects.binning.partition import Edges, Fixed, Quantile
from rhale.errors import BadSettingError


def axis(values, weight=None, low=None, high=None):
    values = np.asarray(values, dtype=float)
    weight = np.ones(values.size) if weight is None else np.asarray(weight, dtype=float)
    low = values.min() if low is None else low
    high = values.max() if high is None else high
    return FeatureAxis(low, high, values, weight, weight.sum() ** 2 / (weight**2).sum())


def cells(x, d, edges, weights=None):
    return measure_moments(
        Grid(np.asarray(edges, dtype=float)), np.asarray(x), np.asarray(d), weights
    )


@pytest.mark.parametrize("make", [Fixed, Quantile])
@pytest.mark.parametrize("n_bins", [0, -3, 1.5, "many", None, True])
def test_a_number_of_bins_must_be_a_positive_whole_number(make, n_bins):
    with pytest.raises(BadSettingError, match="positive whole number"):
        make(n_bins)


def test_fixed_and_optimal_offer_equal_cells():
    for partition in (Fixed(4), Optimal(4)):
        assert partition.candidates(axis([1.0, 2.0, 5.0])).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_quantile_limits_are_data_values_at_equal_counts():
    assert Quantile(4).candidates(axis(np.arange(1, 9))).tolist() == [1.0, 2.0, 4.0, 6.0, 8.0]


def test_repeated_values_give_fewer_quantile_bins():
    values = axis([0.0, 1.0, 2.0], weight=[97, 2, 1])
    assert Quantile(20).candidates(values).tolist() == [0.0, 2.0]
    mostly_one = axis([0.0, 1.0, 2.0], weight=[1, 98, 1])
    assert Quantile(20).candidates(mostly_one).tolist() == [0.0, 1.0, 2.0]


def test_quantile_limits_stay_inside_given_limits():
    narrow = axis(np.arange(11), low=2.5, high=7.5)
    found = Quantile(5).candidates(narrow)
    assert (found[0], found[-1]) == (2.5, 7.5)
    assert np.all(np.diff(found) > 0)


def test_edges_are_offered_as_given():
    edges = Edges(np.array([0, 1, 5]), closed="right")
    assert edges.candidates(axis([3.0, 4.0])).tolist() == [0.0, 1.0, 5.0]
    assert edges.closed == "right"
    assert edges == Edges([0.0, 1.0, 5.0], "right") != Edges([0.0, 1.0, 5.0])


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [1.0],
        [1.0, 0.0],
        [0.0, 2.0, 1.0],
        [0.0, 0.0, 1.0],
        [0.0, float("nan"), 1.0],
        [float("-inf"), 0.0, float("inf")],
    ],
)
def test_edges_that_do_not_increase_are_refused(edges):
    with pytest.raises(BadSettingError, match="increasing"):
        Edges(edges)


@pytest.mark.parametrize("partition", [Fixed(3), Quantile(3), Edges([0, 1, 2, 3])])
def test_given_bins_make_every_cell_a_bin(partition):
    cuts = partition(cells([0.5, 1.5, 2.5], [1.0, 2.0, 3.0], [0, 1, 2, 3]))
    assert cuts.limits.tolist() == [0, 1, 2, 3]
    assert not cuts.linear.any()
    assert cuts.notes == ()


def test_edges_say_which_bins_are_linear():
    moments = cells([0.5, 1.5, 2.5], [1.0, 2.0, 3.0], [0, 1, 2, 3])
    for linear, expected in (
        (True, [True] * 3),
        (False, [False] * 3),
        ([True, False, True], [True, False, True]),
        (np.array([False, False, True]), [False, False, True]),
    ):
        edges = Edges([0, 1, 2, 3], linear=linear)
        assert edges(moments).linear.tolist() == expected
        assert hash(edges) == hash(Edges((0.0, 1.0, 2.0, 3.0), linear=linear))
    assert Edges([0, 1], linear=True) != Edges([0, 1])


def test_limits_that_moved_or_fell_together_keep_their_kind():
    """Cells [0, 1), [1, 3]: the bins [0, 0.9), [0.9, 1.1), [1.1, 3] lost the one in the middle."""
    moments = cells([0.5, 1.5, 2.5], [1.0, 2.0, 3.0], [0, 1, 3])
    cuts = Edges([0, 0.9, 1.1, 3], linear=[True, False, True])(moments)
    assert cuts.limits.tolist() == [0, 1, 2]
    assert cuts.linear.tolist() == [True, True]


@pytest.mark.parametrize("linear", [[True], [True, False, True], [[True, False]]])
def test_a_kind_for_each_bin_is_asked_for(linear):
    with pytest.raises(BadSettingError, match="for 2 bins; pass one for each, or one bool"):
        Edges([0, 1, 2], linear=linear)


@pytest.mark.parametrize(
    "limits",
    [
        ["1970-01-02", "1970-01-03"],
        np.array(["1970-01-02", "1970-01-03"], dtype="datetime64[ns]"),
        [date(1970, 1, 2), date(1970, 1, 3)],
    ],
    ids=["text", "numpy", "dates"],
)
def test_limits_can_be_dates(limits):
    assert Edges(limits).edges == (1.0, 2.0)


def test_limits_can_be_durations_but_not_words():
    assert Edges([timedelta(seconds=1), timedelta(minutes=1)]).edges == (1.0, 60.0)
    with pytest.raises(BadSettingError, match="'low'"):
        Edges(["low", "high"])


def test_numbers_of_numpy_are_numbers_too():
    assert Fixed(np.int64(3)).candidates(axis([0.0, 3.0])).tolist() == [0.0, 1.0, 2.0, 3.0]
