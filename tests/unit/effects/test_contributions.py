from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np
import pytest
from tests.unit.effects.test_explained import GRID, product, with_halves

import rhale
from rhale.effects.contributions import SampledCurves, as_table_like, contribute, locate_new_rows
from rhale.effects.new_rows import read_new_rows
from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError, UnknownOutputError

FRAMES = ["pandas", "polars", "pyarrow"]


def line(rows):
    return 3 * rows[:, 0] - 2 * rows[:, 1]


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).normal(size=(3000, 2))


@pytest.fixture(scope="module")
def fx(table):
    return rhale.explain(line, table)


def mixed(n_rows=800):
    """Columns of all kinds, as plain lists."""
    rng = np.random.default_rng(1)
    days = np.datetime64("2020-01-01") + rng.integers(0, 400, n_rows)
    number = rng.normal(size=n_rows).tolist()
    return {
        "number": [None if i % 7 == 0 else v for i, v in enumerate(number)],
        "whole": rng.integers(0, 4, n_rows).tolist(),
        "city": rng.choice(["a", "b", "c"], n_rows).tolist(),
        "day": days.astype("datetime64[us]").tolist(),
    }


def answer(frame):
    """A sum of one function for each column, of any kind of data frame."""
    read = nw.from_native(frame, eager_only=True)
    known = [np.nan if v is None else v for v in read["number"].to_list()]
    number = np.nan_to_num(known, nan=2.5)
    city = np.array([{"a": 0.0, "b": 1.0, "c": 5.0}[v] for v in read["city"].to_list()])
    day = np.array([np.datetime64(str(v)[:10]) for v in read["day"].to_list()])
    days = (day - np.datetime64("2020-01-01")) / np.timedelta64(1, "D")
    return 3 * number + np.asarray(read["whole"].to_list()) ** 2 + city + days / 100


def as_kind(columns, kind):
    pytest.importorskip(kind)
    return nw.from_dict(columns, backend=kind).to_native()


def matrix(frame):
    return nw.from_native(frame, eager_only=True).to_numpy()


def test_the_contributions_of_a_line_are_its_terms(fx, table):
    found = fx.contributions(table)
    np.testing.assert_allclose(found, [3, -2] * (table - table.mean(axis=0)), atol=1e-12)
    assert fx.base() == pytest.approx(line(table).mean(), abs=1e-12)


@pytest.mark.parametrize("kind", FRAMES)
def test_base_and_contributions_of_a_sum_are_its_predictions(kind):
    frame = as_kind(mixed(), kind)
    fx = rhale.explain(answer, frame)
    found = fx.contributions(frame)
    assert type(found) is type(frame)
    assert list(nw.from_native(found).columns) == list(fx.features)
    np.testing.assert_allclose(fx.base() + matrix(found).sum(axis=1), answer(frame), atol=1e-10)


def test_all_kinds_of_tables_give_the_same_numbers_also_after_a_file(tmp_path):
    columns = mixed()
    fx = rhale.explain(answer, as_kind(columns, "pandas"))
    fx.save(tmp_path / "fx.json")
    loaded = rhale.load(tmp_path / "fx.json")
    expected = matrix(fx.contributions(as_kind(columns, "pandas")))
    for kind in FRAMES:
        turned = {name: columns[name] for name in reversed(columns)} | {"more": [0] * 800}
        np.testing.assert_array_equal(matrix(loaded.contributions(as_kind(turned, kind))), expected)


def test_an_array_gives_an_array_or_the_kind_that_is_asked_for(fx, table):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert isinstance(fx.contributions(table), np.ndarray)
    assert isinstance(fx.contributions(table, backend="polars"), pl.DataFrame)
    named = pd.DataFrame(table, columns=["x0", "x1"])
    np.testing.assert_array_equal(fx.contributions(named), fx.contributions(table))


def test_rows_of_pandas_keep_their_index(fx, table):
    pd = pytest.importorskip("pandas")
    index = pd.MultiIndex.from_product([["a", "b"], [3, 1]])
    frame = pd.DataFrame(table[:4], columns=["x0", "x1"], index=index)
    assert fx.contributions(frame).index.equals(index)


def test_values_beyond_the_range_are_nan_or_go_on_as_the_curve_does(fx, table):
    far = np.array([[100.0, 0.0]])
    assert np.isnan(fx.contributions(far)[0, 0])
    extended = fx.contributions(far, outside="extend")[0]
    np.testing.assert_allclose(extended, [3, -2] * (far[0] - table.mean(axis=0)), rtol=1e-9)
    with pytest.raises(BadSettingError, match="1 of 1 rows lie beyond the values of 'x0'"):
        fx.contributions(far, outside="raise")
    np.testing.assert_array_equal(fx.contributions(table, outside="raise"), fx.contributions(table))
    with pytest.raises(BadSettingError, match="outside='far' is not known"):
        fx.contributions(far, outside="far")


def test_levels_that_are_numbers_do_not_go_on():
    x = np.random.default_rng(0).integers(0, 4, size=(200, 1)).astype(float)
    fx = rhale.explain(lambda rows: rows[:, 0] ** 2, x)
    assert fx["x0"].parts == "levels"
    assert np.isnan(fx.contributions(np.array([[9.0]]), outside="extend")).all()


def test_missing_values_have_the_point_that_was_measured_and_else_nan(fx):
    pd = pytest.importorskip("pandas")
    gone = pd.DataFrame({"x0": [None], "x1": [0.0]}, dtype=float)
    assert np.isnan(fx.contributions(gone).loc[0, "x0"])
    frame = as_kind(mixed(), "pandas")
    own = rhale.explain(answer, frame)
    found = own.contributions(frame)["number"]
    assert found[0] == own["number"].missing.mean


def test_a_new_level_is_nan_and_rare_ones_stand_together():
    pd = pytest.importorskip("pandas")
    names = ["a"] * 50 + ["b"] * 50 + ["p", "q", "r"]
    frame = pd.DataFrame({"name": names})
    fx = rhale.explain(lambda t: (t["name"] == "a") * 1.0 + (t["name"] == "b") * 3.0, frame)
    effect = fx["name"]
    assert set(effect.pooled) == {"p", "q", "r"}
    new = pd.DataFrame({"name": ["b", "q", "new", None]})
    found = fx.contributions(new)["name"].to_numpy()
    expected = [effect.curve("b"), effect.curve("q"), np.nan, np.nan]
    np.testing.assert_array_equal(found, expected)
    extended = fx.contributions(new, outside="extend")["name"].to_numpy()
    np.testing.assert_array_equal(extended, [expected[0], expected[1], expected[1], np.nan])


def test_dates_that_are_levels_are_found():
    pd = pytest.importorskip("pandas")
    days = pd.to_datetime(["2020-01-01", "2020-02-01"] * 20)
    frame = pd.DataFrame({"day": days})
    fx = rhale.explain(lambda t: (t["day"].dt.month == 2) * 1.0, frame, categorical=["day"])
    np.testing.assert_allclose(fx.contributions(frame)["day"][:2], [-0.5, 0.5])


def test_profiles_have_contributions_too(table):
    fx = rhale.explain(line, table, method="pdp")
    expected = [3, -2] * (table - table.mean(axis=0))
    np.testing.assert_allclose(fx.contributions(table), expected, atol=1e-9)


def test_several_outputs_are_asked_for_by_name(table):
    fx = rhale.explain(lambda rows: np.column_stack([line(rows), -line(rows)]), table)
    with pytest.raises(UnknownOutputError, match=r"name one: fx.contributions\(X, 'y0'\)"):
        fx.contributions(table)
    with pytest.raises(UnknownOutputError, match=r"name one: fx.base\('y0'\)"):
        fx.base()
    np.testing.assert_allclose(fx.contributions(table, "y1"), -fx.contributions(table, 0))
    assert fx.base("y1") == pytest.approx(-fx.base("y0"))


def test_arrays_of_other_columns_and_frames_without_one_are_refused(fx, table):
    pd = pytest.importorskip("pandas")
    with pytest.raises(BadTableError, match="the array has 1 columns, the explained table had 2"):
        fx.contributions(table[:, :1])
    with pytest.raises(UnknownFeatureError, match="no column 'x1', which is explained"):
        fx.contributions(pd.DataFrame({"x0": [1.0]}))
    with pytest.raises(BadTableError, match="column 'x0' is explained as a number"):
        fx.contributions(pd.DataFrame({"x0": ["one"], "x1": [1.0]}))


def test_regions_give_rows_the_curves_of_their_regions_once():
    """Of x0 x1 both features have regions that say the same: one of them moves."""
    fx = with_halves(product, GRID, {"x0": 1, "x1": 0})
    common = fx.contributions(GRID)
    np.testing.assert_allclose(common, 0, atol=2e-2)
    found = fx.contributions(GRID, regions=True)
    rest = product(GRID) - fx.base() - found.sum(axis=1)
    share = 1 - rest.var() / product(GRID).var()
    assert share == pytest.approx(fx.explained_with_regions, abs=1e-3)
    halves = [GRID[:, 0] * np.sign(GRID[:, 1]) / 2, GRID[:, 1] * np.sign(GRID[:, 0]) / 2]
    gaps = [np.abs(found.sum(axis=1) - half).max() for half in halves]
    assert min(gaps) < 0.05


def test_regions_must_have_been_asked_for(fx, table):
    with pytest.raises(BadSettingError, match="regions were not asked for"):
        fx.contributions(table, regions=True)


def test_rows_in_no_region_keep_the_common_curve(table):
    fx = rhale.explain(line, table, regions=rhale.By("x1", cuts=[0.0]))
    curves = SampledCurves(fx.effects, fx.sample_x, fx.predictions[:, 0], fx.sample_weight)
    found = contribute(curves, table, ["x0", "x1"], regions=True)
    assert np.isfinite(found).all()


def test_base_is_unknown_where_no_row_has_all_curves(fx):
    lost = replace(fx, sample_x=np.full_like(fx.sample_x, np.nan))
    assert np.isnan(lost.base())


def test_places_of_numbers_are_their_values(fx, table):
    rows = read_new_rows(table[:3])
    np.testing.assert_array_equal(locate_new_rows(fx["x1"], rows, 1, "nan"), table[:3, 1])


def test_a_table_like_an_array_is_the_array():
    values = np.ones((2, 1))
    assert as_table_like(np.zeros((2, 3)), ["a"], values, None) is values
