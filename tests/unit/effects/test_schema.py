"""The schema knows every field, and numbers that do not belong together."""

import json
from dataclasses import dataclass, fields, is_dataclass, make_dataclass, replace
from typing import Any

import numpy as np
import pytest

import rhale
from rhale.effects.binning.cells import Cells
from rhale.effects.curve import RowPlaces
from rhale.effects.explanation import Explanation, restore_explanation
from rhale.effects.schema import EXPLANATION
from rhale.effects.store import FORMAT, VERSION, pack_explanation
from rhale.errors import BadFileError
from rhale.interaction.storage import INTERACTIONS
from rhale.output.storage.values import Number, Past, Record
from rhale.stability.storage import REFITS

RNG = np.random.default_rng(0)
WAVY = RNG.normal(size=(3_000, 2))


def test_a_file_has_every_field_of_an_explanation():
    assert list(EXPLANATION.fields) == [f.name for f in fields(Explanation)]


def records_in(kind):
    """All records that a kind is made of."""
    if isinstance(kind, Record):
        yield kind
        for inner in kind.fields.values():
            yield from records_in(inner)
    for record in getattr(kind, "records", {}).values():
        yield from records_in(record)
    if hasattr(kind, "kind"):
        yield from records_in(kind.kind)


@pytest.mark.parametrize("whole", [EXPLANATION, INTERACTIONS, REFITS])
def test_files_hold_every_field_of_every_class_but_captions(whole):
    for record in records_in(whole):
        if is_dataclass(record.of):
            known = {f.name for f in fields(record.of)}
            assert known - set(record.fields) <= {"captions", *record.omitted}


def test_a_field_that_does_not_say_what_it_holds_is_refused():
    @dataclass
    class Odd:
        rows: Any

    with pytest.raises(TypeError, match=r"does not say what files hold: add field\(metadata="):
        Record(Odd).fields  # noqa: B018


def test_a_new_field_is_written_and_read_without_another_line():
    grown = make_dataclass("Grown", [("words", tuple[str, ...]), ("share", float | None, None)])
    record = Record(grown)
    assert record.write(grown(("a", "b"), 0.5)) == {"words": ["a", "b"], "share": 0.5}
    assert record.read({"words": ["a"]}, "") == grown(("a",))
    assert record.read(record.write(grown(())), "") == grown(())
    with pytest.raises(BadFileError, match=r"it\.share is 'much', not a number"):
        record.read({"words": [], "share": "much"}, "it.")


def test_fields_of_earlier_formats_become_those_of_today():
    def halve(found):
        found.setdefault("radius", found.pop("diameter", 0.0) / 2)

    circle = make_dataclass("Circle", [("radius", float)])
    record = Record(circle, past=Past({"diameter": Number(least=0)}, ("radius",), halve))
    assert record.read({"diameter": 3.0}, "") == record.read({"radius": 1.5}, "") == circle(1.5)
    assert record.write(circle(1.5)) == {"radius": 1.5}
    with pytest.raises(BadFileError, match=r"it\.diameter is -1, which it cannot be"):
        record.read({"diameter": -1}, "it.")
    with pytest.raises(BadFileError, match=r"it\.'diameter' is unknown"):
        Record(circle).read({"diameter": 3.0}, "it.")


@pytest.fixture(scope="module")
def wavy():
    """The curve of x0 follows its cells."""
    fx = rhale.explain(lambda x: np.sin(8 * x[:, 0]) + x[:, 1] * np.exp(x[:, 0]), WAVY)
    assert fx["x0"].cells is not None
    return fx


def told(fx):
    """What is said of an explanation that went through a file."""
    content = json.loads(json.dumps({VERSION: FORMAT, **pack_explanation(fx)}))
    with pytest.raises(BadFileError) as error:
        restore_explanation(content, "it")
    return str(error.value).removeprefix("it is damaged: ").partition(";")[0]


def with_first(fx, **changes):
    first, *rest = fx.effects
    return replace(fx, effects=(replace(first, **changes), *rest))


def with_cells(fx, **changes):
    return with_first(fx, cells=replace(fx.effects[0].cells, **changes))


def told_of_spread(fx, **changes):
    return told(with_first(fx, row_spread=replace(fx.effects[0].row_spread, **changes)))


def test_how_rows_differ_must_be_possible(wavy):
    known = wavy["x0"].row_spread
    n_places = known.places.size
    assert "row_spread.shares adds up to 2" in told_of_spread(wavy, shares=2 * known.shares)
    assert "row_spread.places does not increase" in told_of_spread(
        wavy, places=np.append(known.places[:-1], known.places[-2])
    )
    for change in ({"last": known.last + 1}, {"first": known.last + 1}):
        assert "name places that are not there" in told_of_spread(wavy, **change)
    assert "row_spread.rows is unknown where" in told_of_spread(wavy, rows=known.rows * np.nan)
    assert "row_spread.rows has too few numbers" in told_of_spread(wavy, rows=known.rows[:, :2])
    assert "has a variance below zero" in told_of_spread(wavy, covariance=-known.covariance)
    assert "row_spread.error is -1.0" in told_of_spread(wavy, error=-1.0)
    assert f"for {n_places - 1} increments" in told_of_spread(
        wavy, covariance=known.covariance[:-1, :-1]
    )


@pytest.fixture(scope="module")
def crossed():
    """Rows were moved across a gap."""
    rows = WAVY[:400].copy()
    rows[:200, 0] += 20
    fx = rhale.explain(lambda x: np.tanh(x[:, 0] - 9) + x[:, 0] * x[:, 1], rows)
    assert fx["x0"]._crossings is not None
    return fx


def told_of_crossings(fx, **changes):
    spread = fx.effects[0].row_spread
    return told_of_spread(fx, crossings=spread.crossings._replace(**changes))


def test_what_rows_say_across_a_gap_is_kept_in_files(crossed):
    content = json.loads(json.dumps({VERSION: FORMAT, **pack_explanation(crossed)}))
    at, read = np.array([0.0, 5.0, 20.0]), restore_explanation(content, "it")["x0"]
    np.testing.assert_array_equal(read.ci(at), crossed["x0"].ci(at))
    np.testing.assert_array_equal(read.curve(at), crossed["x0"].curve(at))


def test_what_rows_say_across_a_gap_must_be_possible(crossed):
    known = crossed["x0"]._crossings
    far = known.empty + known.rise.size
    assert "crossings.empty names a stretch" in told_of_crossings(crossed, empty=far)
    assert "a variance below zero" in told_of_crossings(crossed, covariance=-known.covariance)
    for changes in ({"right": known.left}, {"left": known.left - 30, "right": known.right + 30}):
        assert "are no stretches one after the other" in told_of_crossings(crossed, **changes)
    assert "rise" in told_of_crossings(crossed, rise=known.rise[1:])


def as_before(fx):
    """What a file of format 10 holds of levels without an order: covariances of their heights."""
    content = json.loads(json.dumps({VERSION: 10, **pack_explanation(fx)}))
    (effect,) = content["effects"]
    heights = fx.effects[0].row_spread.between_places
    del effect["row_spread"], effect["has_order"]
    numbers = heights.ravel().tolist()
    effect["covariance"] = {"array": numbers, "type": "float64", "shape": list(heights.shape)}
    return content, effect


def test_covariances_of_levels_in_older_files_say_how_rows_differ():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"k": RNG.choice(["a", "b", "c"], 300), "z": RNG.normal(size=300)})

    def model(table):
        return table["k"].map({"a": 0.0, "b": 1.0, "c": 3.0}).to_numpy() * table["z"].to_numpy()

    fx = rhale.explain(model, rows, features=["k"], partners=False)
    content, effect = as_before(fx)
    found, now = restore_explanation(content, "it")["k"], fx["k"]
    assert not found.has_order
    for center in ("mean", "start", "uniform"):
        np.testing.assert_allclose(found.spread(center=center), now.spread(center=center))
    assert found.typical_spread == pytest.approx(now.typical_spread)
    assert np.isnan(found.typical_spread_error)
    assert found.row_curves().row.size == 0
    effect["covariance"] = None  # two levels, or levels in an order: their steps are added up
    assert restore_explanation(content, "it")["k"].row_spread is None
    assert restore_explanation(content, "it")["k"].has_order


def test_cells_of_older_files_lose_the_series_that_told_the_spread_of_steps():
    fx = rhale.explain(lambda x: np.floor(3 * x[:, 0]) * x[:, 1], WAVY[:400], partners=False)
    content = json.loads(json.dumps({VERSION: 10, **pack_explanation(fx)}))
    for effect in content["effects"]:
        del effect["row_spread"]
    for _, cells in content["cells"]["mapping"]:
        del cells["is_stepped"]
        for name in ("mean", "sxd", "sdd"):
            one = cells[name]
            one["array"], one["shape"] = one["array"] * 3, [3, *one["shape"][1:]]
    found = restore_explanation(content, "it")
    for name, cells in found.cells.items():
        assert cells.is_stepped
        np.testing.assert_array_equal(cells.mean, fx.cells[name].mean)
    # what the file knows of the spread stays, however bins are chosen anew
    again = found.rebin(rhale.Fixed(1))["x0"]
    total = found["x0"].spread(found["x0"].edges[-1], center="start")
    assert again.std[0] * np.diff(again.edges)[0] == pytest.approx(total)


def test_followed_cells_must_fill_their_bins(wavy):
    cells = wavy["x0"].cells
    assert "do not fill the bins" in told(with_cells(wavy, right=cells.right + 1e-3))
    assert "do not fill the bins" in told(with_cells(wavy, left=cells.left[::-1]))
    assert "is out of order" in told(with_cells(wavy, bin=cells.bin + 1_000))
    assert "is out of order" in told(with_cells(wavy, bin=cells.bin[::-1] * np.array(1)))


def test_some_followed_cells_of_a_bin_must_be_measured(wavy):
    unknown = np.full(wavy["x0"].cells.bin.size, np.nan)
    assert "is unknown in all cells of a bin" in told(with_cells(wavy, error=unknown))


@pytest.mark.parametrize(("name", "place"), [("low_x", 0.9), ("high_x", -0.9)])
def test_lines_end_within_their_bins(name, place):
    """A line that ends elsewhere would have pieces of no or of negative length."""
    fx = rhale.explain(lambda x: x[:, 0] ** 2, np.linspace(-1, 1, 60)[:, None], bins=3)
    same = with_first(fx, **{"slope": np.ones(3), name: np.full(3, place)})
    assert told(same) == "effects[0].low_x and effects[0].high_x do not lie within the bins"


def test_moments_have_as_many_numbers_as_cells(wavy):
    cells = wavy.cells["x0"]
    grid = replace(cells.grid, edges=cells.grid.edges[:-1])
    damaged = replace(wavy, cells={"x0": replace(cells, cells=Cells((grid,)))})
    n_cells = cells.grid.n_cells
    assert told(damaged) == f"cells['x0'].count has {n_cells} numbers for {n_cells - 1} cells"


def test_weights_whose_squares_do_not_fit_into_a_number_are_refused(wavy):
    heavy = 1e160 * wavy["x0"].weight
    assert "effects[0].weight holds" in told(with_first(wavy, weight=heavy))


def test_spread_has_limits_and_deviations_or_neither(wavy):
    edges = wavy["x0"].edges
    assert "spread_std has no limits" in told(with_first(wavy, spread_edges=edges))


@pytest.fixture(scope="module")
def levels():
    table = RNG.integers(0, 4, (200, 2)).astype(float)
    return rhale.explain(lambda x: x[:, 0] * x[:, 1], table)


def test_levels_and_steps_agree(levels):
    first = levels.effects[0]
    assert told(with_first(levels, levels=first.levels[:-1])).startswith("effects[0].level_count")
    assert "names one twice" in told(with_first(levels, levels=("0",) * 4))
    assert "has no 'other (2 levels)'" in told(with_first(levels, pooled=("8", "9")))
    assert "correlation has 2 rows for 3 steps" in told(with_first(levels, correlation=np.eye(2)))
    assert "edges does not increase" in told(with_first(levels, edges=np.array([0.0, 1, 3, 2])))
    for few in (0.0, 1e-310):
        rows = np.where(np.arange(3) == 1, few, first.rows)
        assert "rows are too few for their weight" in told(with_first(levels, rows=rows))


@pytest.fixture(scope="module")
def ice():
    return rhale.explain(lambda x: x[:, 0] ** 2, WAVY[:50], method="ice", bins=5)


def test_points_labels_and_curves_agree(ice):
    first = ice.effects[0]
    assert "levels has 2 entries for" in told(with_first(ice, levels=("a", "b")))
    assert "curves has 5 columns for 6 points" in told(with_first(ice, curves=first.curves[:, 1:]))
    assert "numbers for 0 curves" in told(with_first(ice, curves=np.empty((0, 0))))
    assert "grid does not increase" in told(with_first(ice, grid=first.grid[::-1]))
    assert "rows is zero at a point" in told(with_first(ice, rows=0.0 * first.rows))
    assert "share is zero" in told(with_first(ice, share=0.0 * first.share))
    assert "mean is unknown" in told(with_first(ice, mean=np.nan * first.mean))
    half = RowPlaces(first.grid, np.full(6, 0.5))
    assert "row_places.weight adds up to 3.0" in told(with_first(ice, row_places=half))
    assert "own_covariance" in told(with_first(ice, own_covariance=np.zeros(2)))


def test_results_of_one_explanation_are_of_one_kind(ice, wavy):
    mixed = (wavy.effects[0], replace(ice.effects[1], output=wavy.outputs[0]))
    assert "effects[1] is of another kind" in told(replace(wavy, effects=mixed, cells={}))


def test_many_names_without_results_are_refused_before_they_are_paired(wavy):
    """A hundred thousand features and outputs have ten thousand million pairs."""
    many = tuple(map(str, range(100_000)))
    samples = {"predictions": np.empty((0, 100_000)), "sample_x": np.empty((0, 100_000))}
    damaged = replace(
        wavy, features=many, outputs=many, sample_weight=np.empty(0), cells={}, **samples
    )
    assert told(damaged) == "effects has 2 entries for 100000 features and 100000 outputs"


@pytest.fixture(scope="module")
def stepped():
    """The curve of x0 is a staircase."""
    pytest.importorskip("numba")
    pytest.importorskip("treelite")
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = WAVY[:300]
    model = HistGradientBoostingRegressor(max_iter=5).fit(rows, rows[:, 0] * rows[:, 1])
    return rhale.explain(model, rows)


def with_stairs(fx, **changes):
    return with_first(fx, stairs=replace(fx.effects[0].stairs, **changes))


def test_staircases_come_back_as_they_were(stepped):
    content = json.loads(json.dumps({VERSION: FORMAT, **pack_explanation(stepped)}))
    again = restore_explanation(content, "it")
    assert again == stepped
    x = np.linspace(-2, 2, 9)
    np.testing.assert_array_equal(again["x0"].ci(x), stepped["x0"].ci(x))
    np.testing.assert_array_equal(
        again["x0"].curve(x, smooth=True), stepped["x0"].curve(x, smooth=True)
    )
    assert again.rebin(5) == stepped.rebin(5)


def test_staircases_hold_numbers_that_belong_together(stepped):
    stairs = stepped["x0"].stairs
    n = stairs.n_places
    assert "lie outside" in told(with_stairs(stepped, low=float(stairs.places[1])))
    assert "is above" in told(with_stairs(stepped, low=9.0))
    assert "adds up to" in told(with_stairs(stepped, row_shares=stairs.row_shares / 2))
    assert "adds up to" in told(with_stairs(stepped, group_shares=stairs.group_shares / 2))
    assert "3 rows, not 2" in told(with_stairs(stepped, drawn=np.zeros((3, stairs.drawn.shape[1]))))
    assert f"for {n} jumps" in told(with_stairs(stepped, jumps=stairs.jumps[1:]))
    assert "places" in told(with_stairs(stepped, places=stairs.places[::-1].copy()))


def test_partners_that_are_not_there_take_nothing_over(wavy):
    matrix = wavy.partner_matrix
    beyond = replace(matrix, proxy_of=np.full_like(matrix.proxy_of, 2))
    assert told(replace(wavy, partner_matrix=beyond)) == (
        "partner_matrix.proxy_of names a partner that is not there"
    )


def test_partners_of_other_effects_are_refused(wavy):
    several = {
        name: np.concatenate([value, value])
        for name, value in vars(wavy.partner_matrix).items()
        if name != "names"
    }
    twice = replace(wavy.partner_matrix, **several)
    assert told(replace(wavy, partner_matrix=twice)) == ("partner_matrix has 4 rows for 2 effects")


def test_chances_of_partners_are_no_more_than_one(wavy):
    matrix = replace(wavy.partner_matrix, p_value=np.full((2, 2), 1.5))
    assert "partner_matrix.p_value" in told(replace(wavy, partner_matrix=matrix))
