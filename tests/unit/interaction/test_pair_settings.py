import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.interaction.settings import PairSettings, read_pairs


def test_pairs_are_named_counted_or_all():
    assert read_pairs(None) is None
    assert read_pairs("all") == "all"
    assert read_pairs(7) == 7
    assert read_pairs([("a", "b"), ["c", 0]]) == (("a", "b"), ("c", 0))


@pytest.mark.parametrize(
    "asked", ["most", 0, True, [], ("a", "b"), [("a",)], [("a", "b", "c")], 2.5]
)
def test_anything_else_is_refused(asked):
    with pytest.raises(BadSettingError, match="pairs="):
        read_pairs(asked)


def test_a_feature_makes_no_pair_with_itself():
    with pytest.raises(BadSettingError, match="'age' with itself"):
        read_pairs([("age", "age")])


@pytest.mark.parametrize(
    ("n_rows", "n_cells"), [(10, 5), (125, 5), (1_000, 14), (2_000, 20), (1e6, 20)]
)
def test_a_cell_of_a_pair_has_five_rows_on_average(n_rows, n_cells):
    assert PairSettings().n_cells(n_rows) == n_cells


def test_a_number_of_cells_is_taken_as_it_is():
    assert PairSettings(cells=40).n_cells(100) == 40
    assert PairSettings(cells=40).bins is None


def test_two_partitions_belong_to_the_two_features_of_one_pair():
    first, second = rhale.Edges([0, 1, 2]), rhale.Quantile(7)
    assert PairSettings([("a", "b")], cells=(first, second)).bins == {"a": first, "b": second}
    with pytest.raises(BadSettingError, match="name that pair"):
        PairSettings("all", cells=(first, second))
    with pytest.raises(BadSettingError, match="3 partitions"):
        PairSettings([("a", "b")], cells=(first, second, first))


def test_a_mapping_gives_cells_to_some_features():
    assert PairSettings(cells={"a": 7}).bins == {"a": rhale.Quantile(7)}


@pytest.mark.parametrize(
    "cells",
    [1, 0, 129, True, 2.5, "20", rhale.Adaptive(), rhale.Fixed(129), rhale.Edges(range(131))],
)
def test_cells_are_fixed_before_effects_are_known(cells):
    with pytest.raises(BadSettingError, match="cells="):
        PairSettings(cells=cells)


@pytest.mark.parametrize(
    ("name", "value"), [("method", "shap"), ("reading", "centres"), ("smooth", 1)]
)
def test_unknown_words_are_refused(name, value):
    with pytest.raises(BadSettingError, match=name):
        PairSettings(**{name: value})


@pytest.mark.parametrize("setting", [{"cells": 5}, {"reading": "cells"}, {"smooth": True}])
def test_what_is_about_surfaces_is_refused_where_there_are_none(setting):
    with pytest.raises(BadSettingError, match="about surfaces"):
        PairSettings(method="h", **setting)


@pytest.mark.parametrize("cells", [65, 10**6, rhale.Fixed(65), {"a": rhale.Quantile(65)}])
def test_more_cells_than_memory_holds_are_refused(cells):
    with pytest.raises(BadSettingError, match="64"):
        PairSettings(cells=cells)
    assert PairSettings(cells=64).n_cells(100) == 64
