"""Two-way partial dependence from any model: averages over all rows, wherever rows stand."""

import logging

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.data import open_table
from rhale.effects.local.queries import BatchedModel
from rhale.errors import BadSettingError, ModelFailedError
from rhale.features.feature import FirstPass
from rhale.interaction.partial_dependence import PairTracing
from rhale.interaction.plan import PairPlan, make_sides
from rhale.interaction.settings import PairSettings
from rhale.models import meet, wrap
from rhale.settings import Settings

RNG = np.random.default_rng(12)
ROWS = RNG.normal([0.5, -0.2, 0.1], size=(120, 3))
PAIR = [("x0", "x1")]


def product(rows):
    return rows[:, 0] * rows[:, 1] + 3 * rows[:, 2] + np.sin(rows[:, 0])


def traced(model=product, data=ROWS, pairs=PAIR, **options):
    return rhale.interactions(model, data, method="pdp", pairs=pairs, **{"cells": 5, **options})


def brute(model, data, columns, nodes, weights=None):
    """Set columns, ask, average: by hand."""
    found = np.empty([len(values) for values in nodes])
    for place in np.ndindex(found.shape):
        rows = data.copy()
        for column, values, i in zip(columns, nodes, place, strict=True):
            rows[:, column] = values[i]
        found[place] = np.average(model(rows), weights=weights)
    return found


def test_averages_are_those_made_by_hand():
    pair = traced()["x0", "x1"]
    np.testing.assert_allclose(
        pair.dependence, brute(product, ROWS, (0, 1), pair.edges), rtol=1e-12
    )
    for side in (0, 1):
        expected = brute(product, ROWS, (side,), pair.edges[side : side + 1])
        np.testing.assert_allclose(pair.single[side], expected, rtol=1e-12)


def test_a_product_has_the_strength_of_its_deviations():
    pair = traced()["x0", "x1"]
    both = np.prod(ROWS[:, :2] - ROWS[:, :2].mean(axis=0), axis=1)
    assert pair.strength == pytest.approx(both.std(), rel=1e-12)
    assert traced(pairs=[("x0", "x2")])["x0", "x2"].strength == 0.0


def test_importance_is_the_deviation_of_a_features_own_dependence():
    fx = traced(lambda rows: 2 * rows[:, 0] + rows[:, 1] * rows[:, 2], pairs="all")
    assert fx.importance[0, 0] == pytest.approx(2 * ROWS[:, 0].std(), rel=1e-12)
    expected = abs(ROWS[:, 2].mean()) * ROWS[:, 1].std()
    assert fx.importance[1, 0] == pytest.approx(expected, rel=1e-9)
    assert fx.variance[0] == pytest.approx((2 * ROWS[:, 0] + ROWS[:, 1] * ROWS[:, 2]).var())


def test_weights_count_in_averages_and_in_strength():
    weights = RNG.uniform(0.1, 2, len(ROWS))
    pair = traced(weights=weights)["x0", "x1"]
    expected = brute(product, ROWS, (0, 1), pair.edges, weights)
    np.testing.assert_allclose(pair.dependence, expected, rtol=1e-12)
    off = ROWS[:, :2] - np.average(ROWS[:, :2], axis=0, weights=weights)
    both = off.prod(axis=1)
    mean = np.average(both, weights=weights)
    spread = np.sqrt(np.average((both - mean) ** 2, weights=weights))
    assert pair.strength == pytest.approx(spread, rel=1e-12)


def test_a_weight_of_two_is_a_row_twice_and_of_zero_none():
    weights = RNG.integers(0, 3, len(ROWS)).astype(float)
    cells = rhale.Edges([-9.0, -1.0, 0.0, 1.0, 9.0])
    one = traced(weights=weights, cells=cells, batch_size=7)["x0", "x1"]
    other = traced(data=np.repeat(ROWS, weights.astype(int), axis=0), cells=cells)["x0", "x1"]
    np.testing.assert_allclose(one.dependence, other.dependence, rtol=1e-12)
    assert one.strength == pytest.approx(other.strength, rel=1e-12)


def test_rows_without_a_value_are_averaged_but_stand_nowhere():
    data = ROWS.copy()
    data[:10, 0] = np.nan
    model = lambda rows: np.nan_to_num(rows[:, 0]) * rows[:, 1] + rows[:, 2]
    pair = traced(model, data)["x0", "x1"]
    np.testing.assert_allclose(pair.dependence, brute(model, data, (0, 1), pair.edges), rtol=1e-12)
    assert (pair.n_left_out, pair.count.sum()) == (10, 110)
    # one-way dependences are averaged over all rows, and deviate over those that have both
    both = data[10:, 0] * data[10:, 1]
    both -= data[10:, 0] * data[:, 1].mean() + data[10:, 1] * np.nansum(data[:, 0]) / 120
    assert pair.strength == pytest.approx(both.std(), rel=1e-9)
    assert [note.kind for note in pair.notes] == ["leaves the data", "missing"]
    assert "10 of 120 rows have no value" in pair.notes[1]


def test_every_output_has_its_own_profile():
    def model(rows):
        return np.column_stack([product(rows), 5 - 2 * product(rows)])

    ix = traced(model)
    one, other = (ix["x0", "x1", output] for output in ix.outputs)
    np.testing.assert_allclose(other.dependence, 5 - 2 * one.dependence, rtol=1e-12)
    assert other.strength == pytest.approx(2 * one.strength, rel=1e-12)


@pytest.fixture(scope="module")
def frame():
    table = pd.DataFrame({"size": RNG.choice(["S", "M", "L"], 200), "x": RNG.normal(size=200)})
    return table.assign(kind=RNG.choice(["old", "new"], 200), z=RNG.normal(size=200))


def of_frames(rows):
    size = rows["size"].map({"S": 0.0, "M": 1.0, "L": 3.0}).to_numpy(dtype=float)
    new = (rows["kind"] == "new").to_numpy(dtype=float)
    return size * rows["x"].to_numpy() + size * new + rows["z"].to_numpy()


def test_levels_are_all_set(frame):
    ix = traced(of_frames, frame, [("size", "x"), ("size", "kind")])
    level = {"S": 0.0, "M": 1.0, "L": 3.0}
    new, z = (frame["kind"] == "new").mean(), frame["z"].mean()
    numbers = ix["size", "x"]
    for name, value in level.items():
        found = numbers.dependence_at(name, [-0.3, 0.4])
        assert found == pytest.approx(np.array([-0.3, 0.4]) * value + value * new + z, rel=1e-9)
    names = ix["size", "kind"]
    mean = frame["x"].mean()
    assert names.dependence_at("L", ["old", "new"]) == pytest.approx(
        [3 * mean + z, 3 * mean + 3 + z]
    )
    size = frame["size"].map(level)
    off = (size - size.mean()) * ((frame["kind"] == "new") - new)
    assert names.strength == pytest.approx(off.std(ddof=0), rel=1e-9)


def test_rare_levels_stand_together_as_often_as_they_are():
    names = [f"l{i}" for i in range(60)]
    table = pd.DataFrame({"s": RNG.choice(names, 3000), "x": RNG.normal(size=3000)})
    number = dict(zip(names, np.arange(60.0), strict=True))

    def model(rows):
        return rows["s"].map(number).to_numpy() + rows["x"].to_numpy()

    pair = traced(model, table, [("s", "x")], cells=2)["s", "x"]
    labels = pair.axes[0].labels
    together = next(i for i, label in enumerate(labels) if label not in number)
    rare = table["s"][~table["s"].isin(labels)].map(number)
    found = pair.single[0][together] - table["x"].mean()
    # each row takes one of them by its own key: the mean has the error of a sample
    assert found == pytest.approx(rare.mean(), abs=5 * rare.std() / np.sqrt(3000))


def test_dates_are_set():
    first = np.datetime64("2024-01-01", "us")
    table = pd.DataFrame({"d": first + np.arange(81) * np.timedelta64(5, "D")})
    table["x"] = RNG.normal(size=81)

    def model(rows):
        return (rows["d"] - pd.Timestamp(first)).dt.total_seconds().to_numpy() * rows[
            "x"
        ].to_numpy()

    pair = traced(model, table, [("d", "x")])["d", "x"]
    wanted = 0.1 * 200 * 86_400
    assert pair.dependence_at(first + np.timedelta64(200, "D"), 0.1) == pytest.approx(wanted)


def test_a_constant_feature_does_nothing_and_says_so():
    data = ROWS.copy()
    data[:, 1] = 2.0
    pair = traced(data=data)["x0", "x1"]
    assert pair.strength == 0.0
    assert "constant" in [note.kind for note in pair.notes]


def test_it_says_that_it_leaves_the_data():
    data = ROWS.copy()
    data[:, 1] = data[:, 0] + 0.01 * data[:, 1]
    pair = traced(data=data)["x0", "x1"]
    note = pair.notes[0]
    assert note.kind == "leaves the data"
    assert note.startswith(f"{pair.n_unmeasured} of 25 cells of the grid hold no row")
    assert pair.n_unmeasured > 10
    full = traced(cells=2)["x0", "x1"]
    assert "in all 4 cells" in full.notes[0]


def test_a_model_that_rejects_such_rows_is_told_what_it_was_asked():
    def careful(rows):
        if np.any((rows[:, 0] > 1.5) & (rows[:, 1] > 0.5)):
            msg = "no such rows"
            raise ValueError(msg)
        return rows[:, 0]

    data = ROWS[~((ROWS[:, 0] > 1.5) & (ROWS[:, 1] > 0.5))]
    with pytest.raises(ModelFailedError, match=r"'x0' between .*partial dependences combine"):
        traced(careful, data)


def test_the_usual_grid_has_twenty_cells_whatever_the_rows():
    ix = traced(cells=None)
    assert [edges.size for edges in ix["x0", "x1"].edges] == [21, 21]
    assert ix.provenance["rows_asked"] >= 120 * (21 * 21 + 2 * 21 + 1)
    assert ix.provenance["ways"] == {"profile": 1}


@pytest.mark.parametrize("pairs", [None, 3])
def test_pairs_are_not_chosen_by_themselves(pairs):
    with pytest.raises(BadSettingError, match="name them"):
        traced(pairs=pairs)


@pytest.mark.parametrize("option", [{"reading": "cells"}, {"smooth": True}])
def test_what_is_about_differences_is_refused(option):
    with pytest.raises(BadSettingError, match="method='pdp' has none"):
        traced(**option)


def test_the_price_of_all_pairs_is_told(caplog):
    with caplog.at_level(logging.WARNING, logger="rhale"):
        traced(pairs="all", cells=2)
    assert "37 points of grids x 120 rows = 4,440 rows" in caplog.text  # 3 (3 x 3 + 3) + 1


def test_chunks_add_up_to_the_whole():
    table = open_table(ROWS, None)
    asked = Settings(pairing=PairSettings(PAIR, "pdp", 4))
    first = FirstPass.plan(table, asked)
    columns = first.resolve_columns(first.task(table.chunk(0, len(ROWS))))
    asker = BatchedModel(meet(wrap(product), columns.probe)[0], table.names, 1000)
    sides = make_sides(columns.features[:2], asked, asked.pairing, len(ROWS))
    task = PairTracing(asker, PairPlan(sides, np.array([[0, 1]]), ("corners",)), 0)
    whole = task(table.chunk(0, len(ROWS)))
    parts = [task(table.chunk(*ends)) for ends in ((0, 50), (50, 51), (51, len(ROWS)))]
    for total in ((parts[0] + parts[1]) + parts[2], parts[2] + (parts[1] + parts[0])):
        np.testing.assert_allclose(total.both[0], whole.both[0], rtol=1e-12)
        np.testing.assert_allclose(total.single[1], whole.single[1], rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(total.row_moments[0].count, whole.row_moments[0].count)
        assert (total.weight, total.asked) == (120, whole.asked)
        np.testing.assert_allclose(total.answers.variance, whole.answers.variance, rtol=1e-12)
