import numpy as np
import pytest

from rhale.kernels.fixed import Edges, Fixed, Quantile
from rhale.kernels.optimal import Optimal
from rhale.kernels.partition import Partition, constant_cuts


@pytest.mark.parametrize("partition", [Optimal(), Fixed(), Quantile(), Edges([0, 1])])
def test_every_partition_is_one(partition):
    assert isinstance(partition, Partition)
    assert partition.closed == "left"


def test_constant_cuts_are_constant():
    cuts = constant_cuts(np.array([0, 2, 3]), ("a note",))
    assert cuts.linear.tolist() == [False, False]
    assert cuts.notes == ("a note",)
