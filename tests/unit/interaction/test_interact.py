"""interactions(): the whole way, on functions whose pairs are known."""

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import (
    BadEffectsError,
    BadPredictionError,
    BadSettingError,
    ModelFailedError,
    UnknownFeatureError,
)
from rhale.interaction.pair_effect import can_be_ranked


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(2_000, 4))


def product(z):
    return z[:, 0] * z[:, 1] + z[:, 2] + 0.5 * z[:, 3] ** 2


def counting(model):
    asked = []

    def predict(z):
        asked.append(len(z))
        return model(z)

    return predict, asked


def test_the_strength_of_a_product_is_its_deviation(rows):
    ix = rhale.interactions(product, rows)
    pair = ix["x0", "x1"]
    assert pair.strength == pytest.approx((rows[:, 0] * rows[:, 1]).std(), rel=0.03)
    assert pair.p_value < 1e-6
    others = [p for p in ix.values() if p.names != ("x0", "x1")]
    assert {p.strength for p in others} == {0.0}
    assert {p.p_value for p in others} == {1.0}
    assert {p.strength_error for p in others} == {0.0}


def test_the_surface_is_the_product_of_centred_features(rows):
    pair = rhale.interactions(product, rows, pairs=[("x0", "x1")])["x0", "x1"]
    x, y = np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.5], indexing="ij")
    centred = (x - rows[:, 0].mean()) * (y - rows[:, 1].mean())
    assert pair.surface(x, y) == pytest.approx(centred, abs=0.12)


def test_either_order_names_the_same_pair(rows):
    ix = rhale.interactions(product, rows, pairs=[("x1", "x0")])
    assert ix.pairs[0].names == ("x0", "x1")
    assert ix["x1", "x0"].strength == ix["x0", "x1"].strength
    turned = ix["x1", "x0"].heights.T
    assert turned == pytest.approx(ix["x0", "x1"].heights, nan_ok=True)


def test_a_black_box_is_asked_four_times_a_row_and_pair(rows):
    model, asked = counting(product)
    ix = rhale.interactions(model, rows[:500], pairs=[("x0", "x1"), ("x2", "x3")])
    first_questions = 32 + 16
    assert sum(asked) == 4 * 2 * 500 + 500 + first_questions == ix.provenance["rows_asked"]


def test_pairs_of_a_black_box_are_those_that_the_spread_points_to():
    x = np.random.default_rng(1).normal(size=(1_000, 8))
    ix = rhale.interactions(lambda z: z[:, 2] * z[:, 5] + z[:, 0], x)
    assert len(ix) == 10
    assert ix.ranked()[0].names == ("x2", "x5")
    assert "10 of 28 pairs" in ix.notes[0]
    assert len(rhale.interactions(lambda z: z[:, 2] * z[:, 5], x, pairs=3)) == 3


def test_where_all_pairs_have_one_price_the_strongest_are_told(rows):
    def slopes(z):
        return np.stack([z[:, 1], z[:, 0] + 0.3 * z[:, 2], 1 + 0.3 * z[:, 1], z[:, 3]], axis=1)

    def model(z):
        return product(z) + 0.3 * z[:, 1] * z[:, 2]

    ix = rhale.interactions(model, rows, gradient=slopes, pairs=2)
    assert [p.names for p in ix.ranked()] == [("x0", "x1"), ("x1", "x2")]
    assert ix.features == ("x0", "x1", "x2")
    assert ix.importance.shape == (3, 1)
    assert ix.notes[-1] == "the strongest 2 of 6 measured pairs are kept"


def test_pairs_are_chosen_by_effects_that_are_already_there():
    wide = np.random.default_rng(1).normal(size=(500, 6))
    model, asked = counting(lambda z: z[:, 2] * z[:, 5])
    fx = rhale.explain(model, wide)
    asked.clear()
    ix = rhale.interactions(model, wide, pairs=2, explanation=fx)
    assert ix.ranked()[0].names == ("x2", "x5")
    assert sum(asked) == 2 * 4 * 500 + 500 + 48
    with pytest.raises(BadSettingError, match="no effect of 'x2'"):
        rhale.interactions(
            model, wide, pairs=2, explanation=rhale.explain(model, wide, features=[0, 1])
        )
    with pytest.raises(BadSettingError, match="not an Explanation"):
        rhale.interactions(model, wide, pairs=2, explanation="fx")


def test_two_gradients_a_feature_give_the_same_pairs(rows):
    def slopes(z):
        return np.stack([z[:, 1], z[:, 0], np.ones(len(z)), z[:, 3]], axis=1)

    by_slopes = rhale.interactions(product, rows, gradient=slopes)
    by_corners = rhale.interactions(product, rows, pairs="all")
    assert by_slopes.provenance["ways"] == {"gradient": 6}
    for a, b in zip(by_slopes.values(), by_corners.values(), strict=True):
        assert a.strength == pytest.approx(b.strength)
        assert a.heights == pytest.approx(b.heights, abs=1e-9, nan_ok=True)
    assert by_slopes.importance == pytest.approx(by_corners.importance)


def test_more_than_500_pairs_are_those_of_the_features_that_differ_most():
    x = np.random.default_rng(2).normal(size=(120, 34))

    def slopes(z):
        found = np.zeros_like(z)
        found[:, 7], found[:, 30] = z[:, 30], z[:, 7]
        return found

    ix = rhale.interactions(lambda z: z[:, 7] * z[:, 30], x, gradient=slopes)
    assert len(ix.features) == 30
    assert len(ix) == 435
    assert ix.ranked()[0].names == ("x7", "x30")
    assert any("30 of 34 features" in note for note in ix.notes)


def test_levels_missing_values_dates_and_weights():
    rng = np.random.default_rng(3)
    n = 1_500
    table = pd.DataFrame(
        {
            "income": rng.normal(size=n),
            "region": rng.choice(["north", "south", "west"], n),
            "owner": rng.integers(0, 2, n).astype(bool),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), "D"),
        }
    )
    table.loc[::5, "income"] = np.nan

    def model(t):
        south = (t["region"] == "south").to_numpy()
        days = (t["since"] - pd.Timestamp("2020-01-01")).dt.days.to_numpy() / 1000
        return t["income"].fillna(0).to_numpy() * south + t["owner"].to_numpy() * days

    ix = rhale.interactions(model, table, weights=np.where(np.arange(n) % 2, 2.0, 1.0))
    assert [p.names for p in ix.ranked()[:2]] == [("income", "region"), ("owner", "since")]
    assert all(p.strength == 0 for p in ix.ranked()[2:])
    assert ix["income", "region"].n_left_out == 300
    dates = ix["owner", "since"].axes[1]
    assert dates.kind == "date"
    # two independent features, one of two levels: the surface is d (a - P_a)(b - mean b)
    pair, w = ix["owner", "since"], np.where(np.arange(n) % 2, 2.0, 1.0)
    owner, days = (
        table["owner"].to_numpy(float),
        (table["since"] - table["since"].min()).dt.days / 1000,
    )
    truth = (owner - np.average(owner, weights=w)) * (days - np.average(days, weights=w))
    assert pair.strength == pytest.approx(np.sqrt(np.average(truth**2, weights=w)), rel=0.03)


def test_several_outputs_are_all_measured(rows):
    def model(z):
        return np.stack([z[:, 0] * z[:, 1], z[:, 2] * z[:, 3]], axis=1)

    ix = rhale.interactions(model, rows)
    assert ix.outputs == ("y0", "y1")
    assert ix["x0", "x1", "y0"].strength > 0.9
    assert ix["x0", "x1", "y1"].strength == 0
    only = rhale.interactions(model, rows, output="y1")
    assert only["x2", "x3"].strength == ix["x2", "x3", "y1"].strength


def test_trees_that_classify_are_looked_at_on_the_margin(rows):
    from sklearn.ensemble import HistGradientBoostingClassifier

    additive = HistGradientBoostingClassifier(max_iter=20, max_depth=1)
    additive.fit(rows, rows[:, 0] + rows[:, 1] > 0)
    ix = rhale.interactions(additive, rows[:500])
    assert max(p.strength for p in ix.values()) == 0
    assert ix.notes[0].kind == "margin"
    bent = rhale.interactions(additive, rows[:500], response="predict_proba")
    assert bent["x0", "x1"].strength > 0.01
    assert "make all features interact" in bent.notes[0]


def test_predictions_that_do_not_move_give_nothing(rows):
    ix = rhale.interactions(lambda z: np.ones(len(z)), rows[:100])
    assert {p.strength for p in ix.values()} == {0.0}
    assert {p.share for p in ix.values()} == {0.0}
    assert any(note.kind == "constant" for note in ix.notes)


def test_few_rows_are_told(rows):
    ix = rhale.interactions(product, rows[:30])
    assert ix.pairs[0].axes[0].n_steps == 5
    assert any(note.kind == "few rows" for note in ix.notes)


def test_a_constant_column_is_no_error():
    x = np.random.default_rng(0).normal(size=(100, 3))
    x[:, 1] = 4.0
    ix = rhale.interactions(lambda z: z[:, 0] * z[:, 1] * z[:, 2], x)
    assert ix["x0", "x1"].strength == 0
    assert ix["x0", "x1"].notes[0].kind == "constant"
    assert ix["x0", "x2"].strength > 1


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"pairs": [("x0", "x0")]}, BadSettingError, "with itself"),
        ({"pairs": [("x0", "x9")]}, UnknownFeatureError, "x9"),
        ({"features": ["x0"]}, BadSettingError, "needs two features"),
        (
            {"features": ["x0", "x1"], "pairs": [("x0", "x2")]},
            BadSettingError,
            "leave features= out",
        ),
        ({"cells": {"z": 5}}, UnknownFeatureError, "z"),
        ({"seed": -1}, BadSettingError, "seed"),
    ],
)
def test_what_cannot_be_asked_is_refused(rows, settings, error, words):
    with pytest.raises(error, match=words):
        rhale.interactions(product, rows[:50], **settings)


def test_a_model_that_fails_at_a_corner_is_told_where(rows):
    lowest = rows[:50, 0].min()

    def model(z):
        if (z[:, 0] == lowest).sum() > 1:
            msg = "too low"
            raise ValueError(msg)
        return product(z)

    with pytest.raises(ModelFailedError, match="'x0' between"):
        rhale.interactions(model, rows[:50], pairs=[("x0", "x1")])
    with pytest.raises(BadPredictionError):
        rhale.interactions(
            lambda z: np.where((z == lowest).sum() > 1, np.nan, product(z)), rows[:50], pairs="all"
        )


def test_nothing_of_the_callers_changes(rows):
    before = rows.copy()
    rhale.interactions(product, rows[:100])
    assert np.array_equal(rows, before)


def test_independent_features_share_the_variance():
    x = np.random.default_rng(5).normal(size=(100_000, 3))
    ix = rhale.interactions(lambda z: z[:, 0] * z[:, 1] + 2 * z[:, 2] + z[:, 0] ** 2, x, cells=40)
    total = np.sum(ix.importance**2) + sum(p.strength**2 for p in ix.values())
    assert total == pytest.approx(ix.variance[0], rel=0.03)


def test_cells_beside_all_rows_are_refused(rows):
    with pytest.raises(BadSettingError, match=r"'x0' has no rows within \[100, 101\]"):
        rhale.interactions(product, rows, cells=rhale.Edges([100, 101]))


def test_a_wrong_gradient_is_refused_in_words_that_help_here(rows):
    def steep(z):
        return np.column_stack([5 * z[:, 1], z[:, 0], np.ones(len(z)), z[:, 3]])

    with pytest.raises(BadEffectsError, match="or leave it out: a function") as refused:
        rhale.interactions(product, rows, gradient=steep)
    assert "local=" not in str(refused.value)


def test_pairs_by_name_and_by_position_may_stand_together(rows):
    ix = rhale.interactions(product, rows, pairs=[("x0", "x1"), (1, 2), (0, 1)])
    assert [pair.names for pair in ix.values()] == [("x0", "x1"), ("x1", "x2")]
    with pytest.raises(BadSettingError, match="'x0' with itself"):
        rhale.interactions(product, rows, pairs=[("x0", 0)])


# --- features that go together -----------------------------------------------------------------


def copied(n_rows=600):
    """x1 follows x0; x2 and x3 are on their own."""
    x = np.random.default_rng(3).normal(size=(n_rows, 4))
    x[:, 1] = x[:, 0] + 0.3 * x[:, 1]
    return x


def ranked(ix):
    return {pair.names: can_be_ranked(pair) for pair in ix.values()}


def test_pairs_with_a_feature_that_has_a_copy_cannot_be_ranked_by_one_model():
    x = copied()
    ix = rhale.interactions(lambda z: z[:, 0] * z[:, 2] + z[:, 2] * z[:, 3], x, pairs="all")
    marked = {names for names, can in ranked(ix).items() if not can}
    assert marked == {("x0", "x2")}  # other pairs of x0 and x1 do nothing in this model
    assert "correlated features, with the correlation of their ranks: 'x0' and 'x1'" in str(ix)
    assert "cannot be ranked by this model" in str(ix["x2", "x0"])
    frame = ix.to_frame("pandas", errors=False).set_index(["first", "second"])
    assert not frame.loc[("x0", "x2"), "can_be_ranked"]
    assert frame["can_be_ranked"].sum() == 5
    assert frame.loc[("x0", "x1"), "rank_correlation"] == ix["x0", "x1"].rank_correlation > 0.9


def test_two_copies_that_act_together_cannot_be_ranked_either():
    ix = rhale.interactions(lambda z: z[:, 0] * z[:, 1], copied(), pairs=[("x0", "x1")])
    assert ranked(ix) == {("x0", "x1"): False}


def test_copies_are_known_where_their_own_pair_was_not_measured():
    x = copied()
    x = np.column_stack([x, np.random.default_rng(4).normal(size=(600, 2))])  # 15 pairs
    ix = rhale.interactions(lambda z: z[:, 1] * z[:, 5] + z[:, 3] * z[:, 4], x, pairs=2)
    assert ranked(ix) == {("x1", "x5"): False, ("x3", "x4"): True}


def test_features_on_their_own_are_ranked_and_h_says_nothing_of_copies(rows):
    assert all(ranked(rhale.interactions(product, rows[:300], pairs="all")).values())
    h = rhale.interactions(lambda z: z[:, 0] * z[:, 1], copied(200), method="h")
    assert all(ranked(h).values())
