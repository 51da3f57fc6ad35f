import numpy as np
import pytest

from rhale.effects.binning.optimal import Optimal
from rhale.effects.binning.partition import (
    Cuts,
    Edges,
    Fixed,
    Partition,
    Quantile,
    check_cuts,
    constant_cuts,
)
from rhale.errors import BadSettingError


@pytest.mark.parametrize("partition", [Optimal(), Fixed(), Quantile(), Edges([0, 1])])
def test_every_partition_is_one(partition):
    assert isinstance(partition, Partition)
    assert partition.closed == "left"


def test_constant_cuts_are_constant():
    cuts = constant_cuts(np.array([0, 2, 3]), ("a note",))
    assert cuts.linear.tolist() == [False, False]
    assert cuts.notes == ("a note",)


@pytest.mark.parametrize("limits", [[0, 4], [0, 1, 4], [0, 1, 2, 3, 4]])
def test_limits_from_the_first_cell_to_the_last_are_cuts(limits):
    cuts = constant_cuts(np.array(limits))
    assert check_cuts(cuts, 4, "Mine") is cuts


@pytest.mark.parametrize(
    "limits", [[], [0], [1, 4], [0, 3], [0, 5], [0, 2, 2, 4], [0, 3, 1, 4], [0.0, 4.0], [[0, 4]]]
)
def test_limits_that_do_not_go_through_all_cells_are_refused(limits):
    cuts = Cuts(np.array(limits), np.zeros(1, dtype=bool))
    with pytest.raises(
        BadSettingError, match=r"bins=Mine chose the limits .* from 0 to 4, the number"
    ):
        check_cuts(cuts, 4, "Mine")


def test_a_bin_without_its_kind_is_refused():
    cuts = Cuts(np.array([0, 1, 4]), np.zeros(1, dtype=bool))
    with pytest.raises(BadSettingError, match=r"chose 2 bins, but Cuts.linear has shape \(1,\)"):
        check_cuts(cuts, 4, "Mine")


def test_limits_alone_are_no_cuts():
    with pytest.raises(BadSettingError, match="bins=Mine gave array"):
        check_cuts(np.array([0, 4]), 4, "Mine")
