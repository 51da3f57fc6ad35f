import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.pairs_by_hand import grid, make_interactions

from rhale.errors import BadSettingError, UnknownFeatureError, UnknownOutputError
from rhale.interaction.pair_effect import PairEffect, PairIndex
from rhale.interaction.result import Interactions

pd = pytest.importorskip("pandas")
A, B, C = np.arange(6.0), np.arange(5.0), np.arange(3.0)
ROWS = grid(A, B, C)
NAMES = ["age", "income", "region"]
REGIONS = {"region": ("north", "middle", "south")}


def product(rows):
    return rows[:, 0] * rows[:, 1] + 3 * rows[:, 0] * rows[:, 2]


@pytest.fixture(scope="module")
def ix():
    return make_interactions({"y": product}, ROWS, NAMES, labels=REGIONS, n_cells=2)


@pytest.fixture(scope="module")
def two():
    models = {"low": lambda r: -product(r), "high": lambda r: r[:, 1] * r[:, 2]}
    return make_interactions(models, ROWS, NAMES, labels=REGIONS, n_cells=2)


@pytest.fixture
def some(ix):
    """The first pair was not asked for."""
    return replace(ix, pairs=ix.pairs[1:])


def test_a_pair_is_found_in_either_order(ix):
    assert ix["age", "income"] == ix.pairs[0]
    assert ix["income", "age"] == ix.pairs[0].transposed()
    assert ix[0, -1] == ix["age", "region"]
    assert ix["age", "income", "y"] == ix["age", "income", 0] == ix.pairs[0]


def test_one_of_several_outputs_is_named(two):
    assert two["region", "income", "high"].output == "high"
    with pytest.raises(UnknownOutputError, match=r"name one: ix\['age', 'income', 'low'\]; Known"):
        two["age", "income"]
    with pytest.raises(UnknownOutputError, match="no output 'hig'; did you mean 'high'"):
        two["age", "income", "hig"]


@pytest.mark.parametrize("key", ["age", ("age",), ("age", "income", "y", "z"), 3, None])
def test_a_key_that_names_no_pair_is_refused(ix, key):
    with pytest.raises(BadSettingError, match="names no pair; name two features"):
        ix[key]
    assert key not in ix


def test_a_feature_with_itself_is_no_pair(ix):
    with pytest.raises(BadSettingError, match="'age' twice is no pair"):
        ix["age", "age"]
    assert ("age", "age") not in ix


def test_unknown_features_bring_near_names(ix):
    with pytest.raises(UnknownFeatureError, match="no feature 'agee'; did you mean 'age'"):
        ix["agee", "income"]


def test_a_pair_that_was_not_measured_says_how_to_ask(some):
    with pytest.raises(UnknownFeatureError, match=r"pairs=\[\('age', 'income'\)\]") as error:
        some["age", "income"]
    assert "'age \u00d7 region'" in str(error.value)


def test_pairs_are_in_it_or_not(some, two):
    assert ("age", "region") in some
    assert ("region", "age", "y") in some
    assert ("age", "income") not in some
    assert ("age", "nobody") not in some
    assert ("age", "region", "z") not in some
    assert ("age", "region") in two


def test_it_has_a_length_and_is_iterated_over(two):
    assert len(two) == 6
    assert [pair.output for pair in two.values()] == ["low", "high"] * 3
    assert all(isinstance(pair, PairEffect) for pair in two.values())


def test_pairs_are_ranked_by_strength(ix, two):
    strengths = [pair.strength for pair in ix.ranked()]
    assert strengths == sorted(strengths, reverse=True)
    assert ix.ranked()[0].names == ("age", "region")
    assert {pair.output for pair in two.ranked("high")} == {"high"}
    assert len(two.ranked()) == 6


def test_pairs_of_unknown_strength_come_last(ix):
    strengths = [0.0, np.nan, 2.0]
    pairs = tuple(
        PairIndex(p.names, "y", "h", s, 1.0) for p, s in zip(ix.values(), strengths, strict=True)
    )
    found = [pair.strength for pair in replace(ix, pairs=pairs).ranked()]
    np.testing.assert_array_equal(found, [2.0, 0.0, np.nan])


def test_they_are_sent_to_other_processes(ix):
    str(ix)
    assert pickle.loads(pickle.dumps(ix)) == ix  # noqa: S301 - our own


def test_the_matrix_has_strengths_and_importance(ix):
    """Of independent features: products of deviations beside the diagonal."""
    found = ix.matrix()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found[0, 1], A.std() * B.std())
    np.testing.assert_allclose(found[0, 2], 3 * A.std() * C.std())
    assert found[1, 2] < 1e-12
    np.testing.assert_array_equal(np.diag(found), ix.importance[:, 0])


def test_the_matrix_of_another_output(two, some):
    np.testing.assert_allclose(two.matrix("high")[1, 2], B.std() * C.std())
    assert np.isnan(some.matrix()[0, 1])


def test_importance_and_strengths_add_up_to_the_variance(ix):
    """Independent features, no three of them together."""
    total = (ix.importance**2).sum() / ix.variance[0] + ix.explained
    np.testing.assert_allclose(total, 1.0)
    alone = f"of the effects of single features {100 - 100 * ix.explained:.0f} %"
    assert f"these joint effects sum to {100 * ix.explained:.0f} %, {alone};" in str(ix)


def test_what_is_explained_is_told_by_output(two):
    assert two.explained.keys() == {"low", "high"}
    np.testing.assert_allclose(two.explained["high"], (B.std() * C.std()) ** 2 / two.variance[1])


def test_print_shows_the_ranked_table(ix, two):
    lines = str(ix).splitlines()
    how = "from four predictions a row and pair"
    assert lines[0] == f"interactions by ale of a function, 90 rows; {how}; on y"
    assert lines[1].split() == [
        *("pair", "strength", "±", "error", "share", "of", "prediction", "variance"),
    ]
    assert lines[2].startswith("age \u00d7 region ")
    assert repr(ix) == str(ix)
    assert "output" in str(two).splitlines()[1]


def test_print_finds_errors_for_those_shown_alone(ix, monkeypatch):
    from rhale.interaction import pair_effect

    asked, real = [], pair_effect.PairFit

    class Counted(real):
        @property
        def p_value(self):
            asked.append(self)
            return super().p_value

    monkeypatch.setattr(pair_effect, "PairFit", Counted)
    many = tuple(
        replace(ix.pairs[0], names=(f"a{i}", f"b{i}"), square=ix.pairs[0].square) for i in range(50)
    )
    assert "and 30 weaker ones" in str(replace(ix, pairs=many))
    assert len(asked) == 20


def test_a_frame_of_pairs(ix):
    frame = ix.to_frame()
    assert frame["strength"].is_monotonic_decreasing
    assert (frame["first"][0], frame["second"][0]) == ("age", "region")
    assert np.isfinite(frame["strength_error"]).all()
    assert np.isnan(ix.to_frame(errors=False)["p_value"]).all()


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_a_frame_of_another_kind(ix, backend):
    pytest.importorskip(backend)
    assert type(ix.to_frame(backend)).__module__.startswith(backend)


def test_a_frame_of_cells(ix):
    frame = ix.cells_to_frame()
    assert len(frame) == sum(pair.n_cells for pair in ix.values())
    assert frame.groupby(["first", "second"])["count"].sum().tolist() == [90] * 3


def test_numbers_without_a_surface_have_no_cells(ix):
    index = replace(ix, pairs=(PairIndex(("age", "income"), "y", "h", 0.5, 1.0),))
    assert index.method == "h"
    assert len(index.to_frame()) == 1
    assert "together" not in str(index)
    with pytest.raises(BadSettingError, match="'h' gives a number for each pair and no cells"):
        index.cells_to_frame()


def test_they_are_compared_by_value_and_cannot_be_changed(ix, some):
    assert ix == replace(ix)
    assert ix != some
    assert ix != replace(ix, notes=("a note",))
    assert ix != "pairs"
    with pytest.raises(ValueError, match="read-only"):
        ix.importance[0, 0] = 1.0
    assert isinstance(ix, Interactions)


def test_all_pairs_are_drawn_as_a_matrix_and_a_ranking(ix, two):
    matrix, ranking = ix.plot(top=2)
    assert len(ranking.get_yticks()) == 2
    assert ix.plot(ax=matrix) is matrix
    assert two.plot(output="high")[1].get_xlabel().startswith("effect on high")


def test_one_pair_is_drawn_by_itself(ix, two):
    assert ix.plot(("age", "income")).get_xlabel() == "age"
    assert ix.plot(("income", "age")).get_xlabel() == "income"
    assert ix.plot((0, "region"), kind="lines", by="age").get_xlabel() == "region"
    ax = two.plot(("age", "income"), output="high", kind="lines")
    assert ax.get_ylabel().startswith("effect on high")


def test_what_cannot_be_drawn_is_refused(ix, two):
    with pytest.raises(BadSettingError, match=r"kind='lines' draws one pair; name it: ix.plot\("):
        ix.plot(kind="lines")
    with pytest.raises(UnknownOutputError, match="name one"):
        two.plot(("age", "income"))
    with pytest.raises(
        BadSettingError, match="plot_interactions has no option 'tpo'; did you mean"
    ):
        ix.plot(tpo=3)
