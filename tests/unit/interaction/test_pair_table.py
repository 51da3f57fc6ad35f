import numpy as np
import pytest
from tests.pairs_by_hand import grid, make_interactions

from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.table import cell_rows, tabulate_pairs

ROWS = grid(np.arange(6.0), np.arange(5.0), np.arange(2))


@pytest.fixture(scope="module")
def pairs():
    models = {"y": lambda r: r[:, 0] * r[:, 1], "z": lambda r: r[:, 2] * r[:, 0]}
    made = make_interactions(models, ROWS, ["a", "b", "c"], labels={"c": ("no", "yes")}, n_cells=2)
    return made.pairs


def test_one_row_for_each_pair_and_output(pairs):
    rows = tabulate_pairs(pairs)
    assert {len(column) for column in rows.values()} == {6}
    assert list(zip(rows["first"], rows["second"], rows["output"], strict=True))[:3] == [
        ("a", "b", "y"), ("a", "b", "z"), ("a", "c", "y"),
    ]  # fmt: skip
    expected = np.arange(6).std() * np.arange(5).std()
    np.testing.assert_allclose(rows["strength"][0], expected)
    np.testing.assert_allclose(rows["share"][0], expected**2 / (ROWS[:, 0] * ROWS[:, 1]).var())
    assert rows["cells"] == [4] * 6
    assert rows["strength"][1] == rows["strength"][2] == 0.0
    assert rows["method"] == ["ale"] * 6
    assert np.isnan(rows["h2"]).all()


def test_errors_are_left_open_where_nobody_asks(pairs):
    assert np.isfinite(tabulate_pairs(pairs)["strength_error"]).all()
    for name in ("strength_error", "p_value"):
        assert np.isnan(tabulate_pairs(pairs, errors=False)[name]).all()


def test_values_are_plain(pairs):
    for name, column in {**tabulate_pairs(pairs), **cell_rows(pairs)}.items():
        assert {type(value) for value in column} <= {str, int, float, bool}, name


def test_one_row_for_each_cell(pairs):
    rows = cell_rows(pairs)
    assert {len(column) for column in rows.values()} == {24}
    assert rows["first"][:5] == ["a"] * 5
    assert rows["second"][8:12] == ["c"] * 4
    assert rows["second_from"][8:12] == ["no", "yes"] * 2
    assert rows["output"][:5] == ["y"] * 4 + ["z"]


def test_an_index_has_no_cells():
    index = PairIndex(("a", "b"), "y", "h", 0.5, 1.0, h2=0.2, n_left_out=4)
    keys = ["first", "second", "output"]
    assert cell_rows([index]) == {name: [] for key in keys for name in (key, f"{key}_label")}
    rows = tabulate_pairs([index])
    assert (rows["h2"], rows["left_out"], rows["cells"]) == ([0.2], [4], [0])
