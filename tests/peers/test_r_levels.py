"""Levels, missing values and weights as in ALEPlot, iml, effectplots and ale."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.peers.r_numbers import MISSING, black_box, cases, read, within
from tests.unit.effects.askers import asker_for, replies_to, rows_of

import rhale
from rhale.data import open_table
from rhale.data.columns import Labels
from rhale.effects.levels import level_distances, measure_levels, order_levels_by_distance
from rhale.effects.local.category_steps import LevelDifferences, row_steps
from rhale.effects.local.nearby import Nearby
from rhale.effects.spread import lay_band
from rhale.features.categories import Levels

pytestmark = pytest.mark.peer


def has_rows(case):
    """Whether there are bins and every one has rows."""
    return not case["discrete"] and all(case["table"]["N"])


each_level_effect = pytest.mark.parametrize(
    ("name", "number"), [*cases("aleplot_cat"), *cases("iml_ale_cat")]
)
each_aleplot = pytest.mark.parametrize(("name", "number"), cases("aleplot_cat"))
each_pdplot = pytest.mark.parametrize(
    ("name", "number"), cases("pdplot", lambda case: "levels" in case)
)
each_one_sided = pytest.mark.parametrize(
    ("name", "number"), cases("ale_stats__categorical", lambda case: case["type"] == "categorical")
)
each_binned = pytest.mark.parametrize(("name", "number"), cases("effectplots", has_rows))
each_discrete = pytest.mark.parametrize(
    ("name", "number"), cases("effectplots", lambda case: case["discrete"])
)


def column(described):
    """One column as pandas knows it: categories in R's order, whole numbers with gaps."""
    values, kind = described["values"], described["type"]
    if kind == "category":
        return pd.Categorical(values, categories=described["levels"])
    if kind == "int":
        return pd.array(values, dtype="Int64" if None in values else "int64")
    return np.array(values, dtype=float)


def table(name):
    return pd.DataFrame({c["name"]: column(c) for c in read(name)["data"]["columns"]})


def model(name):
    """The black box, on columns as R saw them."""
    inner = black_box(name)

    def predict(rows):
        plain = {
            c: rows[c].astype(str)
            if rows[c].dtype == "category"
            else rows[c].to_numpy(dtype=float, na_value=np.nan)
            for c in rows.columns
        }
        return inner(pd.DataFrame(plain))

    return predict


def weights(name, case):
    return np.array(read(name)["data"]["weights"]) if case["weighted"] else None


def explained(name, case, **settings):
    settings = {"features": [case["feature"]], **settings}
    if case.get("weighted"):
        settings["weights"] = weights(name, case)
    return rhale.explain(model(name), table(name), **settings)[case["feature"]]


def in_this_order(order, other):
    """Whether two orders are the same, read from one end or the other."""
    return list(order) in (list(other), list(other)[::-1])


def test_every_black_box_is_the_one_that_r_evaluated():
    kinds = ("aleplot_cat", "iml_ale_cat", "pdplot__categorical", "effectplots", "ale_stats__cat")
    names = {str(p.values[0]) for kind in kinds for p in cases(kind) if p is not MISSING}
    if not names:
        pytest.skip("shared/fixtures/r is not beside the checkout")
    for name in names:
        answer, published = model(name)(table(name)), read(name)["function"]
        assert answer[:10] == within(published["f_head"][:10], 1e-12)
        assert answer.mean() == pytest.approx(published["f_mean"], rel=1e-12)


# --- ALEPlot and iml ---------------------------------------------------------------------------


@each_level_effect
def test_levels_stand_in_the_order_of_r_from_one_end_or_the_other(name, number):
    case = read(name)["cases"][number]
    assert in_this_order(explained(name, case).levels, case["levels_ordered"])


@each_level_effect
def test_effects_of_levels_equal_those_of_r(name, number):
    case = read(name)["cases"][number]
    effect = explained(name, case)
    assert effect.curve(case["levels_ordered"]) == within(case["ale"])
    counts = dict(zip(effect.levels, effect.level_count.tolist(), strict=True))
    assert [counts[v] for v in case["levels_ordered"]] == case["derived"]["level_counts_ordered"]


@each_level_effect
def test_effects_of_levels_in_r_s_order_given_by_hand_equal_those_of_r(name, number):
    case = read(name)["cases"][number]
    effect = explained(name, case, categorical={case["feature"]: case["levels_ordered"]})
    assert list(effect.levels) == case["levels_ordered"]
    assert effect.curve() == within(case["ale"])


@each_level_effect
def test_small_batches_give_r_s_numbers_too(name, number):
    case = read(name)["cases"][number]
    effect = explained(name, case, batch_size=137)
    assert effect.curve(case["levels_ordered"]) == within(case["ale"])


@each_aleplot
def test_distances_between_levels_equal_those_of_aleplot(name, number):
    case, rows = read(name)["cases"][number], table(name)
    own = rows[case["feature"]].cat
    others = [rows[c] for c in rows.columns if c != case["feature"]]
    numbers = [c.to_numpy() for c in others if c.dtype != "category"]
    names = [c.cat.codes.to_numpy() for c in others if c.dtype == "category"]
    found = level_distances(
        own.codes.to_numpy(), len(own.categories), numbers, names, np.ones(len(rows))
    )
    assert found == within(case["derived"]["distance_matrix"])


@each_aleplot
def test_the_order_is_that_of_r_s_coordinate(name, number):
    derived = read(name)["cases"][number]["derived"]
    found = order_levels_by_distance(np.array(derived["distance_matrix"]))
    assert in_this_order(found.tolist(), np.argsort(derived["mds_coordinate"]).tolist())


@each_pdplot
def test_partial_dependence_of_levels_equals_pdplot(name, number):
    case = read(name)["cases"][number]
    found = explained(name, case, method="pdp")
    assert found.curve(case["levels"], center="mean") == within(case["pd"])


# --- package ale -------------------------------------------------------------------------------


@each_one_sided
def test_steps_down_of_the_rows_are_the_one_sided_effects_of_package_ale(name, number):
    case, opened = read(name)["cases"][number], open_table(table(name))
    place, order = opened.names.index(case["feature"]), tuple(case["bins"])
    opened = opened.label({place: Labels(order)})
    chunk = opened.chunk(0, opened.n_rows)
    feature = SimpleNamespace(column=place, levels=Levels(order, np.arange(float(len(order)))))
    places = lay_band(feature.levels.edges)
    asked = LevelDifferences(feature, Nearby(feature, places, 1)).questions(rows_of(chunk))
    replies = replies_to(asked, asker_for(model(name), chunk, opened.names), chunk)
    steps = row_steps(asked.memory, len(order), replies.predictions, replies.changed)
    found = measure_levels(steps.level, steps.down, steps.up, len(order))
    curve = np.cumsum(found.mean[0, :, 0])
    assert found.count.tolist() == case["n"]
    assert curve - np.average(curve, weights=found.count) == within(case["ale"])


# --- effectplots: weights and missing values ---------------------------------------------------


def split(case, key, is_gappy):
    """A column of R's table: values of the bins, and the one of the missing values."""
    values = case["table"][key]
    return (values[:-1], values[-1]) if is_gappy else (values, None)


def gaps(name, case):
    return bool(table(name)[case["feature"]].isna().any())


def limits_cover(name, case):
    values = table(name)[case["feature"]]
    return case["breaks"][0] <= values.min() and values.max() <= case["breaks"][-1]


@each_binned
def test_uncentred_effects_on_given_limits_equal_effectplots(name, number):
    case = read(name)["cases"][number]
    if not limits_cover(name, case):
        pytest.skip("R counts rows beyond the limits in the outermost bins, we leave them out")
    bins = rhale.Edges(case["breaks"], closed="right" if case["right"] else "left")
    effect = explained(name, case, method="ale", bins=bins)
    expected = case["ale_uncentred"][: len(case["breaks"]) - 1]  # R adds one for missing values
    assert effect.curve(case["breaks"][1:], center="start") == within(expected)
    assert effect.count.tolist() == split(case, "N", gaps(name, case))[0]
    assert effect.weight == within(split(case, "weight", gaps(name, case))[0])


@each_binned
def test_average_predictions_in_bins_equal_effectplots(name, number):
    case = read(name)["cases"][number]
    values, is_gappy = table(name)[case["feature"]], gaps(name, case)
    edges = [min(values.min(), case["breaks"][0]), *case["breaks"][1:-1]]  # R's last bins are open
    edges.append(max(values.max(), case["breaks"][-1]))
    bins = rhale.Edges(edges, closed="right" if case["right"] else "left")
    found = explained(name, case, method="mplot", bins=bins)
    means, missing = split(case, "pred_mean", is_gappy)
    weight, _ = split(case, "weight", is_gappy)
    assert found.mean == within(means)
    centres = np.clip(found.grid, case["breaks"][0], case["breaks"][-1])
    assert centres == within(split(case, "bin_mean", is_gappy)[0])
    assert found.share == within(np.array(weight) / np.sum(weight))
    assert (found.missing is None) == (missing is None)
    if missing is not None:
        assert found.missing.mean == within(missing)


@each_binned
def test_partial_dependence_at_r_s_points_equals_effectplots(name, number):
    case = read(name)["cases"][number]
    points, _ = split(case, "bin_mean", gaps(name, case))
    expected, missing = split(case, "pd", gaps(name, case))
    found = explained(name, case, method="pdp", bins=rhale.Edges(points))
    assert found.curve(points, center=None) == within(expected)
    assert (found.missing is None) == (missing is None)
    if missing is not None:
        assert found.missing.mean == within(missing)
        assert found.missing.count == case["table"]["N"][-1]
        total = np.sum(case["table"]["weight"])
        assert found.missing.share == pytest.approx(case["table"]["weight"][-1] / total, rel=1e-12)


@each_discrete
@pytest.mark.parametrize(("method", "key"), [("pdp", "pd"), ("mplot", "pred_mean")])
def test_single_values_and_levels_equal_effectplots(name, number, method, key):
    case, is_gappy = read(name)["cases"][number], gaps(name, read(name)["cases"][number])
    values, _ = split(case, "bin_mid", is_gappy)
    expected, missing = split(case, key, is_gappy)
    weight, _ = split(case, "weight", is_gappy)
    is_real = method == "pdp" and isinstance(values[1], float)
    bins = rhale.Edges(values) if is_real else None  # levels need none
    found = explained(name, case, method=method, bins=bins)
    assert found.curve(values, center=None) == within(expected)
    if found.levels and not isinstance(values[0], str):
        assert found.share == within(np.array(weight) / np.sum(weight))
    assert (found.missing is None) == (missing is None)
    if missing is not None:
        assert found.missing.mean == within(missing)
