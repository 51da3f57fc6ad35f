import pytest

import rhale
from rhale.effects.binning import choose
from rhale.effects.binning.choose import PARTITIONS
from rhale.effects.binning.partition import Partition


def test_the_package_offers_every_partition_of_the_list():
    made = {type(entry.make([1.0, 2.0])).__name__ for entry in PARTITIONS.values()}
    assert made == set(choose.__all__)
    assert made <= set(rhale.__all__)


@pytest.mark.parametrize("name", PARTITIONS)
def test_a_name_is_that_of_the_class_it_makes(name):
    made = PARTITIONS[name].make([1.0, 2.0])
    assert isinstance(made, Partition)
    assert type(made).__name__.lower() == name
    assert PARTITIONS[name].call.startswith(type(made).__name__)


def test_the_first_number_is_that_of_the_bins():
    assert PARTITIONS["optimal"].make([50.0]) == rhale.Optimal(max_bins=50)
    assert PARTITIONS["fixed"].make([7.0]) == rhale.Fixed(7)
    assert PARTITIONS["quantile"].make([]) == rhale.Quantile()
