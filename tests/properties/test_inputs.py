"""The same numbers, whatever holds them; and nothing of the caller's is touched."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators, matrices, models

import rhale

pd = pytest.importorskip("pandas")
METHODS = ["rhale", "dale", "ale", "pdp", "ice", "mplot"]


def read_only(table):
    copy = table.copy()
    copy.flags.writeable = False
    return copy


def every_second_of_a_larger_one(table):
    larger = np.full((2 * len(table), 2 * table.shape[1]), np.nan)
    larger[::2, 1::2] = table
    return larger[::2, 1::2]


def reversed_in_memory(table):
    return table[::-1].copy()[::-1]


def swapped_bytes(table):
    return table.astype(table.dtype.newbyteorder())


LAYOUTS = [
    np.asfortranarray,
    read_only,
    every_second_of_a_larger_one,
    reversed_in_memory,
    swapped_bytes,
    lambda table: np.ma.masked_array(table),
]
INDEXES = [
    lambda n: np.arange(n)[::-1],
    lambda n: np.zeros(n, dtype=int),
    lambda n: [f"row {i}" for i in range(n)],
    lambda n: pd.date_range("2020-01-01", periods=n),
    lambda n: pd.MultiIndex.from_product([[0], range(n)]),
]


def explain(model, table, local, **options):
    return rhale.explain(model.predict, table, gradient=model.gradient, local=local, **options)


def assert_same_numbers(a, b, rtol=0.0, atol=0.0):
    for one, other in zip(a.values(), b.values(), strict=True):
        for name in ("edges", "count", "mean", "std", "std_plain", "slope", "standard_error"):
            np.testing.assert_allclose(
                getattr(one, name), getattr(other, name), rtol=rtol, atol=atol, err_msg=name
            )


@settings(max_examples=24)
@given(matrices(), models(), st.sampled_from(["gradient", "secant"]), st.sampled_from(LAYOUTS))
def test_the_layout_in_memory_does_not_matter(table, model, local, layout):
    assert_same_numbers(explain(model, layout(table), local), explain(model, table, local))


@settings(max_examples=24)
@given(matrices(), models(), st.sampled_from(["gradient", "secant"]), st.sampled_from(INDEXES))
def test_the_index_of_a_data_frame_does_not_matter(table, model, local, index):
    frame = pd.DataFrame(table, index=index(len(table)))
    weights = pd.Series(np.arange(1.0, len(table) + 1), index=frame.index[::-1])
    assert_same_numbers(
        explain(model, frame, local, weights=weights),
        explain(model, table, local, weights=weights.to_numpy()),
    )


@settings(max_examples=15)
@given(matrices(), models(), st.sampled_from(["gradient", "secant"]))
def test_the_library_of_the_table_does_not_matter(table, model, local):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame(table, columns=["a", "b", "c"])
    expected = explain(model, table, local)

    def of_arrow(rows):
        return np.column_stack([c.to_numpy() for c in rows.columns])

    assert_same_numbers(explain(model, pl.from_pandas(frame), local), expected)
    arrow = rhale.explain(
        lambda rows: model.predict(of_arrow(rows)),
        pa.Table.from_pandas(frame),
        gradient=lambda rows: model.gradient(of_arrow(rows)),
        local=local,
    )
    assert_same_numbers(arrow, expected)


@settings(max_examples=15)
@given(matrices(), models())
def test_float32_gives_the_numbers_of_its_values(table, model):
    single = table.astype(np.float32)
    expected = explain(model, single.astype(np.float64), "gradient")
    assert_same_numbers(explain(model, single, "gradient"), expected)


@settings(max_examples=15)
@given(matrices(), models())
def test_secants_of_float32_agree_to_its_rounding(table, model):
    """The ends of a window are values that the column can hold."""
    single = table.astype(np.float32)
    ask = {"local": "secant", "bins": 5, "window": 0.1}
    expected = explain(model, single.astype(np.float64), **ask)
    assert_same_numbers(explain(model, single, **ask), expected, rtol=1e-3, atol=1e-3)


WHOLE = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float32]


@settings(max_examples=24)
@given(generators, models(), st.sampled_from(["gradient", "secant"]), st.sampled_from(WHOLE))
def test_whole_numbers_of_any_type_give_the_numbers_of_floats(rng, model, local, dtype):
    table = rng.integers(0, 9, (150, 3))
    table[:2] = [[0], [8]]
    expected = explain(model, table.astype(np.float64), local)
    found = explain(model, table.astype(dtype), local)
    assert_same_numbers(found, expected)


@settings(max_examples=20)
@given(generators, models(), st.sampled_from(["gradient", "secant"]))
def test_truth_values_give_the_numbers_of_zeros_and_ones(rng, model, local):
    table = rng.random((80, 3)) < 0.5
    table[:2] = [[True] * 3, [False] * 3]
    expected = explain(model, table.astype(np.float64), local)
    assert_same_numbers(explain(model, table, local), expected)
    frame = pd.DataFrame(table)
    assert_same_numbers(explain(model, frame, local), expected)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "int64[pyarrow]"])
def test_nullable_columns_without_missing_values_are_ordinary_columns(dtype):
    pytest.importorskip("pyarrow")
    values = np.random.default_rng(0).integers(0, 2, 60)
    frame = pd.DataFrame({"a": pd.array(values.astype(bool), dtype="boolean").astype(dtype)})

    def predict(rows):
        return 2.0 * rows.iloc[:, 0].to_numpy(dtype=float)

    found, expected = (rhale.explain(predict, f)["a"] for f in (frame, frame.astype(float)))
    assert found.mean.tolist() == expected.mean.tolist() == [2.0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_no_input_is_modified(method, kind):
    rng = np.random.default_rng(3)
    table, weights = rng.normal(size=(120, 2)), rng.uniform(0, 1, 120)
    data = table.copy() if kind == "array" else pd.DataFrame(table.copy())
    given_weights = weights.copy()
    rhale.explain(
        lambda rows: np.asarray(rows)[:, 0] ** 2,
        data,
        gradient=lambda rows: np.asarray(rows) * [2.0, 0.0],
        weights=given_weights,
        method=method,
    )
    np.testing.assert_array_equal(np.asarray(data), table)
    np.testing.assert_array_equal(given_weights, weights)


def test_precomputed_local_effects_are_not_modified():
    x, d, w = np.random.default_rng(3).uniform(size=(3, 200))
    copies = x.copy(), d.copy(), w.copy()
    effect = rhale.effect(x, d, weights=w)
    for mine, theirs in zip((x, d, w), copies, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.flags.writeable
    before = effect.mean.copy()
    d[:] = 0.0
    np.testing.assert_array_equal(effect.mean, before)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_model_that_writes_into_its_rows_gets_right_numbers_or_an_error(method, kind):
    table = np.random.default_rng(4).normal(size=(90, 2))
    data = table.copy() if kind == "array" else pd.DataFrame(table.copy(), columns=["x0", "x1"])

    def untidy(rows):
        if kind == "array":
            rows *= 2.0
        else:
            rows["x0"] = 2.0 * rows["x0"]
        return np.asarray(rows)[:, 0].copy()

    def explained(model):
        slopes = {"gradient": lambda rows: np.tile([2.0, 0.0], (len(rows), 1))}
        ask = slopes if method == "dale" else {}
        return rhale.explain(model, data, method=method, features="x0", **ask)["x0"]

    try:
        found = explained(untidy)
    except rhale.RhaleError:
        found = None
    assert found is None or found == explained(lambda rows: 2.0 * np.asarray(rows)[:, 0])
    np.testing.assert_array_equal(np.asarray(data), table)


@pytest.mark.parametrize("method", METHODS)
def test_global_random_states_stay_as_they_are(method):
    legacy, plain = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    rhale.explain(
        lambda rows: rows.sum(axis=1),
        np.random.default_rng(0).normal(size=(200, 2)),
        gradient=lambda rows: np.ones_like(rows),
        method=method,
        n_rows=100,
    )
    np.testing.assert_array_equal(np.random.get_state()[1], legacy)  # noqa: NPY002
    assert random.getstate() == plain


def test_the_settings_of_matplotlib_and_numpy_stay_as_they_are():
    mpl = pytest.importorskip("matplotlib")
    before, errors, shown = dict(mpl.rcParams), np.geterr(), np.get_printoptions()
    str(rhale.explain(lambda rows: rows[:, 0], np.random.default_rng(0).normal(size=(200, 2))))
    assert dict(mpl.rcParams) == before
    assert (np.geterr(), np.get_printoptions()) == (errors, shown)


def test_a_seed_chooses_the_rows_and_nothing_else_does():
    table = np.random.default_rng(0).normal(size=(500, 1))

    def count(seed):
        fx = rhale.explain(lambda rows: rows[:, 0] ** 3, table, n_rows=50, seed=seed)
        assert fx.provenance["rows"] == 50
        return fx["x0"]

    assert count(1) == count(1)
    assert count(1) != count(2)
