"""explain() and effect(): what they refuse and why, what they record, and that they stop cleanly."""

import warnings
from functools import partial
from types import SimpleNamespace

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse

import rhale
from rhale import errors
from rhale.data.table import Storage
from rhale.execution.gpu.table import TensorTable
from rhale.pipeline import _keep
from rhale.settings import Settings

RNG = np.random.default_rng(6)
X = RNG.normal(size=(200, 3))


def plane(rows):
    return rows @ np.array([1.0, -2.0, 0.5])[: rows.shape[1]]


def product(rows):
    return rows[:, 0] * rows[:, 1]


def refusal(kind, *arguments, **options):
    """The message of an error that must come."""
    with pytest.raises(kind) as caught:
        rhale.explain(*arguments, **options)
    assert isinstance(caught.value, errors.RhaleError)
    return str(caught.value)


# --- Tables ----------------------------------------------------------------------------------


def test_an_empty_table_is_refused():
    assert "no rows" in refusal(errors.BadTableError, plane, X[:0])
    assert "no rows" in refusal(errors.BadTableError, plane, pd.DataFrame({"a": []}))
    assert "no columns" in refusal(errors.BadTableError, plane, X[:, :0])


def test_one_row_is_refused_and_says_what_is_needed():
    message = refusal(errors.BadTableError, plane, X[:1])
    assert "one row" in message
    assert "at least two rows" in message


@pytest.mark.parametrize(
    ("data", "found", "advice"),
    [
        (X[:, 0], "shape (200,)", ".reshape(-1, 1)"),
        (X[None], "shape (1, 200, 3)", "(n_rows, n_features)"),
        (X.astype(object), "type object", ".astype(float)"),
        (X + 1j, "type complex128", "real numbers"),
        (X.astype(str), "type <U", ".astype(float)"),
        (X.tolist(), "list is not a table", "np.asarray"),
        ({"a": [1.0, 2.0]}, "dict is not a table", "pandas.DataFrame"),
        (None, "NoneType is not a table", "NumPy array"),
        (sparse.csr_array(X), "csr_array is not a table", ".toarray()"),
        (sparse.csr_matrix(X), "csr_matrix is not a table", ".toarray()"),
        (pl.DataFrame({"a": [1.0, 2.0]}).lazy(), "LazyFrame is lazy", ".collect()"),
        (np.ma.masked_greater(X, 1), "masked values", "fill them"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_table_is_refused_with_the_way_out(data, found, advice):
    message = refusal(errors.BadTableError, plane, data)
    assert found in message
    assert advice in message


def test_several_levels_of_column_names_are_refused():
    table = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert "join them into one name" in refusal(errors.BadTableError, plane, table)


@pytest.mark.parametrize("names", [["a", "b", "a"], [1, "1", "b"]])
def test_repeated_column_names_are_refused_and_named(names):
    message = refusal(errors.BadTableError, plane, pd.DataFrame(X, columns=names))
    assert "must differ" in message
    assert str(names[0]) in message


@pytest.mark.parametrize(
    "column",
    [pl.Series([[1, 2]] * 200), pl.Series([b"x"] * 200), pl.Series([{"a": 1}] * 200)],
    ids=["lists", "bytes", "structs"],
)
def test_columns_that_cannot_be_explained_are_named_and_can_be_left_out(column):
    table = pl.DataFrame({"good": X[:, 0], "bad": column})
    message = refusal(errors.BadTableError, lambda rows: rows["good"], table)
    assert "'bad'" in message
    assert "features=" in message
    fx = rhale.explain(lambda rows: rows["good"], table, features=["good"])
    assert fx["good"].mean == pytest.approx(np.ones(fx["good"].mean.size))


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, None], ids=["pandas", "polars", "numpy"]
)
@pytest.mark.parametrize(
    ("value", "kind"),
    [(np.inf, "infinite values"), (-np.inf, "infinite")],
)
def test_infinite_values_are_named_with_their_column_and_row(make, value, kind):
    numbers = X.copy()
    numbers[17, 1] = value
    table = numbers if make is None else make({f"x{i}": numbers[:, i] for i in range(3)})
    message = refusal(errors.BadTableError, lambda rows: np.zeros(len(rows)), table)
    assert "'x1'" in message
    assert kind in message
    assert "row 17" in message
    assert "features=" in message


def test_a_feature_without_any_value_is_refused():
    table = pl.DataFrame(
        {"full": X[:, 0], "void": [None] * 200}, schema_overrides={"void": pl.Float64}
    )
    message = refusal(errors.BadTableError, lambda rows: np.zeros(len(rows)), table)
    assert "'void' has no value in any of 200 rows" in message


def test_values_whose_squares_overflow_are_refused():
    message = refusal(errors.BadTableError, plane, X * 1e200)
    assert "beyond 1e+150" in message
    assert "rescale" in message


# --- Names -----------------------------------------------------------------------------------


def test_an_unknown_feature_is_answered_with_near_names():
    table = pd.DataFrame(X, columns=["age", "income", "height"])
    message = refusal(errors.UnknownFeatureError, lambda r: r["age"], table, features="incom")
    assert "'incom'" in message
    assert "did you mean 'income'?" in message
    assert "'age'" in message


@pytest.mark.parametrize("features", [3, -4, "3", 1.5, ["x0", "y"], [None], "age", ["x0", 1.5]])
def test_features_that_are_not_there_are_refused(features):
    message = refusal(errors.UnknownFeatureError, plane, X, features=features)
    assert "there is no feature" in message
    assert "'x0', 'x1', 'x2'" in message


def test_features_are_named_by_position_in_any_order():
    fx = rhale.explain(plane, X, features=[2, "x0", -2])
    assert fx.features == ("x2", "x0", "x1")
    assert fx["x2"].mean == pytest.approx(np.full(fx["x2"].mean.size, 0.5))


@pytest.mark.parametrize(
    "features",
    [np.int64(1), np.array([1]), (1,), range(1, 2), -2, {"x1"}, {"x1": "as a key"}],
    ids=["NumPy number", "array", "tuple", "range", "negative", "set", "mapping"],
)
def test_features_may_come_in_any_collection(features):
    assert rhale.explain(plane, X, features=features).features == ("x1",)


def test_a_number_means_the_name_before_the_position():
    table = pd.DataFrame(X, columns=["2", "b", "c"])
    assert rhale.explain(lambda r: r["b"], table, features=2).features == ("2",)
    assert rhale.explain(lambda r: r["b"], table, features=1).features == ("b",)


def test_asking_for_no_feature_or_twice_for_one_is_refused():
    assert "is empty; name at least one" in refusal(errors.BadSettingError, plane, X, features=[])
    assert "twice" in refusal(errors.BadSettingError, plane, X, features=["x0", 0])


# --- Weights ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "found"),
    [
        (np.ones(199), "shape (199,), the table has 200 rows"),
        (np.ones((200, 1)), "shape (200, 1)"),
        (1.0, "shape ()"),
        (np.where(np.arange(200) == 7, -1.0, 1.0), "row 7 has -1.0"),
        (np.where(np.arange(200) == 8, np.nan, 1.0), "row 8 has nan"),
        (np.where(np.arange(200) == 9, np.inf, 1.0), "row 9 has inf"),
        (np.zeros(200), "fewer than two rows"),
        (np.arange(200) == 3, "fewer than two rows"),
        (["a"] * 200, "must be numbers"),
        ("x0", "row 1 has"),
    ],
    ids=["short", "square", "number", "negative", "nan", "inf", "zero", "one", "text", "name"],
)
def test_weights_that_make_no_sense_are_refused(weights, found):
    assert found in refusal(errors.BadTableError, plane, X, weights=weights)
    if np.shape(weights) == (200,):
        with pytest.raises(errors.BadTableError, match="weight"):
            rhale.effect(X[:, 0], X[:, 1], weights=weights)


def test_a_row_of_weight_zero_is_a_row_that_is_not_there():
    weights = np.where(np.arange(200) < 50, 0.0, 1.0)
    spoiled = X.copy()
    spoiled[:50] = 1e6  # would move every range
    for method in ("rhale", "ale", "pdp"):
        found = rhale.explain(product, spoiled, weights=weights, method=method)
        expected = rhale.explain(product, X[50:], method=method)
        assert found["x0"].mean == pytest.approx(expected["x0"].mean, rel=1e-12)
        assert found.provenance["rows"] == 150


@pytest.mark.parametrize("scale", [1e-300, 1e200, 3.0])
def test_scaling_all_weights_changes_nothing(scale):
    weights = np.random.default_rng(0).uniform(0.5, 2, 200)
    expected = rhale.explain(product, X, weights=weights, bins=3)
    found = rhale.explain(product, X, weights=scale * weights, bins=3)
    for a, b in zip(found.values(), expected.values(), strict=True):
        assert a.mean == pytest.approx(b.mean, rel=1e-9)
        assert a.std == pytest.approx(b.std, rel=1e-9)
        assert a.standard_error == pytest.approx(b.standard_error, rel=1e-9)
        assert a.importance == pytest.approx(b.importance, rel=1e-9)


# --- Settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "asked", "advice"),
    [
        ({"method": "shap"}, "method='shap'", "rhale, dale, ale"),
        ({"local": "tiny"}, "local='tiny'", "auto, gradient, secant"),
        ({"bins": "many"}, "bins='many'", "Optimal("),
        ({"bins": 0}, "n_bins=0", "positive"),
        ({"bins": True}, "bins=True", "Optimal("),
        ({"bins": 2.5}, "bins=2.5", "a number"),
        ({"bins": rhale.Optimal}, "Optimal", "Optimal("),
        ({"bins": {"x0": "few"}}, "bins='few'", "Optimal("),
        ({"window": 0}, "window=0", "(0, 1]"),
        ({"window": 1.5}, "window=1.5", "(0, 1]"),
        ({"window": float("nan")}, "window=nan", "(0, 1]"),
        ({"window": "wide"}, "window='wide'", "(0, 1]"),
        ({"seed": -1}, "seed=-1", "whole number"),
        ({"seed": "lucky"}, "seed='lucky'", "whole number"),
        ({"gradient": 3.0}, "gradient=3.0", "callable"),
        ({"output": []}, "output=[]", "at least one"),
        ({"output": [0, 0]}, "output=[0, 0]", "twice"),
        ({"bins": rhale.Edges([0, 1], closed="right"), "method": "dance"}, "'dance'", "rhale"),
        ({"n_rows": 0}, "n_rows=0", "positive whole number"),
        ({"n_rows": 1}, "n_rows=1", "at least two"),
        ({"n_rows": 10.0}, "n_rows=10.0", "positive whole number"),
        ({"batch_size": 0}, "batch_size=0", "positive whole number"),
        ({"batch_size": 1.5}, "batch_size=1.5", "positive whole number"),
        ({"limits": (0, 1)}, "3 features", "mapping"),
        ({"features": 0, "limits": (1, 0)}, "(1.0, 0.0)", "low < high"),
        ({"features": 0, "limits": (0, np.inf)}, "inf", "finite"),
        ({"features": 0, "limits": 3}, "found 3", "(low, high)"),
        ({"features": 0, "limits": ("a", "b")}, "('a', 'b')", "two numbers"),
        ({"categorical": True}, "categorical=", "by column"),
        ({"categorical": {"x0": "a"}}, "'a'", "order of levels"),
        ({"categorical": {"x0": [1.0, 1.0]}}, "'x0'", "twice"),
        ({"categorical": {"x0": [1.0]}}, "'x0'", "list every level"),
        ({"categorical": ["x0"], "limits": {"x0": (0, 1)}}, "'x0'", "has levels"),
        ({"method": "dale", "local": "secant"}, "method='dale'", "'rhale'"),
        ({"method": "ale", "local": "gradient"}, "method='ale'", "'dale'"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(options, asked, advice):
    message = refusal(errors.BadSettingError, plane, X, **options)
    assert asked in message
    assert advice in message


@pytest.mark.parametrize(
    "make", [rhale.Fixed, rhale.Quantile, lambda n, **o: rhale.Edges(range(n), **o)]
)
def test_bins_closed_on_an_unknown_side_are_refused(make):
    with pytest.raises(errors.BadSettingError, match="closed='middle'"):
        rhale.explain(plane, X, method="pdp", bins=make(5, closed="middle"))


def test_an_unknown_response_is_refused_for_estimators_and_for_functions():
    class Line:
        def predict(self, rows):
            return plane(rows)

    message = refusal(errors.BadSettingError, Line(), X, response="probability")
    assert "predict_proba" in message
    assert "has no predict_proba" in refusal(
        errors.UnknownModelError, Line(), X, response="predict_proba"
    )
    assert "for estimators" in refusal(errors.UnknownModelError, plane, X, response="predict")


def test_limits_and_bins_of_unknown_features_are_answered_with_near_names():
    message = refusal(errors.UnknownFeatureError, plane, X, limits={"x9": (0, 1)})
    assert "'x9'" in message
    message = refusal(errors.UnknownFeatureError, plane, X, bins={"x0": 3, "x9": 4})
    assert "'x9'" in message


def test_bins_of_single_features_are_given_by_name_or_position():
    fx = rhale.explain(plane, X, bins={"x0": 3, 1: rhale.Fixed(5)})
    assert fx["x0"].mean.size == 3
    assert fx["x1"].mean.size == 5
    assert fx["x2"].mean.size == 1  # left to the method: a constant effect is one bin


def test_a_gradient_that_the_model_does_not_have_is_refused():
    for options in ({"local": "gradient"}, {"method": "dale"}):
        message = refusal(errors.NotDifferentiableError, plane, X, **options)
        assert "gradient=" in message
        assert "'secant'" in message


@pytest.mark.parametrize("model", [3, None, X, int], ids=str)
def test_what_is_no_model_is_refused(model):
    message = refusal(errors.UnknownModelError, model, X)
    assert "predict" in message or "fitted instance" in message


# --- Models that misbehave -------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: 1.0,
        lambda rows: np.zeros(len(rows) + 1),
        lambda rows: np.zeros((1, len(rows))),
        lambda rows: np.zeros((len(rows), 0)),
        lambda rows: np.zeros((len(rows), 2, 2)),
        lambda _: None,
    ],
    ids=["number", "one too many", "lying", "nothing", "cube", "None"],
)
def test_answers_of_the_wrong_shape_are_refused_with_both_shapes(answer):
    with pytest.raises((errors.WrongShapeError, errors.BadPredictionError)) as caught:
        rhale.explain(answer, X)
    message = str(caught.value)
    assert "(n_rows,)" in message or "return numbers" in message


def test_complex_predictions_are_refused():
    message = refusal(errors.BadPredictionError, lambda rows: rows[:, 0] + 1j, X)
    assert "complex" in message


def test_a_model_that_changes_its_number_of_outputs_is_refused():
    def moody(rows):
        return np.zeros((len(rows), 1 if len(rows) < 50 else 2))

    assert "1 outputs at first and 2 later" in refusal(errors.WrongShapeError, moody, X)


def test_predictions_that_are_all_nan_are_refused():
    message = refusal(errors.BadPredictionError, lambda rows: np.full(len(rows), np.nan), X)
    assert "nan or infinity for 32 of 32 rows" in message
    assert "finite predictions" in message


def test_predictions_that_become_infinite_away_from_the_data_name_the_feature():
    def pole(rows):
        x = rows[:, 0]
        return np.where(np.isin(x, X[:, 0]), x, np.inf)

    message = refusal(errors.BadPredictionError, pole, X, features=0, method="pdp")
    assert "when 'x0' is changed from" in message


def test_a_model_that_is_random_is_refused():
    rng = np.random.default_rng(0)
    message = refusal(errors.BadPredictionError, lambda rows: rng.random(len(rows)), X)
    assert "different predictions for the same row" in message
    assert "random" in message


def test_a_model_whose_answers_depend_on_the_batch_is_refused():
    message = refusal(errors.BadPredictionError, lambda r: r[:, 0] - r[:, 0].mean(), X)
    assert "other rows of the batch" in message


def test_a_model_that_is_zero_everywhere_is_no_random_model():
    fx = rhale.explain(lambda rows: np.zeros(len(rows)), X)
    assert [effect.importance for effect in fx.values()] == [0.0, 0.0, 0.0]


class Fragile:
    """Raises at the n-th call."""

    def __init__(self, n_calls, error):
        self.left, self.error = n_calls, error

    def __call__(self, rows):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return product(rows)


@pytest.mark.parametrize("n_calls", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("method", ["rhale", "ale", "pdp"])
def test_an_error_of_the_model_is_named_as_its_own_and_keeps_its_cause(n_calls, method):
    error = ZeroDivisionError("no more")
    model = Fragile(n_calls, error)
    message = refusal(errors.ModelFailedError, model, X, method=method, batch_size=50)
    assert "ZeroDivisionError: no more" in message
    assert "rows" in message
    with pytest.raises(RuntimeError) as caught:
        rhale.explain(Fragile(n_calls, error), X, method=method, batch_size=50)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "ice"])
def test_an_error_of_the_model_names_the_feature_that_was_moved(method):
    def sturdy_at_home(rows):
        if not np.isin(rows[:, 1], X[:, 1]).all() or len(rows) > 200:
            raise ArithmeticError
        return product(rows)

    message = refusal(errors.ModelFailedError, sturdy_at_home, X, method=method, features="x1")
    assert "with 'x1'" in message or "when 'x1' is changed" in message


@pytest.mark.parametrize("n_calls", [1, 3, 4, 8])
def test_control_c_passes_through_and_nothing_is_left_behind(n_calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = Fragile(n_calls, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        rhale.explain(model, X, batch_size=20)
    assert list(tmp_path.iterdir()) == []
    assert np.all(np.isfinite(rhale.explain(model, X)["x0"].mean))  # a second run works


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "effects.json"
    fx = rhale.explain(product, X)
    fx.save(path)
    before = path.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rhale.explain(plane, X).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["effects.json"]
    assert path.read_bytes() == before


# --- Gradients that misbehave ----------------------------------------------------------------


@pytest.mark.parametrize(
    "gradient",
    [
        lambda rows: rows[:, 0],
        lambda rows: rows[:, :2],
        lambda rows: rows[:-1],
        lambda rows: rows.T,
        lambda rows: np.zeros((len(rows), 2, 3)),
    ],
    ids=["one feature", "a column less", "a row less", "lying", "two outputs"],
)
def test_a_gradient_of_the_wrong_shape_is_refused_with_the_right_one(gradient):
    message = refusal(errors.WrongShapeError, plane, X, gradient=gradient)
    for part in ("gradient", "shape", "rows", "return"):
        assert part in message


def test_one_gradient_for_two_outputs_is_refused():
    def two(rows):
        return np.column_stack([plane(rows), product(rows)])

    message = refusal(errors.WrongShapeError, two, X, gradient=lambda rows: rows)
    assert "2 outputs" in message


def test_a_gradient_with_nan_names_row_and_column_and_the_way_out():
    def gradient(rows):
        slopes = np.ones_like(rows)
        slopes[rows[:, 0] == X[5, 0], 2] = np.nan
        return slopes

    message = refusal(errors.BadPredictionError, plane, X, gradient=gradient, local="gradient")
    assert "nan in row 5, column 2" in message
    assert "local='secant'" in message


def test_a_gradient_that_raises_is_the_model_s_failure():
    def gradient(_):
        msg = "no slope"
        raise ArithmeticError(msg)

    message = refusal(errors.ModelFailedError, plane, X, gradient=gradient)
    assert "when computing its gradient" in message
    assert "no slope" in message


# --- Features with little to say -------------------------------------------------------------


@pytest.mark.parametrize("method", ["rhale", "ale", "dale", "pdp", "ice", "mplot"])
def test_a_constant_feature_is_kept_with_a_note_and_without_importance(method):
    rows = X.copy()
    rows[:, 1] = 4.0
    fx = rhale.explain(
        product,
        rows,
        method=method,
        gradient=lambda r: np.column_stack([r[:, 1], r[:, 0], 0 * r[:, 0]]),
    )
    assert fx.features == ("x0", "x1", "x2")
    assert fx["x1"].importance == 0.0
    assert fx["x0"].importance > 1
    if method not in ("pdp", "ice", "mplot"):
        assert "constant: always 4" in fx["x1"].notes[0]
        assert fx["x1"].count.tolist() == [200]
    assert "x1" in str(fx)


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp"])
def test_a_constant_feature_does_not_spoil_the_explained_variance(method):
    rows = X.copy()
    rows[:, 1] = 4.0
    assert rhale.explain(product, rows, method=method).explained_variance == pytest.approx(1.0)


def test_a_table_of_constants_is_explained_by_notes_alone():
    fx = rhale.explain(plane, np.ones((20, 3)))
    assert [effect.importance for effect in fx.values()] == [0.0, 0.0, 0.0]
    assert all("constant" in effect.notes[0] for effect in fx.values())


@pytest.mark.parametrize("dtype", [float, int, bool])
def test_two_values_give_the_difference_between_them(dtype):
    rows = np.column_stack([np.arange(200) % 2, RNG.integers(0, 2, 200)]).astype(dtype)

    def model(asked):
        return 5.0 * asked[:, 0] + 3.0 * asked[:, 0] * asked[:, 1]

    effect = rhale.explain(model, rows, features=0)[0]
    share = rows[:, 1].astype(float)
    assert effect.edges[[0, -1]].tolist() == [0.0, 1.0]
    assert effect.curve(1.0, center="start") == pytest.approx(5 + 3 * share.mean(), rel=1e-12)
    assert effect.heterogeneity == pytest.approx(3 * share.std(ddof=1), rel=0.02)


def test_fewer_rows_than_the_smallest_bin_give_one_bin_and_a_note():
    bins = rhale.Optimal(min_points=500)
    effect = rhale.explain(product, X, features=0, bins=bins)[0]
    assert effect.mean.size == 1
    assert any("no bin can have 500 rows out of 200: one bin" in note for note in effect.notes)


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "ice", "mplot"])
def test_two_rows_are_enough(method):
    fx = rhale.explain(plane, X[:2], method=method)
    assert len(fx) == 3
    assert np.isfinite(fx["x0"].importance)


# --- Scales ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "scale"), [(1e9, 1.0), (1.7e9, 86400.0), (0.0, 1e9), (0.0, 1e-9), (-1e9, 1e3)]
)
@pytest.mark.parametrize("local", ["gradient", "secant"])
def test_features_near_a_billion_and_a_billionth_are_explained_like_others(shift, scale, local):
    z = np.random.default_rng(0).integers(0, 2**20, size=(2000, 2)) / 2**20
    factors = np.array([scale, 1.0])

    def model(rows):
        u = (rows - [shift, 0]) / factors
        return u[:, 0] ** 2 + u[:, 0] * u[:, 1]

    def gradient(rows):
        u = (rows - [shift, 0]) / factors
        return np.column_stack([(2 * u[:, 0] + u[:, 1]) / scale, u[:, 0]])

    rows = z * factors + [shift, 0]
    effect = rhale.explain(model, rows, features=0, gradient=gradient, local=local)[0]
    places = np.array([0.25, 0.5, 0.75])
    # slope 2z + E[x2], so the curve from 0 is z² + z/2
    found = effect.curve(places * scale + shift) - effect.curve(0.1 * scale + shift)
    truth = places**2 + places * z[:, 1].mean() - 0.01 - 0.1 * z[:, 1].mean()
    assert found == pytest.approx(truth, abs=0.03)
    assert effect.heterogeneity * scale == pytest.approx(z[:, 1].std(), rel=0.1)


@pytest.mark.parametrize(
    ("size", "found", "advice"),
    [
        (1e300, "2e+300", "Divide the model's output"),
        (1e-300, "2e-300", "Multiply the model's output"),
    ],
)
def test_effects_whose_squares_are_no_numbers_are_refused_with_the_way_out(size, found, advice):
    d = size * (1 + np.arange(200) % 2)
    with pytest.raises(errors.BadEffectsError) as caught:
        rhale.effect(X[:, 0], d, bins=1)
    assert found in str(caught.value)
    assert advice in str(caught.value)


@pytest.mark.parametrize("size", [2.0**400, 2.0**-400])
def test_large_and_small_effects_are_scaled_effects(size):
    d = 1.0 + np.arange(200) % 2
    effect = rhale.effect(X[:, 0], size * d, bins=1)
    assert effect.mean == pytest.approx([1.5 * size], rel=1e-12)
    assert effect.std == pytest.approx([0.5 * size * np.sqrt(200 / 199)], rel=1e-9)


@pytest.mark.parametrize("method", ["rhale", "ale"])
def test_a_model_with_huge_slopes_is_refused_without_warnings(method):
    message = refusal(errors.BadEffectsError, lambda r: 1e300 * product(r), X, method=method)
    assert "e+30" in message


@pytest.mark.parametrize("bins", [1, 2, 7, None])
def test_importance_of_a_straight_line_is_the_deviation_of_its_values_over_the_rows(bins):
    rows = np.random.default_rng(9).lognormal(size=(300, 1))
    fx = rhale.explain(lambda r: 3 * r[:, 0], rows, gradient=lambda r: 3 + 0 * r, bins=bins)
    assert fx[0].importance == pytest.approx(3 * rows.std(), rel=0.02)


# --- Limits and edges ------------------------------------------------------------------------


def test_rows_outside_the_limits_are_left_out_and_counted_in_a_note():
    inside = np.abs(X[:, 0]) <= 1
    fx = rhale.explain(product, X, features=0, limits=(-1, 1), bins=4)
    n_out = int(np.sum(~inside))
    assert fx[0].edges.tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert fx[0].count.sum() == inside.sum()
    assert any(f"{n_out} of 200 rows lie outside [-1, 1]" in note for note in fx[0].notes)


def test_limits_of_one_feature_leave_the_others_alone():
    fx = rhale.explain(product, X, limits={"x0": (-1, 1)})
    assert fx["x0"].edges[[0, -1]].tolist() == [-1.0, 1.0]
    assert fx["x1"].edges[[0, -1]].tolist() == [X[:, 1].min(), X[:, 1].max()]
    assert fx["x1"].count.sum() == 200


def test_limits_wider_than_the_data_are_kept():
    fx = rhale.explain(plane, X, features=0, limits=(-10, 10), bins=2)
    assert fx[0].edges.tolist() == [-10.0, 0.0, 10.0]
    assert not any("left out" in note for note in fx[0].notes)


def test_limits_without_rows_are_refused():
    message = refusal(errors.RhaleError, plane, X, features=0, limits=(50, 60))
    assert "x0" in message
    assert "50" in message


@pytest.mark.parametrize("method", ["rhale", "ale"])
def test_edges_without_rows_are_refused(method):
    message = refusal(
        errors.RhaleError, plane, X, features=0, bins=rhale.Edges([50, 55, 60]), method=method
    )
    assert "x0" in message


@pytest.mark.parametrize("method", ["rhale", "ale"])
def test_edges_inside_the_data_leave_rows_out_and_say_so(method):
    edges = [-0.5, 0.0, 0.5]
    fx = rhale.explain(product, X, features=0, bins=rhale.Edges(edges), method=method)
    inside = np.abs(X[:, 0]) <= 0.5
    assert fx[0].edges.tolist() == edges
    assert fx[0].count.sum() == inside.sum()
    assert any(f"{200 - inside.sum()} of 200 rows" in note for note in fx[0].notes)


def test_limits_between_whole_numbers_leave_out_the_rows_beyond_them():
    rows = np.random.default_rng(0).integers(0, 9, size=(200, 1))
    fx = rhale.explain(lambda r: r[:, 0] ** 2.0, rows, method="ale", limits=(2.5, 6.5), bins=4)
    inside = (rows[:, 0] >= 3) & (rows[:, 0] <= 6)
    assert fx[0].count.sum() == inside.sum()
    assert fx[0].edges[0] >= 2.5
    assert fx[0].edges[-1] <= 6.5


@pytest.mark.parametrize("edges", [[0], [1, 0], [0, np.nan, 1], [0, np.inf], []])
def test_edges_that_do_not_increase_are_refused(edges):
    with pytest.raises(errors.BadSettingError, match="increasing"):
        rhale.explain(plane, X, features=0, bins=rhale.Edges(edges))


# --- What is recorded ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "mplot"])
@pytest.mark.parametrize("batch_size", [None, 37, 200, 1000])
def test_a_progress_callback_sees_every_row(method, batch_size):
    seen = []
    rhale.explain(
        product,
        X,
        method=method,
        batch_size=batch_size,
        progress=lambda done, total: seen.append((done, total)),
    )
    done = [d for d, _ in seen]
    assert {total for _, total in seen} == {200}
    assert done[-1] == 200
    assert done == sorted(done)


def test_progress_can_be_shown_as_a_bar(capsys):
    rhale.explain(product, X, progress=True)
    captured = capsys.readouterr()
    assert "200" in captured.err
    assert captured.out == ""


def test_nothing_is_printed_without_being_asked(capsys):
    rhale.explain(product, X)
    assert capsys.readouterr() == ("", "")


def test_a_draw_of_rows_is_recorded_and_repeatable():
    first, again = (rhale.explain(product, X, n_rows=80, seed=4) for _ in range(2))
    other = rhale.explain(product, X, n_rows=80, seed=5)
    assert (first.provenance["rows"], first.provenance["rows_in_table"]) == (80, 200)
    assert first.provenance["seed"] == 4
    assert first.effects == again.effects
    assert sorted(first.sample_x.tolist()) != sorted(other.sample_x.tolist())
    assert "80 of 200 rows" in str(first)
    assert {tuple(row) for row in first.sample_x} <= {tuple(row) for row in X}


def test_a_draw_of_weighted_rows_keeps_each_row_with_its_weight():
    weights = 1 + np.abs(X[:, 0])
    fx = rhale.explain(product, X, n_rows=80, seed=4, weights=weights)
    assert fx.sample_weight == pytest.approx(1 + np.abs(fx.sample_x[:, 0]), rel=1e-12)


def test_asking_for_more_rows_than_there_are_takes_all():
    assert rhale.explain(product, X, n_rows=10_000).effects == rhale.explain(product, X).effects


def test_neither_the_global_random_state_nor_the_warning_filters_change():
    state, filters = np.random.get_state()[1].copy(), list(warnings.filters)  # noqa: NPY002
    rhale.explain(product, X, n_rows=50)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert list(warnings.filters) == filters


def test_the_record_says_what_was_explained_and_how():
    record = rhale.explain(product, pd.DataFrame(X, columns=list("abc")).to_numpy()).provenance
    assert record["method"] == "rhale"
    assert record["model"] == "function"
    assert record["table"] == "numpy"
    assert record["columns"] == ["x0", "x1", "x2"]
    assert record["rows"] == 200
    assert record["bins"] == repr(rhale.Adaptive())


def test_row_order_does_not_matter():
    order = RNG.permutation(200)
    for method in ("rhale", "ale", "pdp"):
        a = rhale.explain(product, X, method=method)
        b = rhale.explain(product, X[order], method=method)
        assert a["x0"].mean == pytest.approx(b["x0"].mean, rel=1e-10)
        assert a["x0"].std == pytest.approx(b["x0"].std, rel=1e-10)


def test_narwhals_frames_are_tables_too():
    frame = nw.from_native(pd.DataFrame(X, columns=list("abc")), eager_only=True)
    fx = rhale.explain(lambda rows: np.asarray(rows["a"]), frame)
    assert fx.features == ("a", "b", "c")


def test_progress_moves_in_small_steps_and_changes_no_number():
    x = np.random.default_rng(0).normal(size=(20_000, 2))
    seen = []
    watched = rhale.explain(product, x, progress=lambda done, total: seen.append((done, total)))
    plain = rhale.explain(product, x)
    assert len(seen) == 50
    assert seen[0] == (400, 20_000)
    assert seen[-1] == (20_000, 20_000)
    for a, b in zip(watched.values(), plain.values(), strict=True):
        np.testing.assert_array_equal(a.edges, b.edges)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-12)


# --- Weights and levels by name ------------------------------------------------------------------


def test_a_column_of_weights_is_no_feature_and_the_model_does_not_see_it():
    table = pd.DataFrame(X, columns=["a", "b", "w"])
    table["w"] = np.abs(table["w"])
    seen = []

    def model(rows):
        seen.append(tuple(rows.columns))
        return rows["a"] * rows["b"]

    named = rhale.explain(model, table, weights="w")
    given = rhale.explain(model, table[["a", "b"]], weights=table["w"].to_numpy())
    assert set(seen) == {("a", "b")}
    assert named.features == ("a", "b")
    assert named.effects == given.effects


def test_a_column_of_an_array_can_hold_the_weights():
    table = np.abs(X)
    named = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], table, weights="x1")
    given = rhale.explain(
        lambda rows: rows[:, 0] * rows[:, 1], table[:, [0, 2]], weights=table[:, 1]
    )
    assert named.features == ("x0", "x2")
    for a, b in zip(named.values(), given.values(), strict=True):
        assert a.mean.tolist() == b.mean.tolist()


def test_a_column_of_names_holds_no_weights():
    table = pd.DataFrame({"a": X[:, 0], "w": ["x"] * len(X)})
    message = refusal(errors.BadTableError, lambda rows: rows["a"], table, weights="w")
    assert "'w'" in message
    unknown = refusal(errors.UnknownFeatureError, lambda rows: rows["a"], table, weights="v")
    assert "'v'" in unknown


def test_another_explanation_lends_its_levels_and_their_order():
    letters = np.random.default_rng(0).choice(list("abcd"), len(X))
    table = pd.DataFrame({"x": X[:, 0], "few": np.arange(len(X)) % 4, "name": letters})

    def model(rows):
        return rows["x"] * (rows["name"] == "b") + rows["few"]

    order = ["c", "a", "d", "b"]
    first = rhale.explain(model, table, categorical={"name": order})
    again = rhale.explain(model, table, bins=first)
    assert again["name"].levels == tuple(order)
    assert again["few"].levels == ("0", "1", "2", "3")
    assert again["name"].step == pytest.approx(first["name"].step)
    table.loc[0, "name"] = "e"
    message = refusal(errors.BadSettingError, model, table, bins=first)
    assert "no levels 'e'" in message
    assert "categorical=" in message


def test_a_gradient_may_be_undefined_where_the_value_is_missing():
    rows = X.copy()
    rows[::7, 0] = np.nan

    def model(rows):
        return 3 * np.nan_to_num(rows[:, 0]) + rows[:, 1]

    def gradient(rows):
        slopes = np.tile([3.0, 1.0, 0.0], (len(rows), 1))
        slopes[np.isnan(rows[:, 0]), 0] = np.nan
        return slopes

    fx = rhale.explain(model, rows, gradient=gradient)
    assert fx["x0"].mean == pytest.approx([3.0])
    assert fx["x0"].count.sum() == np.sum(~np.isnan(rows[:, 0]))
    wrong = refusal(
        errors.BadPredictionError, model, rows, gradient=lambda r: np.full((len(r), 3), np.inf)
    )
    assert "gradient is" in wrong


def test_the_sample_of_an_effect_of_levels_holds_the_steps_of_its_rows():
    table = pd.DataFrame({"few": [0, 0, 2, 2, 3, 3], "scale": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    effect = rhale.explain(lambda r: r["few"] ** 2 * r["scale"], table, features="few")["few"]
    found = sorted(zip(effect.sample.x, effect.sample.local_effects, strict=True))
    first = [(1.0, 2.0 * scale) for scale in (1, 2, 3, 4)]  # (2² - 0²) / 2
    second = [(2.5, 5.0 * scale) for scale in (3, 4, 5, 6)]  # 3² - 2²
    assert [x for x, _ in found] == [x for x, _ in first + second]
    assert [d for _, d in found] == pytest.approx([d for _, d in first + second])


@pytest.mark.parametrize("step", ["rhale.api.conclude", "rhale.pipeline.conclude_all"])
@pytest.mark.parametrize("error", [OverflowError, errors.BadSettingError])
def test_sums_of_a_checkpoint_that_nothing_can_be_made_of_are_blamed(
    tmp_path, monkeypatch, step, error
):
    def fail(*_):
        raise error

    rows = np.random.default_rng(0).normal(size=(300, 2))
    call = partial(rhale.explain, lambda x: x[:, 0], rows, checkpoint=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(error):  # nothing was read yet
            call()
        with pytest.raises(
            errors.CheckpointError, match=r"effects-65536.checkpoint is damaged \(its sums"
        ):
            call()
    assert call().features == ("x0", "x1")


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    rows = np.random.default_rng(3).normal(size=(200, 2))
    rhale.explain(lambda x: x[:, 0], rows, checkpoint=tmp_path)
    with pytest.raises(errors.CheckpointError, match="another model"):
        rhale.explain(lambda x: 2 * x[:, 0], rows, checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            SimpleNamespace(storage=Storage(no_resume="that; pass this")),
            "work with that; pass this",
        ),
        (
            TensorTable(torch.zeros(2, 1), torch.device("cpu")),
            "does not work with rows on a device",
        ),
    ],
)
def test_tables_that_cannot_be_gone_on_with_get_no_checkpoint(tmp_path, table, message):
    asked = Settings(checkpoint=tmp_path / "kept")
    kept = _keep(SimpleNamespace(table=table, asked=asked))
    with pytest.raises(errors.BadSettingError, match=message), kept:
        pass
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    "make", [np.asarray, lambda x: pd.DataFrame(x, columns=["x0", "x1", "x2"])]
)
def test_the_model_sees_the_columns_that_were_asked_for_in_their_order(make):
    rows, seen = np.random.default_rng(3).normal(size=(100, 3)), []

    def model(x):
        seen.append(np.asarray(x))
        return seen[-1][:, 0]

    fx = rhale.explain(model, make(rows), columns=["x2", "x0"], method="mplot")
    assert fx.features == ("x2", "x0")
    assert np.isin(seen[0][:, 0], rows[:, 2]).all()
    assert np.isin(seen[0][:, 1], rows[:, 0]).all()
