"""Local effects in cells: what is added up, which cells there are, what is concluded."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.effects.askers import asker_for, replies_to

import rhale
from rhale.data import open_table
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import MOVED_LIMITS, bin_all
from rhale.effects.binning.partition import Edges, Fixed, Quantile
from rhale.effects.local.binned import (
    BinnedEffects,
    CellChoice,
    WholeBin,
    choose_cells,
    reachable_limits,
    without_moved,
)
from rhale.effects.local.finite_difference import OwnBin, Secant
from rhale.effects.local.measure import MeasureContext, MeasuredChunk, MeasureSample, with_bins
from rhale.effects.local.nearby import Nearby
from rhale.errors import BadSettingError
from rhale.features.feature import FirstPass
from rhale.output.text import Note
from rhale.settings import Settings

X = np.random.default_rng(4).uniform(0, 8, size=(60, 2))
HALVES = Grid(np.array([0.0, 4.0, 8.0]))
TWO_BINS = Fixed(2), Fixed(2)


def both(rows):
    """Slopes of the first column: 3 in one output, the other column in the other."""
    return np.column_stack([3 * rows[:, 0], rows[:, 0] * rows[:, 1]])


def settled(rows=X, **asked):
    table = open_table(rows)
    first = FirstPass.plan(table, Settings(features=0, **asked))
    return first.resolve_columns(first.task(table.chunk(0, table.n_rows)))


def added_up(measure, columns, sampled=()):
    chunk = columns.table.chunk(0, columns.table.n_rows)
    key = np.arange(chunk.n_rows, dtype=np.uint64)
    rows = MeasuredChunk(chunk, key, np.array(sampled, dtype=np.intp))
    asked = measure.questions(rows)
    return measure.add_up(rows, asked, replies_to(asked, asker_for(both, chunk), chunk))


def binned(columns, *, partitions=TWO_BINS, grid=HALVES, **fields):
    cells = CellChoice(grid, partitions, **fields.pop("cells", {}))
    return BinnedEffects(
        columns.features[0], Secant(0, OwnBin(grid)), cells, near(columns), **fields
    )


def near(columns):
    return Nearby.of(columns.features[0], columns, 2, every=False)


def about_rows(columns, kept, **other):
    """All rows that something is kept of are sampled ones."""
    n_rows = len(kept)
    some = MeasureSample(kept, np.ones(n_rows), np.arange(n_rows, dtype=np.uint64))
    known = columns.survey, ("y0", "y1"), (), some.weight, np.uint64(0)
    return MeasureContext(*known, sampled=some, **other)


def concluded(measure, columns, sampled=(0, 1)):
    tally = added_up(measure, columns, sampled)
    about = about_rows(columns, tally.kept)
    return next(with_bins([measure.conclude(tally.total, tally.kept, about)]))


# --- adding up ---------------------------------------------------------------------------------


def test_every_cell_has_the_mean_of_its_rows_for_every_output():
    total = added_up(binned(settled()), settled()).total
    low = X[:, 0] < 4
    assert total.count.tolist() == [low.sum(), (~low).sum()]
    assert total.mean[0] == pytest.approx([3.0, 3.0])
    assert total.mean[1] == pytest.approx([X[low, 1].mean(), X[~low, 1].mean()])


def test_a_sampled_row_keeps_its_place_and_its_local_effects():
    measure = binned(settled())
    kept = added_up(measure, settled(), sampled=[5, 9]).kept
    assert kept.shape[1] == measure.n_kept(n_outputs=2)
    assert kept[:, :3] == pytest.approx(np.column_stack([X[[5, 9], 0], [3, 3], X[[5, 9], 1]]))
    places, size = measure.nearby.places, measure.nearby.places.n_asked - 1
    for row, (first, second) in zip((5, 9), kept[:, 3:].reshape(2, 2, size), strict=True):
        around = places.around(places.locate(X[row, :1]))[:, 0]
        moved = np.diff(places.values[around])
        np.testing.assert_allclose(first, 3 * moved, rtol=1e-9)
        np.testing.assert_allclose(second, X[row, 1] * moved, rtol=1e-9)


def test_the_source_says_what_is_asked():
    source = SimpleNamespace(needs="slopes", n_changes=7)
    columns = settled()
    measure = BinnedEffects(columns.features[0], source, CellChoice(HALVES, ()), near(columns))
    assert (measure.needs, measure.n_changes) == ("slopes", 7)


# --- concluding --------------------------------------------------------------------------------


def test_each_output_gets_the_bins_of_its_own_partition():
    columns = settled()
    first, second = concluded(
        binned(columns, partitions=(Edges([0, 8]), Fixed(2))), columns
    ).results
    assert (first.output, first.edges.tolist()) == ("y0", [0.0, 8.0])
    assert (second.output, second.mean.size) == ("y1", 2)


def test_cells_are_handed_on_where_bins_can_be_chosen_anew():
    columns = settled()
    assert concluded(binned(columns), columns).cells.grid is HALVES
    fixed = binned(columns, cells={"can_change": False})
    assert concluded(fixed, columns).cells is None


def test_notes_stand_in_order_and_rows_outside_are_counted():
    columns, grid = settled(), Grid(np.array([0.0, 4.0]))
    how, cells, gone = Note("how", "by hand"), Note("sample", "some"), Note("missing", "few")
    measure = binned(
        columns,
        grid=grid,
        partitions=(Edges([0, 4]), Edges([0, 4])),
        cells={"notes": (cells,)},
        how=(how,),
        missing=(gone,),
    )
    notes = concluded(measure, columns).results[0].notes
    assert notes[:3] == (how, cells, gone)
    assert f"{np.sum(X[:, 0] > 4)} of 60 rows lie outside [0, 4]" in notes[3]


def test_cells_without_rows_are_refused_with_the_range_of_the_feature():
    columns, grid = settled(), Grid(np.array([50.0, 60.0]))
    with pytest.raises(BadSettingError, match=r"'x0' has no rows within \[50, 60\]"):
        concluded(binned(columns, grid=grid, partitions=(Fixed(1), Fixed(1))), columns)


# --- choosing cells ----------------------------------------------------------------------------


def by_output(first, second, method="rhale"):
    """Settings by which output a has other bins than output b."""
    partitions = {"a": first, "b": second}
    return SimpleNamespace(method=method, partition=lambda _, output: partitions[output])


def feature(column=X[:, 0]):
    return settled(np.column_stack([column, X[:, 1]])).features[0]


def test_the_cells_hold_the_limits_of_every_output_s_bins():
    found = choose_cells(by_output(Edges([0, 3, 8]), Edges([0, 5, 8])), feature(), ("a", "b"))
    assert {0.0, 3.0, 5.0, 8.0} <= set(found.grid.edges.tolist())


@pytest.mark.parametrize(
    ("method", "other", "message"),
    [
        ("rhale", Edges([0, 5, 8], "right"), "closed on different sides"),
        ("ale", Edges([0, 5, 8]), "method='ale' needs the same bins"),
    ],
)
def test_outputs_whose_bins_do_not_go_together_are_refused(method, other, message):
    settings = by_output(Edges([0, 3, 8]), other, method)
    with pytest.raises(BadSettingError, match=message):
        choose_cells(settings, feature(), ("a", "b"))


def test_ale_is_measured_in_its_bins_and_they_stay():
    found = choose_cells(Settings(method="ale", bins=Edges([0, 3, 8])), feature(), ("y",))
    assert found.grid.edges.tolist() == [0.0, 3.0, 8.0]
    assert (found.density, found.can_change) == ("bins", False)


def test_limits_of_whole_numbers_are_whole_unless_they_were_given():
    whole = feature(np.arange(60))
    edges = np.array([0.4, 1.6, 2.4, 7.5])
    assert reachable_limits(whole, Fixed(3), edges).tolist() == [1.0, 2.0, 7.0]
    assert reachable_limits(whole, Edges(edges), edges) is edges
    assert reachable_limits(feature(), Fixed(3), edges) is edges


def test_limits_that_would_fall_together_stay_between_the_numbers():
    whole = feature(np.arange(60))
    edges = np.array([0.6, 1.4])
    assert reachable_limits(whole, Fixed(1), edges) is edges


HALVES_BETWEEN = np.arange(-0.5, 60.5)
HOURS = np.random.default_rng(0).integers(0, 60, 2_000)


@pytest.mark.parametrize("kind", ["int64", "int8", "float64"])
def test_bins_between_whole_numbers_are_measured_at_whole_numbers(kind):
    """B3: limits that are rounded to what the column can hold fall together, 0 / 0."""
    seen = []

    def model(rows):
        seen.append(rows["h"].to_numpy().astype(float))
        return 2.0 * seen[-1]

    table = pd.DataFrame({"h": HOURS.astype(kind)})
    fx = rhale.explain(model, table, method="ale", bins=Edges(HALVES_BETWEEN))
    assert fx["h"].edges == pytest.approx(HALVES_BETWEEN)
    assert fx["h"].mean == pytest.approx(np.full(60, 2.0))
    asked = np.concatenate(seen)
    assert np.array_equal(asked, np.rint(asked))
    assert (asked.min(), asked.max()) == (0, 59)


@given(st.tuples(*[st.integers(-9, 9)] * 3))
def test_steps_between_whole_numbers_are_those_of_a_parabola(weights):
    """(f(k + 1) - f(k - 1)) / 2 and the same one further, half of each: exact but for the ends."""
    c, b, a = weights

    def model(rows):
        return c + b * rows[:, 0] + a * rows[:, 0] ** 2.0

    effect = rhale.explain(model, HOURS[:, None], method="ale", bins=Edges(HALVES_BETWEEN))[0]
    k = np.arange(1.0, 59.0)
    assert np.diff(effect.curve(k)) == pytest.approx((b + a * (2 * k + 1))[:-1], abs=1e-9)


def test_bins_of_another_explanation_may_end_between_whole_numbers():
    def model(rows):
        return np.abs(rows[:, 0] - 30.0)

    first = rhale.explain(model, HOURS[:, None], bins=rhale.Optimal())
    again = rhale.explain(model, HOURS[:, None], method="ale", bins=first)
    assert np.all(np.isfinite(again[0].mean))


def test_whole_numbers_around_a_bin_stay_inside_the_range():
    grid = Grid(np.array([-0.5, 0.5, 3.2, 4.0, 7.7]))
    a, b = WholeBin(grid, 0.0, 7.0).ends(np.array([0.0, 1.0, 4.0, 7.0]))
    assert a.tolist() == [0.0, 0.0, 4.0, 4.0]
    assert b.tolist() == [1.0, 4.0, 7.0, 7.0]
    a, b = WholeBin(Grid(np.array([0.5, 1.5])), 0.5, 1.5).ends(np.array([1.0]))
    assert (a[0], b[0]) == (0.0, 2.0)  # the only value there is: there is no range to stay in


def ale_by_predictions(predict, rows, limits):
    """ALE of the first column, closed on the right, as iml has it: only predictions."""
    bin_of = np.maximum(np.searchsorted(limits, rows[:, 0], "left") - 1, 0)
    ends = [rows.copy(), rows.copy()]
    for end, place in zip(ends, (bin_of, bin_of + 1), strict=True):
        end[:, 0] = limits[place]
    moved = predict(ends[1]) - predict(ends[0])
    count = np.bincount(bin_of, minlength=limits.size - 1)
    curve = np.append(0.0, np.cumsum(np.bincount(bin_of, moved, count.size) / count))
    return curve - count @ (curve[:-1] + curve[1:]) / 2 / count.sum()


@pytest.mark.parametrize("largest", [9, 11, 12])
@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_ale_on_given_whole_limits_is_asked_at_these(kind, largest):
    """R's iml asks at 4 and 12, whatever the largest value is, and across gaps of the rows."""
    rng = np.random.default_rng(largest)
    rows = np.column_stack(
        [np.append(rng.poisson(2, 299).clip(0, 5), largest), rng.normal(size=300)]
    )
    limits = np.array([0.0, 1.0, 2.0, 4.0, 12.0])

    def predict(x):
        return x[:, 0] ** 2 * (1 + x[:, 1] / 3)

    table = pd.DataFrame({"x": rows[:, 0].astype(kind), "z": rows[:, 1]})
    bins = Edges(limits, closed="right")
    fx = rhale.explain(
        lambda t: predict(t.to_numpy(dtype=float)), table, features=["x"], method="ale", bins=bins
    )
    expected = ale_by_predictions(predict, rows, limits)
    assert fx["x"].curve(limits) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    gap = [note for note in fx["x"].notes if note.kind == "gap"]
    assert all("is that of the bin around it" in note for note in gap)


def test_quantiles_of_a_sample_are_said_to_be_such():
    settings, whole = Settings(bins=Quantile(4)), feature()
    assert choose_cells(settings, whole, ("y",)).notes == ()
    (note,) = choose_cells(settings, replace(whole, is_complete=False), ("y",)).notes
    assert note == "the quantile limits come from a sample with 60 distinct values"


# --- regions -------------------------------------------------------------------------------------


def test_regions_are_to_tell_local_effects_apart_or_secants_of_a_model_with_steps():
    x = np.array([1.0, np.nan, 7.0, 99.0])  # the last is outside
    columns = settled()
    measure = binned(columns)
    places, size = measure.nearby.places, measure.nearby.places.n_asked - 1
    effects = [10 * output + np.arange(4.0) for output in (0, 1)]
    increments = np.arange(4 * 2 * size).reshape(4, 2 * size) ** 2.0
    kept = np.column_stack([x, *effects, increments])
    searched = MeasureSample(kept, np.ones(4), np.arange(4, dtype=np.uint64))
    for output, target in enumerate(measure.targets(searched, 2)):
        assert target.row.tolist() == [0, 2]
        assert target.x.tolist() == [1.0, 7.0]
        assert target.effects.tolist() == [10 * output + row for row in (0, 2)]
        assert target.roughness == 0.0
        assert not target.shared.any()
    steps = replace(measure, source=SimpleNamespace(is_stepped=True))
    for output, target in enumerate(steps.targets(searched, 2)):
        assert target.row.tolist() == [0, 2]
        for row, effect in zip((0, 2), target.effects, strict=True):
            around = places.around(places.locate(x[[row]]))[:, 0]
            change = increments[row, output * size : (output + 1) * size].sum()
            width = places.values[around[-1]] - places.values[around[0]]
            assert effect == pytest.approx(change / width, rel=1e-12)


def test_a_region_has_the_cells_from_its_first_to_its_last_row():
    columns = settled()
    grid = Grid(np.arange(9.0))
    measure = binned(columns, grid=grid, partitions=(Edges([2.0, 4.0, 6.0]),) * 2)
    chunk = columns.table.chunk(0, len(X))
    key = np.arange(len(X), dtype=np.uint64)
    counted = (X[:, 0] > 2) & (X[:, 0] < 6)
    rows = MeasuredChunk(chunk, key, np.arange(2), counted=counted)
    asked = measure.questions(rows)
    tally = measure.add_up(rows, asked, replies_to(asked, asker_for(both, chunk), chunk))
    about = about_rows(columns, tally.kept)
    ((found,),) = bin_all([measure.conclude_region(tally.total, tally.kept, about, 1)])
    assert (found.name, found.output) == ("x0", "y1")
    assert found.edges.tolist() == [2.0, 4.0, 6.0]
    bins = [counted & (X[:, 0] < 4), counted & (X[:, 0] >= 4)]
    assert found.count.tolist() == [some.sum() for some in bins]
    np.testing.assert_allclose(found.mean, [X[some, 1].mean() for some in bins])
    assert measure.in_region(columns.features[0].axis) is measure


def test_fewer_than_two_rows_are_no_region():
    columns = settled()
    cells, choice = added_up(binned(columns), columns).total, binned(columns).cells
    assert choice.between_rows(cells, 0).count.sum() == len(X)
    one = replace(cells, count=np.array([0, 1]))
    assert choice.between_rows(one, 0) is None
    some = replace(cells, count=np.array([0, 2]))
    assert choice.between_rows(some, 0).count.tolist() == [2]
    given = replace(choice, given=(True, False))  # limits that the user gave stay
    assert given.between_rows(some, 0).count.tolist() == [0, 2]
    assert given.between_rows(some, 1).count.tolist() == [2]


def test_nothing_is_said_of_limits_that_moved():
    notes = Note(MOVED_LIMITS, "limits moved"), Note("gap", "a gap")
    effect = replace(rhale.effect(X[:, 0], X[:, 1], bins=2), bin_notes=notes)
    assert without_moved(effect).bin_notes == notes[1:]
