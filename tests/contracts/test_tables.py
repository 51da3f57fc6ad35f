"""One suite for every kind of table: the model sees its own kind, and the numbers are the same."""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rhale

N = 150
RNG = np.random.default_rng(4)
A, B = RNG.normal(size=N), RNG.integers(0, 9, size=N)
C = RNG.random(N) < 0.4
NAMES = ("a", "b", "c")
NUMBERS = np.column_stack([A, B, C]).astype(np.float64)
COLUMNS = {"a": A, "b": B, "c": C}
CITY = np.array(["Bern", "Paris", "Rome"])[RNG.integers(0, 3, N)]
DAYS = np.datetime64("2020-01-01", "ns") + RNG.integers(0, 900, N).astype("timedelta64[D]")


def pandas_table(index=None, dtypes=None):
    return pd.DataFrame(COLUMNS, index=index).astype(dtypes or {})


FRAMES = {
    "pandas": pandas_table(),
    "pandas, text index": pandas_table([f"row {i}" for i in range(N)]),
    "pandas, reversed index": pandas_table(np.arange(N)[::-1]),
    "pandas, repeated index": pandas_table(np.arange(N) % 7),
    "pandas, two-level index": pandas_table(
        pd.MultiIndex.from_arrays([np.arange(N) % 3, np.arange(N)])
    ),
    "pandas, nullable": pandas_table(dtypes={"a": "Float64", "b": "Int64", "c": "boolean"}),
    "pandas, Arrow": pandas_table(
        dtypes={"a": "double[pyarrow]", "b": "int64[pyarrow]", "c": "bool[pyarrow]"}
    ),
    "pandas, small integers": pandas_table(dtypes={"b": "int8"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars, small integers": pl.DataFrame(COLUMNS).with_columns(pl.col("b").cast(pl.UInt8)),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow, in pieces": pa.concat_tables([pa.table(COLUMNS)[:40], pa.table(COLUMNS)[40:]]),
}
ARRAYS = {
    "C order": NUMBERS,
    "Fortran order": np.asfortranarray(NUMBERS),
    "every second row": np.repeat(NUMBERS, 2, axis=0)[::2],
    "read-only": copy.deepcopy(NUMBERS),
}
ARRAYS["read-only"].flags.writeable = False
METHODS = ["rhale", "ale", "pdp", "ice", "mplot"]

each_frame = pytest.mark.parametrize("table", FRAMES.values(), ids=FRAMES)
each_array = pytest.mark.parametrize("table", ARRAYS.values(), ids=ARRAYS)
each_method = pytest.mark.parametrize("method", METHODS)


def formula(a, b, c):
    """A smooth part, an interaction and steps."""
    return np.sin(a) * (1 + 2.0 * c) + 0.3 * b * a + np.floor(2 * a) + 0.1 * b


def of_array(rows):
    return formula(*rows.astype(float).T)


def columns_of(rows):
    """Columns of any data frame as floats."""
    return [rows[n].to_numpy().astype(float) for n in NAMES]


def shape_of(table):
    """Kind, names and types: what a model may rely on."""
    if isinstance(table, pa.Table):
        return type(table), table.schema.names, table.schema.types
    return type(table), list(table.columns), list(table.dtypes)


def watched(table):
    """A model that insists on the caller's kind of table."""

    def model(rows):
        assert shape_of(rows) == shape_of(table)
        return formula(*columns_of(rows))

    return model


def assert_same_numbers(found, expected, tolerance=1e-12):
    assert len(found) == len(expected)
    for a, b in zip(found.values(), expected.values(), strict=True):
        axis = "edges" if hasattr(a, "edges") else "grid"
        assert getattr(a, axis) == pytest.approx(getattr(b, axis), rel=tolerance)
        assert a.mean == pytest.approx(b.mean, rel=tolerance, abs=tolerance, nan_ok=True)
        assert a.std == pytest.approx(b.std, rel=tolerance, abs=1e-7, nan_ok=True)


@each_frame
@each_method
def test_the_model_sees_its_own_kind_of_table_and_the_numbers_are_those_of_an_array(table, method):
    expected = rhale.explain(of_array, NUMBERS, method=method)
    found = rhale.explain(watched(table), table, method=method)
    assert found.features == NAMES
    assert_same_numbers(found, expected)


@each_frame
def test_a_table_in_small_batches_and_few_rows_is_still_the_caller_s_kind(table):
    found = rhale.explain(watched(table), table, batch_size=13, n_rows=60, seed=3)
    expected = rhale.explain(of_array, NUMBERS, n_rows=60, seed=3)
    assert_same_numbers(found, expected)


@each_frame
def test_gradients_come_with_frames_too(table):
    def gradient(rows):
        assert shape_of(rows) == shape_of(table)
        a, b, c = columns_of(rows)
        return np.column_stack([np.cos(a) * (1 + 2 * c) + 0.3 * b, 0.3 * a, 2 * np.sin(a)])

    def model(rows):
        a, b, c = columns_of(rows)
        return np.sin(a) * (1 + 2 * c) + 0.3 * b * a

    fx = rhale.explain(model, table, gradient=gradient, bins=rhale.Optimal())
    d = gradient(table)
    assert fx["a"].mean @ fx["a"].count == pytest.approx(d[:, 0].sum(), rel=1e-12)
    assert fx["b"].mean @ fx["b"].count == pytest.approx(d[:, 1].sum(), rel=1e-12)


@each_frame
@each_method
def test_the_caller_s_table_is_unchanged(table, method):
    before = copy.deepcopy(table) if not isinstance(table, pa.Table) else table.to_pydict()
    rhale.explain(watched(table), table, method=method)
    if isinstance(table, pd.DataFrame):
        pd.testing.assert_frame_equal(table, before)
    elif isinstance(table, pl.DataFrame):
        assert table.equals(before)
    else:
        assert table.to_pydict() == before


@each_array
@each_method
def test_the_layout_of_an_array_does_not_matter(table, method):
    before = table.copy()
    found = rhale.explain(of_array, table, method=method)
    assert_same_numbers(found, rhale.explain(of_array, NUMBERS, method=method))
    assert np.array_equal(table, before)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "bool"])
@each_method
def test_arrays_of_integers_stay_integers_and_give_the_numbers_of_floats(dtype, method):
    rows = RNG.integers(0, 2 if dtype == "bool" else 30, size=(N, 3)).astype(dtype)

    def model(asked):
        assert asked.dtype == dtype
        x = asked.astype(float)
        return x[:, 0] * x[:, 1] + 0.1 * x[:, 2] ** 2

    found = rhale.explain(model, rows, method=method)
    expected = rhale.explain(
        lambda r: r[:, 0] * r[:, 1] + 0.1 * r[:, 2] ** 2, rows.astype(float), method=method
    )
    assert_same_numbers(found, expected)


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars"])
def test_single_precision_stays_single_and_loses_only_its_rounding(kind):
    rows = NUMBERS.astype(np.float32)
    table = {
        "numpy": rows,
        "pandas": pd.DataFrame(rows, columns=NAMES),
        "polars": pl.DataFrame(rows, schema=list(NAMES)),
    }[kind]

    def model(asked):
        found = asked if kind == "numpy" else asked.to_numpy()
        assert found.dtype == np.float32
        return np.sin(found[:, 0].astype(float)) * (1 + found[:, 1])

    def double(asked):
        return np.sin(asked[:, 0]) * (1 + asked[:, 1])

    found = rhale.explain(model, table, bins=5)
    assert_same_numbers(found, rhale.explain(double, rows.astype(float), bins=5), tolerance=1e-4)


def test_secants_of_single_precision_are_taken_between_values_that_exist():
    rows = (1e6 + RNG.normal(size=(400, 1))).astype(np.float32)  # steps of 1/16
    fx = rhale.explain(lambda r: 3.0 * r[:, 0].astype(float), rows, local="secant")
    assert fx["x0"].mean == pytest.approx(np.full(fx["x0"].mean.size, 3.0), rel=1e-12)
    assert fx["x0"].std == pytest.approx(np.zeros(fx["x0"].std.size), abs=1e-9)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_that_are_not_explained_reach_the_model_as_they_are(kind):
    make = {
        "pandas": lambda d: pd.DataFrame(d).astype({"city": "category"}),
        "polars": lambda d: pl.DataFrame(d).with_columns(pl.col("city").cast(pl.Categorical)),
        "pyarrow": pa.table,
    }[kind]
    table = make({"a": A, "city": CITY, "day": DAYS, "b": B})

    def model(rows):
        assert shape_of(rows) == shape_of(table)
        city = np.asarray(rows["city"].to_numpy(), dtype=str)
        assert set(city) <= {"Bern", "Paris", "Rome"}
        return np.asarray(rows["a"].to_numpy()) * np.where(city == "Bern", 2.0, 1.0)

    fx = rhale.explain(model, table, features=["a", "b"])
    assert fx.features == ("a", "b")
    expected = np.where(CITY == "Bern", 2.0, 1.0)
    assert fx["a"].level @ fx["a"].count == pytest.approx(expected.sum(), rel=1e-6)


def test_decimal_columns_stay_decimal():
    table = pl.DataFrame({"price": A}).with_columns(pl.col("price").cast(pl.Decimal(12, 4)))

    def model(rows):
        assert rows.schema == table.schema
        return 3 * rows["price"].cast(pl.Float64).to_numpy()

    fx = rhale.explain(model, table)
    assert fx["price"].mean == pytest.approx(np.full(fx["price"].mean.size, 3.0), rel=1e-9)


def test_missing_values_elsewhere_are_the_model_s_business():
    table = pd.DataFrame({"a": A, "gap": np.where(C, np.nan, 1.0)})
    table["gap2"] = pd.array(np.where(C, None, 1), dtype="Int64")
    fx = rhale.explain(lambda r: 2 * r["a"].to_numpy(), table, features="a")
    assert fx["a"].mean == pytest.approx(np.full(fx["a"].mean.size, 2.0))


def test_columns_with_numbers_for_names_are_found_by_text_and_by_number():
    table = pd.DataFrame({10: A, 20: B})
    fx = rhale.explain(lambda r: r[10] * 2.0, table, features=[20, "10"])
    assert fx.features == ("20", "10")
    assert fx["10"].mean == pytest.approx(np.full(fx["10"].mean.size, 2.0))


def test_a_pandas_answer_is_read_by_position_whatever_its_index():
    table = pandas_table(np.arange(N)[::-1])
    fx = rhale.explain(lambda r: r["a"] * r["b"], table, method="mplot", bins=1)
    assert fx["a"].mean[0] == pytest.approx((A * B).mean(), rel=1e-12)


def test_results_come_back_in_the_caller_s_kind_of_table():
    for table in (pandas_table(), pl.DataFrame(COLUMNS), pa.table(COLUMNS)):
        assert isinstance(rhale.explain(watched(table), table).to_frame(), type(table))


@pytest.mark.parametrize("kind", ["numpy", "pandas", "pandas, one type"])
@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "ice"])
def test_a_model_that_writes_into_its_rows_spoils_nothing(kind, method):
    numbers = NUMBERS + np.array([0.0, 0.25, 0.0])
    table = {
        "numpy": numbers,
        "pandas": pandas_table(),
        "pandas, one type": pd.DataFrame(numbers, columns=NAMES),
    }[kind]
    before = table.copy()

    def greedy(rows):
        answer = of_array(np.array(rows, dtype=float))
        if isinstance(rows, np.ndarray):
            rows[:] = 0
        else:
            rows["a"] = 0.0
        return answer

    def modest(rows):
        return of_array(np.array(rows, dtype=float))

    assert_same_numbers(
        rhale.explain(greedy, table, method=method), rhale.explain(modest, table, method=method)
    )
    assert np.array_equal(np.array(table), np.array(before))


@pytest.mark.parametrize("table", [FRAMES["pandas"], FRAMES["polars"], FRAMES["pyarrow"]], ids=type)
@pytest.mark.parametrize("kind", ["torch", "jax"])
def test_networks_take_frames_as_matrices_in_the_order_of_the_columns(table, kind):
    if kind == "torch":
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    else:
        model = jax.jit(lambda rows: jnp.tanh(rows @ jnp.array([1.0, -0.5, 2.0])))
    found, expected = rhale.explain(model, table), rhale.explain(model, NUMBERS)
    assert found.features == NAMES
    assert_same_numbers(found, expected)


@pytest.mark.parametrize("kind", ["scikit-learn", "xgboost", "lightgbm"])
def test_models_that_were_fitted_on_names_are_asked_with_names(kind):
    table = pandas_table().rename(columns={"a": "größe", "b": "income_eur"})
    if kind == "scikit-learn":
        model = LinearRegression()
    elif kind == "xgboost":
        model = pytest.importorskip("xgboost").XGBRegressor(n_estimators=3, n_jobs=1)
    else:
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMRegressor(n_estimators=3, n_jobs=1, verbose=-1)
    model.fit(table, A + B)
    for method in METHODS:
        fx = rhale.explain(model, table, method=method)
        assert fx.features == ("größe", "income_eur", "c")
    expected = model.predict(table)
    assert np.sort(fx.predictions[:, 0]) == pytest.approx(np.sort(expected), rel=1e-5)


def test_a_scaler_that_works_in_place_spoils_nothing():
    scaled = [
        make_pipeline(StandardScaler(copy=copies), LinearRegression()).fit(
            NUMBERS.copy(), A * 2 + B
        )
        for copies in (True, False)
    ]
    safe, hasty = (rhale.explain(model, NUMBERS, bins=4) for model in scaled)
    assert_same_numbers(hasty, safe)
