from dataclasses import replace

import numpy as np
import pytest
from tests.pairs_by_hand import as_profile, grid, make_axis, make_interactions, make_pair

from rhale.errors import BadFileError, BadSettingError
from rhale.interaction import storage
from rhale.interaction.moments import PairAxis, measure_pair
from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.storage import (
    FilledCells,
    FilledStands,
    OtherOutput,
    fill_cells,
    list_filled_cells,
    list_other_output,
    restore_pairs,
    store_pairs,
)
from rhale.stats.arrays import same_fields

ROWS = grid(np.arange(6.0), np.arange(5.0), np.arange(2))
DIAGONAL = np.column_stack([np.arange(20.0), np.arange(20.0)])


def diagonal(**options):
    axes = (make_axis(DIAGONAL[:, 0]),) * 2
    f = lambda r: r[:, 0] * r[:, 1]
    return make_pair(f, DIAGONAL, (0, 1), axes, names=("a", "b"), **options)


@pytest.fixture(scope="module")
def pairs():
    """Two outputs, numbers and levels."""
    models = {"y": lambda r: r[:, 0] * r[:, 1], "z": lambda r: r[:, 2] * r[:, 0]}
    made = make_interactions(models, ROWS, ["a", "b", "c"], labels={"c": ("no", "yes")}, n_cells=2)
    return made.pairs


def test_cells_without_rows_are_left_out():
    pair = diagonal()
    cells = list_filled_cells(pair.moments)
    assert cells.stands.tolist() == [0, 5, 10, 15]
    assert cells.count.sum() == 20
    assert same_fields(fill_cells(cells, (4, 4)), pair.moments)


def test_weights_that_are_counts_are_left_out():
    assert list_filled_cells(diagonal().moments).weight is None
    weights = np.linspace(0.5, 2, 20)
    cells = list_filled_cells(diagonal(weights=weights).moments)
    np.testing.assert_allclose([cells.weight.sum(), cells.weight_squares.sum()],
                               [weights.sum(), (weights**2).sum()])  # fmt: skip


def test_outputs_share_their_rows(pairs):
    stored = store_pairs(pairs)
    kinds = [type(pair.moments) for pair in stored]
    assert kinds == [FilledCells, OtherOutput] * 3
    assert tuple(restore_pairs(stored)) == pairs
    restored = restore_pairs(stored)
    assert np.shares_memory(restored[0].moments.places, restored[1].moments.places)


def test_outputs_of_other_rows_share_nothing(pairs):
    first, second = pairs[:2]
    other = replace(second.moments, weight=2 * second.moments.weight)
    assert list_other_output(other, first.moments) is None
    both = (first, replace(second, moments=other))
    assert tuple(restore_pairs(store_pairs(both))) == both


def test_what_stands_in_other_cells_is_not_shared():
    """A mean where no row is: nothing makes it, and it comes back all the same."""
    pair = diagonal()
    mean = pair.moments.mean.copy()
    mean[0, 0, 3] = 7.0
    odd = replace(pair, output="z", moments=replace(pair.moments, mean=mean))
    assert list_other_output(odd.moments, pair.moments) is None
    assert tuple(restore_pairs(store_pairs((pair, odd)))) == (pair, odd)


def test_profiles_have_cells_with_rows_and_no_differences(pairs):
    profiles = [as_profile(diagonal()), *map(as_profile, pairs)]
    stored = store_pairs(profiles)
    assert {type(profile.moments) for profile in stored} == {FilledStands}
    assert stored[0].moments.stands.tolist() == [0, 5, 10, 15]
    assert restore_pairs(stored) == profiles


def test_numbers_without_a_surface_stay_as_they_are():
    index = PairIndex(("a", "b"), "y", "h", 0.5, 1.0)
    assert restore_pairs(store_pairs([index])) == [index]


def test_an_output_without_one_before_it_is_refused(pairs):
    first, second, third, *_ = store_pairs(pairs)
    for stored in ([second], [third, second]):
        with pytest.raises(BadFileError, match=r"pairs\[.\].moments are not those of the pair"):
            restore_pairs(stored)
    short = replace(second, moments=OtherOutput(np.zeros((1, 1)), np.zeros((1, 1))))
    with pytest.raises(BadFileError, match=r"pairs\[1\].moments has 1 rows for 4 cells"):
        restore_pairs([first, short])


def test_no_more_cells_are_stored_than_are_read_again(monkeypatch):
    axes = (PairAxis(np.linspace(0, 19, 130)),) * 2
    positions = tuple(axis.locate(x) for axis, x in zip(axes, DIAGONAL.T, strict=True))
    wide = replace(
        diagonal(), axes=axes, moments=measure_pair(axes, positions, np.zeros((1, 20, 1)))
    )
    with pytest.raises(BadSettingError, match="has 16641 cells, and a file holds up to 16384"):
        store_pairs([wide])
    monkeypatch.setattr(storage, "MAX_STORED_NUMBERS", 100)
    with pytest.raises(BadSettingError, match=r"have 208 numbers.* up to 100; save the results of"):
        store_pairs([diagonal()])
