"""Models of raw tables: text, dates, missing values, several outputs.

Every step, every bin and every missing point is compared with the model's own answers, asked one
row and one value at a time of the whole column.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

import rhale
from rhale.effects.level_effect import LevelEffect

ROOT = Path(__file__).resolve().parents[2]
BESIDE = ROOT.parent / "shared" / "data" / "california_housing.csv"
CALIFORNIA = Path(os.environ.get("RHALE_CALIFORNIA_CSV") or BESIDE)

NUMBERS, N_ROWS = ["size", "income", "rooms", "owned"], 300
CITIES = {"Bern": 0.5, "Oslo": 2.0, "Paris": -1.0, "Rome": 0.0}
BANDS = np.array(["low", "mid", "high"])
DAY = 86_400_000_000  # microseconds
AXES = ("number", "date")
EXACT, SINGLE = 1e-9, 1e-5


# --- a table, and what its rows are worth ------------------------------------------------------


@cache
def _homes():
    rng = np.random.default_rng(3)
    city = rng.choice(list(CITIES), N_ROWS, p=[0.1, 0.3, 0.2, 0.4])
    days = pd.to_timedelta(rng.integers(0, 3000, N_ROWS), unit="D")
    rows = pd.DataFrame(
        {
            "size": rng.uniform(20, 200, N_ROWS).round(1),
            "income": rng.lognormal(3, 0.5, N_ROWS),
            "rooms": rng.integers(1, 7, N_ROWS),
            "city": city,
            "owned": rng.random(N_ROWS) < 0.4,
            "sold": pd.Timestamp("2015-01-01") + days,
        }
    )
    worth = 0.02 * rows["size"] + 0.1 * rows["income"] + rows["city"].map(CITIES)
    worth += 0.3 * rows["rooms"] * (rows["city"] == "Oslo") + rows["owned"]
    worth += 0.5 * (rows["sold"].dt.month > 6)
    rows.loc[rng.choice(N_ROWS, 24, replace=False), "income"] = np.nan
    rows.loc[rng.choice(N_ROWS, 18, replace=False), "city"] = None
    return rows, worth.to_numpy()


def homes(*dropped):
    """A fresh copy of the table, and the target."""
    rows, worth = _homes()
    return rows.drop(columns=list(dropped)), worth


def bands(worth):
    """Three classes, numbered."""
    return np.digitize(worth, np.quantile(worth, [0.3, 0.6]))


# --- the same numbers, from the model's own answers --------------------------------------------


def moved(rows, name, value):
    """The rows with one value all down a column, of the same type as before."""
    column = pd.Series([value] * len(rows), index=rows.index).astype(rows[name].dtype)
    return rows.assign(**{name: column})


def change(answers, rows, name, low, high):
    """How predictions change from one value to the other, shape (n_rows, n_outputs)."""
    before, after = (table_of(answers(moved(rows, name, value))) for value in (low, high))
    return after - before


def table_of(answers):
    return np.asarray(answers, dtype=np.float64).reshape(len(answers), -1)


def check_steps(effect, rows, answers, output, tolerance):
    """Rows of both levels of every step are moved from the lower one to the higher."""
    assert not effect.pooled
    values = {str(v): v for v in rows[effect.name].dropna().unique()}
    own = rows[effect.name].map(str, na_action="ignore")
    assert effect.level_count.tolist() == [np.sum(own == level) for level in effect.levels]
    for k, (low, high) in enumerate(zip(effect.levels[:-1], effect.levels[1:], strict=True)):
        beside = rows[(own == low) | (own == high)]
        moves = change(answers, beside, effect.name, values[low], values[high])[:, output]
        assert effect.count[k] == len(beside)
        assert effect.step[k] == pytest.approx(moves.mean(), abs=tolerance)
        width = effect.edges[k + 1] - effect.edges[k]
        assert effect.std[k] * width == pytest.approx(moves.std(ddof=1), abs=tolerance)


def check_missing(effect, rows, answers, output, tolerance):
    """Rows that have a value lose it."""
    known, gone = rows[rows[effect.name].notna()], rows.loc[rows[effect.name].isna(), effect.name]
    lost = table_of(answers(moved(known, effect.name, gone.iloc[0]))) - table_of(answers(known))
    assert effect.missing.count == len(rows) - len(known)
    assert effect.missing.rows == len(known)
    assert effect.missing.mean == pytest.approx(lost[:, output].mean(), abs=tolerance)
    assert effect.missing.std == pytest.approx(lost[:, output].std(ddof=1), abs=tolerance)


def check_bins(effect, rows, answers, output, tolerance):
    """Rows of every bin are moved from its left limit to its right one (method 'ale')."""
    known = rows[rows[effect.name].notna()]
    x = known[effect.name]
    ends = [float(v) for v in effect.edges]
    if effect.kind == "date":
        x = x.to_numpy().astype("datetime64[us]").astype(np.int64) / DAY
        ends = [pd.Timestamp(round(v * DAY), unit="us") for v in effect.edges]
    x = np.asarray(x, dtype=np.float64)
    place = np.clip(np.searchsorted(effect.edges, x, side="right") - 1, 0, len(effect.mean) - 1)
    for k, width in enumerate(np.diff(effect.edges)):
        inside = known[place == k]
        assert effect.count[k] == len(inside)
        slopes = change(answers, inside, effect.name, ends[k], ends[k + 1])[:, output] / width
        assert effect.mean[k] == pytest.approx(slopes.mean(), abs=tolerance)


def check(fx, rows, answers, tolerance=EXACT):
    """Compare all that can be compared; `answers` has the outputs of the explanation, in order."""
    for effect in fx.values():
        output = fx.outputs.index(effect.output)
        if isinstance(effect, LevelEffect):
            check_steps(effect, rows, answers, output, tolerance)
        elif fx.provenance["method"] == "ale":
            check_bins(effect, rows, answers, output, tolerance)
        if rows[effect.name].isna().any():
            check_missing(effect, rows, answers, output, tolerance)


def explain_and_check(model, rows, answers, tolerance=EXACT, **options):
    """All of RHALE, and ALE, whose bins are simple enough to be computed here."""
    before = rows.copy()
    fx = rhale.explain(model, rows, **options)
    check(fx, rows, answers, tolerance)
    few = {f: rhale.Quantile(4) for f, kind in fx.provenance["kinds"].items() if kind in AXES}
    ale = rhale.explain(model, rows, method="ale", bins=few, **options)
    check(ale, rows, answers, tolerance)
    pd.testing.assert_frame_equal(rows, before)
    assert fx.features == tuple(options.get("features", rows.columns))
    assert all(np.all(np.isfinite(effect.mean)) for effect in fx.values())
    return fx


def assert_same(found, expected, tolerance=EXACT):
    assert found.outputs == expected.outputs
    for a, b in zip(found.values(), expected.values(), strict=True):
        assert (a.name, a.output, a.count.tolist()) == (b.name, b.output, b.count.tolist())
        assert getattr(a, "levels", None) == getattr(b, "levels", None)
        assert a.mean == pytest.approx(b.mean, abs=tolerance)
        assert a.std == pytest.approx(b.std, abs=tolerance, nan_ok=True)
        assert (a.missing is None) == (b.missing is None)
        if a.missing is not None:
            assert a.missing.mean == pytest.approx(b.missing.mean, abs=tolerance)


# --- LightGBM: categories of its own, missing values -------------------------------------------


def lightgbm(kind, rows, target):
    library = pytest.importorskip("lightgbm")
    quiet = {"verbose": -1, "n_jobs": 1, "min_child_samples": 5, "min_data_per_group": 5}
    model = getattr(library, kind)(n_estimators=12, cat_smooth=1, **quiet)
    return model.fit(rows, target)


def with_categories(*dropped):
    rows, worth = homes("sold", *dropped)
    return rows.assign(city=rows["city"].astype("category")), worth


def test_lightgbm_with_categories_and_missing_values_is_explained_in_one_call():
    rows, worth = with_categories()
    model = lightgbm("LGBMRegressor", rows, worth)
    fx = explain_and_check(model, rows, model.predict)
    kinds = {"size": "number", "income": "number", "rooms": "steps", "city": "categories"}
    assert fx.provenance["kinds"] == kinds | {"owned": "steps"}
    assert fx["city"].curve("Oslo") > fx["city"].curve("Paris")
    assert fx["city"].missing.count == 18
    assert any(note.startswith("24 of 300 rows (8 %) have no value") for note in fx["income"].notes)


def test_the_hour_of_the_day_goes_by_steps_which_are_those_of_the_trees():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"hour": rng.integers(0, 24, 1500), "amount": rng.lognormal(0, 1, 1500)})
    night = (rows["hour"] < 6).to_numpy()
    worth = night * (1 + 0.1 * np.log(rows["amount"].to_numpy())) + rng.normal(0, 0.1, 1500)
    model = lightgbm("LGBMRegressor", rows, worth)
    hour = explain_and_check(model, rows, model.predict)["hour"]
    assert hour.curve(6) - hour.curve(5) < -0.6  # as the few trees say, which `check` asked
    assert np.all(np.abs(np.delete(hour.step, 5)) < 0.1)


def test_lightgbm_of_two_classes_is_explained_by_the_probability_of_the_second():
    rows, worth = with_categories()
    model = lightgbm("LGBMClassifier", rows, worth > np.median(worth))
    fx = explain_and_check(model, rows, lambda r: model.predict_proba(r)[:, 1])
    assert fx.outputs == ("True",)


@pytest.mark.parametrize("response", ["predict_proba", "margin"])
def test_lightgbm_of_three_classes_is_explained_by_label(response):
    rows, worth = with_categories()
    model = lightgbm("LGBMClassifier", rows, BANDS[bands(worth)])
    raw = response == "margin"
    fx = explain_and_check(
        model, rows, lambda r: model.predict_proba(r, raw_score=raw), response=response
    )
    assert fx.outputs == ("high", "low", "mid")


@pytest.mark.parametrize("kind", ["lightgbm", "scikit-learn", "xgboost"])
def test_a_level_that_the_model_was_not_trained_on_is_a_level_as_any_other(kind):
    rows, worth = with_categories()
    if kind == "lightgbm":
        model = lightgbm("LGBMRegressor", rows, worth)
    elif kind == "xgboost":
        model = xgboost("XGBRegressor", rows, worth)
    else:
        model = HistGradientBoostingRegressor(max_iter=10, random_state=0).fit(rows, worth)
    city = rows["city"].astype(object)
    city[:9] = "Lima"
    other = rows.assign(city=city.astype("category"))
    fx = rhale.explain(model, other, features=["city", "size"])
    check(fx, other, model.predict, SINGLE if kind == "xgboost" else EXACT)
    assert "Lima" in fx["city"].levels


def test_an_ordered_category_keeps_its_order():
    rows, worth = with_categories()
    cuts = [0, 60, 120, 160, 300]
    rows["band"] = pd.cut(rows["size"], cuts, labels=["small", "usual", "large", "huge"])
    model = lightgbm("LGBMRegressor", rows, worth)
    fx = rhale.explain(model, rows, features=["band", "size"])
    check(fx, rows, model.predict)
    assert fx["band"].levels == ("small", "usual", "large", "huge")


# --- scikit-learn pipelines --------------------------------------------------------------------


def encode(encoder=None, *, numbers=NUMBERS):
    """One-hot for text, imputer and scaler for numbers."""
    text = encoder or OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    scale = make_pipeline(SimpleImputer(), StandardScaler())
    return ColumnTransformer([("numbers", scale, numbers), ("text", text, ["city"])])


LAST_STEPS = {
    "logistic": LogisticRegression(max_iter=1000),
    "boosted": GradientBoostingClassifier(n_estimators=8, random_state=0),
    "forest": RandomForestRegressor(8, random_state=0),
    "network": MLPRegressor(hidden_layer_sizes=(6,), solver="lbfgs", tol=1e-2, random_state=0),
}


def fitted_pipeline(name, rows, worth):
    """A pipeline, and what it answers."""
    last = LAST_STEPS[name]
    if name in ("logistic", "boosted"):
        model = make_pipeline(encode(), last).fit(rows, worth > np.median(worth))
        return model, lambda r: model.predict_proba(r)[:, 1]
    model = make_pipeline(encode(), last).fit(rows, worth)
    return model, model.predict


@pytest.mark.parametrize("name", LAST_STEPS)
def test_a_pipeline_is_explained_on_its_raw_columns(name):
    rows, worth = homes("sold")
    model, answers = fitted_pipeline(name, rows, worth)
    fx = explain_and_check(model, rows, answers)
    assert fx["city"].missing.count == 18
    assert fx["city"].curve("Oslo") > fx["city"].curve("Paris")


@pytest.mark.parametrize("name", ["boosted", "forest"])
def test_trees_behind_text_are_explained_as_a_black_box(name):
    rows, worth = homes("sold")
    model, answers = fitted_pipeline(name, rows, worth)
    explain_and_check(rhale.models.wrap(model, walk=False), rows, answers)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_polars_and_pandas_give_the_same_numbers(output):
    polars = pytest.importorskip("polars")
    rows, worth = homes()
    model = make_pipeline(encode(), Ridge()).set_output(transform=output)
    expected = rhale.explain(model.fit(rows, worth), rows)
    check(expected, rows, model.predict)
    table = polars.from_pandas(rows)
    found = rhale.explain(model.fit(table, worth), table)
    assert found.provenance["table"] == "polars"
    assert_same(found, expected)


ENCODERS = {
    "ordinal": OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    ),
    "one-hot, rare ones together": OneHotEncoder(
        min_frequency=40, handle_unknown="infrequent_if_exist", sparse_output=False
    ),
    "one-hot, nothing else": OneHotEncoder(sparse_output=False),
    "target": TargetEncoder(cv=3),
}


@pytest.mark.parametrize("last", [Ridge(), HistGradientBoostingRegressor(max_iter=8)])
@pytest.mark.parametrize("name", ENCODERS)
def test_text_is_explained_whatever_encodes_it(name, last):
    rows, worth = homes("sold")
    model = make_pipeline(encode(ENCODERS[name]), last).fit(rows, worth)
    check(rhale.explain(model, rows), rows, model.predict)


def test_a_level_that_a_strict_encoder_does_not_know_is_named():
    rows, worth = homes("sold")
    known = (rows["city"] != "Bern").to_numpy()
    model = make_pipeline(encode(OneHotEncoder()), Ridge()).fit(rows[known], worth[known])
    with pytest.raises(rhale.errors.ModelFailedError, match=r"unknown categories \['Bern'\]"):
        rhale.explain(model, rows)


def calendar(rows):
    """Year and month of a date, and whether there is one."""
    sold = rows["sold"].dt
    parts = {"year": sold.year, "month": sold.month, "known": rows["sold"].notna().astype(float)}
    return pd.DataFrame(parts, index=rows.index).fillna(0)


STEPS_BEFORE = {
    "intervals": ([KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")], ["size"]),
    "missing or not": ([SimpleImputer(add_indicator=True)], ["income"]),
    "main directions": ([SimpleImputer(), StandardScaler(), PCA(2)], NUMBERS),
    "more columns": (
        [SimpleImputer(), FunctionTransformer(lambda x: np.hstack([x, x[:, :1] * x[:, 1:2]]))],
        NUMBERS,
    ),
    "calendar": ([FunctionTransformer(calendar)], ["sold"]),
}


@pytest.mark.parametrize("last", [Ridge(), GradientBoostingRegressor(n_estimators=8)])
@pytest.mark.parametrize("name", STEPS_BEFORE)
def test_columns_may_be_cut_mixed_and_multiplied_before_the_model(name, last):
    rows, worth = homes()
    steps, columns = STEPS_BEFORE[name]
    before = make_column_transformer(
        (make_pipeline(*steps), columns), (OrdinalEncoder(encoded_missing_value=-1), ["city"])
    )
    model = make_pipeline(before, last).fit(rows, worth)
    fx = explain_and_check(model, rows, model.predict)
    for ignored in set(rows) - {*columns, "city"}:
        assert fx[ignored].importance == 0


def test_a_date_is_explained_on_the_axis_of_time():
    rows, worth = homes()
    rows.loc[:19, "sold"] = pd.NaT
    before = make_column_transformer((FunctionTransformer(calendar), ["sold"]))
    model = make_pipeline(before, LinearRegression()).fit(rows, worth)
    fx = explain_and_check(model, rows, model.predict, features=["sold"])
    assert fx.provenance["kinds"] == {"sold": "date"}
    assert fx["sold"].missing.count == 20
    first = rows["sold"].min().to_datetime64().astype("datetime64[D]").astype(int)
    assert fx["sold"].edges[0] == first


def test_a_text_that_is_never_the_same_is_pooled_and_the_rest_is_explained():
    rows, worth = homes("sold", "city")
    rng = np.random.default_rng(0)
    words = rng.choice(["old", "new", "big", "red"], (N_ROWS, 3))
    rows["advert"] = [f"{' '.join(w)} nr {i}" for i, w in enumerate(words)]
    before = make_column_transformer(
        (TfidfVectorizer(max_features=8), "advert"), (SimpleImputer(), NUMBERS)
    )
    model = make_pipeline(before, Ridge()).fit(rows, worth)
    fx = rhale.explain(model, rows)
    assert fx["advert"].levels == ("other (300 levels)",)
    assert fx["advert"].level_count.tolist() == [N_ROWS]
    assert any(note.startswith("300 rare levels are pooled") for note in fx["advert"].notes)
    check(rhale.explain(model, rows, features=NUMBERS), rows, model.predict)


def test_a_text_that_is_never_the_same_is_not_called_constant():
    rows, _ = homes("sold", "city")
    rows["name"] = [f"home {i}" for i in range(N_ROWS)]
    fx = rhale.explain(lambda r: r["size"].to_numpy(), rows, features=["name"])
    assert not any("constant" in note for note in fx["name"].notes)


def test_many_names_of_which_two_look_alike_take_no_time():
    names = [1, "1", *(f"name {i}" for i in range(40_000))] * 2
    rows = pd.DataFrame({"x": np.arange(len(names)) % 977, "name": pd.Series(names, dtype=object)})
    fx = rhale.explain(lambda r: r["x"].to_numpy(dtype=float), rows, features=["name"])
    assert fx["name"].pooled[:2] == ("1 (int)", "1 (str)")


@pytest.mark.parametrize("value", ["yes", 1.0])
def test_a_flag_that_is_set_or_missing_has_a_missing_point(value):
    rows, _ = homes("sold")
    rows["flag"] = [value if i % 3 else None for i in range(N_ROWS)]

    def answers(r):
        return 2.0 * r["flag"].isna().to_numpy() + r["size"].to_numpy()

    effect = rhale.explain(answers, rows)["flag"]
    assert any("100 of 300 rows" in note for note in effect.notes)
    assert effect.missing.mean == pytest.approx(2.0)


def test_a_removed_value_is_missing_in_the_way_of_its_column():
    rows, worth = homes("sold")
    rows["city"] = rows["city"].astype(object).where(rows["city"].notna(), float("nan"))
    model = make_pipeline(encode(OneHotEncoder()), Ridge()).fit(rows, worth)
    check(rhale.explain(model, rows), rows, model.predict)


# --- XGBoost, CatBoost -------------------------------------------------------------------------


def xgboost(kind, rows, target):
    library = pytest.importorskip("xgboost")
    model = getattr(library, kind)(n_estimators=8, max_depth=3, enable_categorical=True, n_jobs=1)
    return model.fit(rows, target)


@pytest.mark.parametrize("response", ["predict_proba", "margin"])
def test_xgboost_of_three_classes_with_categories_and_missing_values(response):
    rows, worth = with_categories()
    model = xgboost("XGBClassifier", rows, bands(worth))

    def answers(r):
        raw = response == "margin"
        return model.predict(r, output_margin=True) if raw else model.predict_proba(r)

    fx = explain_and_check(model, rows, answers, SINGLE, response=response)
    assert fx.outputs == ("0", "1", "2")
    assert fx["city", "2"].missing.count == 18


class Named(BaseEstimator):
    """An estimator of numbered classes with labels in front."""

    def __init__(self, inner, labels):
        self.inner, self.classes_ = inner, labels

    def predict(self, rows):
        return self.classes_[self.inner.predict(rows)]

    def predict_proba(self, rows):
        return self.inner.predict_proba(rows)


def test_classes_get_the_labels_that_a_wrapper_gives_them():
    rows, worth = with_categories()
    model = Named(xgboost("XGBClassifier", rows, bands(worth)), BANDS)
    fx = rhale.explain(model, rows)
    assert fx.outputs == ("low", "mid", "high")
    check(fx, rows, model.predict_proba, SINGLE)
    assert fx["income", "high"].curve(60) > fx["income", "high"].curve(10)


def test_the_margin_of_xgboost_at_the_end_of_a_pipeline():
    library = pytest.importorskip("xgboost")
    rows, worth = homes("sold")
    last = library.XGBClassifier(n_estimators=5, n_jobs=1)
    model = make_pipeline(encode(OrdinalEncoder(encoded_missing_value=-1)), last)
    model.fit(rows, worth > np.median(worth))
    fx = rhale.explain(model, rows, response="margin")
    check(fx, rows, lambda r: model.predict(r, output_margin=True), SINGLE)


@pytest.mark.parametrize("columns", [["city"], ["city", "rooms"]])
def test_catboost_with_raw_text_and_missing_numbers(columns):
    library = pytest.importorskip("catboost")
    rows, worth = homes("sold")
    rows["city"] = rows["city"].fillna("nowhere")  # CatBoost takes no missing category
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = library.CatBoostRegressor(8, depth=3, cat_features=columns, **quiet).fit(rows, worth)
    fx = explain_and_check(model, rows, model.predict)
    assert len(fx["city"].levels) == 5
    assert fx["income"].missing.count == 24


def test_catboost_of_three_classes_by_label():
    library = pytest.importorskip("catboost")
    rows, worth = homes("sold")
    rows["city"] = rows["city"].fillna("nowhere")
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = library.CatBoostClassifier(8, depth=3, cat_features=["city"], **quiet)
    model.fit(rows, BANDS[bands(worth)])
    fx = explain_and_check(model, rows, model.predict_proba)
    assert fx.outputs == ("high", "low", "mid")


# --- networks ----------------------------------------------------------------------------------


def measures():
    """Two numbers and two columns of few whole numbers."""
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "a": rng.normal(size=N_ROWS),
            "rooms": rng.integers(1, 6, N_ROWS),
            "b": rng.uniform(size=N_ROWS),
            "shop": rng.integers(0, 4, N_ROWS),
        }
    )


def with_embedding():
    torch = pytest.importorskip("torch")

    class Shops(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.shop, self.last = torch.nn.Embedding(4, 3), torch.nn.Linear(6, 2)

        def forward(self, rows):
            parts = [torch.tanh(rows[:, :3]), self.shop(rows[:, 3].long())]
            return self.last(torch.cat(parts, dim=1))

    torch.manual_seed(0)
    return Shops().double()


def torch_answers(module):
    torch = pytest.importorskip("torch")

    def answers(rows):
        with torch.no_grad():
            return module(torch.tensor(np.asarray(rows, dtype=np.float64))).numpy()

    return answers


def torch_slopes(module, rows, output):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(np.asarray(rows, dtype=np.float64), requires_grad=True)
    return torch.autograd.grad(module(tensor)[:, output].sum(), tensor)[0].numpy()


def test_whole_numbers_go_by_steps_and_the_others_by_gradients():
    rows, module = measures(), with_embedding()
    fx = explain_and_check(module, rows, torch_answers(module))
    gradient, steps = (
        "effects measured by the gradient",
        "effects measured by steps between neighbouring levels",
    )
    expected = {"a": gradient, "rooms": steps, "b": gradient, "shop": steps}
    assert fx.provenance["local_effects"] == expected
    for column, name in enumerate(rows):
        if expected[name] == gradient:
            effect, slopes = fx[name, "y1"], torch_slopes(module, rows, 1)[:, column]
            order = np.argsort(rows[name].to_numpy())
            by_value = np.argsort(effect.sample.x)
            assert effect.sample.local_effects[by_value] == pytest.approx(slopes[order], abs=EXACT)


@pytest.mark.parametrize("order", [True, [3, 1, 0, 2]])
def test_numbers_that_stand_for_categories_are_ordered_as_such(order):
    rows, module = measures(), with_embedding()
    fx = rhale.explain(module, rows, categorical={"shop": order})
    check(fx, rows, torch_answers(module))
    assert fx.provenance["kinds"]["shop"] == "categories"
    if order is not True:
        assert fx["shop", "y0"].levels == ("3", "1", "0", "2")


def test_a_network_explained_only_where_there_are_levels():
    rows, module = measures(), with_embedding()
    fx = rhale.explain(module, rows, features=["shop", "rooms"])
    check(fx, rows, torch_answers(module))


def test_trees_explained_only_where_there_are_levels():
    rows = measures()
    model = RandomForestRegressor(4, random_state=0).fit(rows, rows["a"] * rows["shop"])
    fx = rhale.explain(model, rows, features=["shop", "rooms"])
    check(fx, rows, model.predict)


def test_jax_with_a_few_whole_numbers():
    jnp = pytest.importorskip("jax.numpy")
    rows = measures()
    weights = np.random.default_rng(0).normal(size=(4, 2))
    fx = rhale.explain(lambda x: jnp.tanh(x @ jnp.asarray(weights)), rows.to_numpy(dtype=float))
    named = rows.set_axis(fx.features, axis=1)
    check(fx, named, lambda r: np.tanh(np.asarray(r, dtype=float) @ weights), SINGLE)
    assert fx.provenance["model"] == "JAX function"
    assert fx["x0", "y1"].sample.local_effects.size == N_ROWS


# --- outputs -----------------------------------------------------------------------------------


def assert_alone_as_together(model, rows, **options):
    """Each output explained by itself has the numbers that it has among the others."""
    together = rhale.explain(model, rows, **options)
    for place, output in enumerate(together.outputs):
        for name in (output, place):
            alone = rhale.explain(model, rows, output=name, **options)
            expected = [together[feature, output] for feature in together.features]
            for a, b in zip(alone.values(), expected, strict=True):
                assert a.output == b.output == output
                assert a.mean == pytest.approx(b.mean, abs=1e-12)
                assert a.std == pytest.approx(b.std, abs=1e-9, nan_ok=True)
    return together


@pytest.mark.parametrize(
    "last", [RandomForestRegressor(6, random_state=0), MultiOutputRegressor(Ridge())]
)
def test_two_targets_in_one_pass(last):
    rows, worth = homes("sold")
    before = encode(OrdinalEncoder(encoded_missing_value=-1))
    model = make_pipeline(before, last).fit(rows, np.column_stack([worth, -(worth**2)]))
    fx = assert_alone_as_together(model, rows)
    assert fx.outputs == ("y0", "y1")
    check(fx, rows, model.predict)


@pytest.mark.parametrize(
    "labels",
    [np.array([10, 20, 30]), np.array(["not much", "some", "a lot"]), np.array([2, 0, 1])],
    ids=["whole numbers", "with spaces", "as positions"],
)
@pytest.mark.parametrize("response", ["predict_proba", "decision_function", "margin"])
def test_classes_are_explained_by_label(labels, response):
    rows, worth = homes("sold")
    model = make_pipeline(encode(), LogisticRegression(max_iter=1000))
    model.fit(rows, labels[bands(worth)])
    fx = rhale.explain(model, rows, response=response)
    assert fx.outputs == tuple(str(label) for label in sorted(labels.tolist()))
    scores = model.predict_proba if response == "predict_proba" else model.decision_function
    check(fx, rows, scores)
    for label in labels.tolist():
        one = rhale.explain(model, rows, response=response, output=label, features=["city"])
        assert one.outputs == (str(label),)
        assert one[0].mean == pytest.approx(fx["city", str(label)].mean, abs=1e-12)


def test_outputs_by_position_are_those_by_label():
    rows, worth = homes("sold")
    model = make_pipeline(encode(), LogisticRegression(max_iter=1000))
    model.fit(rows, BANDS[bands(worth)])
    assert_alone_as_together(model, rows)


@pytest.mark.parametrize("output", [False, "False", 0])
def test_truth_values_are_labels(output):
    rows, worth = homes("sold")
    model = make_pipeline(encode(), LogisticRegression(max_iter=1000))
    model.fit(rows, worth > np.median(worth))
    first = rhale.explain(model, rows, output=output)
    second = rhale.explain(model, rows)
    assert (first.outputs, second.outputs) == (("False",), ("True",))
    for a, b in zip(first.values(), second.values(), strict=True):
        assert a.curve(a.edges if a.name in NUMBERS else None) == pytest.approx(
            -b.curve(a.edges if a.name in NUMBERS else None), abs=EXACT
        )


def test_several_targets_of_two_classes_are_all_explained():
    rows, worth = homes("sold")
    model = make_pipeline(encode(), ClassifierChain(LogisticRegression(max_iter=1000)))
    model.fit(rows, np.column_stack([worth > np.median(worth), rows["rooms"] > 3]))
    fx = rhale.explain(model, rows)
    assert len(fx.outputs) == 2
    assert not any(output.startswith("[") for output in fx.outputs)


# --- transformers that look closely ------------------------------------------------------------


class Careful(TransformerMixin, BaseEstimator):
    """Takes the table it was fitted on and no other; adds a calendar, drops what it used."""

    def fit(self, rows, _=None):
        self.types_, self.levels_ = rows.dtypes, sorted(rows["city"].dropna().unique())
        return self

    def transform(self, rows):
        assert type(rows) is pd.DataFrame
        pd.testing.assert_series_equal(rows.dtypes, self.types_)
        made = rows[NUMBERS].astype("float64").fillna(-1.0)
        made["month"] = rows["sold"].dt.month.astype("float64")
        for level in self.levels_:
            made[f"in {level}"] = (rows["city"] == level).fillna(value=False).astype("float64")
        return made


class Grabbing(Careful):
    """Writes into the table that it gets."""

    def transform(self, rows):
        made = super().transform(rows)
        rows["size"] = 0.0
        del rows["city"]
        return made


class Joining(Careful):
    """Puts a column back by the index of the table."""

    def transform(self, rows):
        return super().transform(rows).join(rows[["size"]].add_suffix(" again"))


TYPES = {
    "plain": lambda rows: rows,
    "category": lambda rows: rows.assign(city=rows["city"].astype("category")),
    "nullable": lambda rows: rows.convert_dtypes(),
    "arrow": lambda rows: rows.convert_dtypes(dtype_backend="pyarrow"),
    "small": lambda rows: rows.astype({"rooms": "int8", "size": "float32"}),
    "seconds": lambda rows: rows.astype({"sold": "datetime64[s]"}),
}


@pytest.mark.parametrize("name", TYPES)
def test_the_model_sees_the_columns_and_types_of_the_table(name):
    if name == "arrow":
        pytest.importorskip("pyarrow")
    rows, worth = homes()
    rows = TYPES[name](rows)
    model = make_pipeline(Careful(), Ridge()).fit(rows, worth)
    fx = explain_and_check(model, rows, model.predict)
    assert fx.provenance["kinds"]["sold"] == "date"
    assert fx["city"].missing.count == 18


@pytest.mark.parametrize("index", [range(500, 500 + N_ROWS), [i // 2 for i in range(N_ROWS)]])
def test_the_index_of_the_table_does_not_matter(index):
    rows, worth = homes()
    model = make_pipeline(Careful(), Ridge()).fit(rows, worth)
    assert_same(rhale.explain(model, rows.set_axis(index)), rhale.explain(model, rows))


def test_a_transformer_that_writes_into_its_table_changes_nothing():
    rows, worth = homes()
    careful = make_pipeline(Careful(), Ridge()).fit(rows, worth)
    grabbing = make_pipeline(Grabbing(), Ridge()).fit(rows.copy(), worth)
    before = rows.copy()
    found = rhale.explain(grabbing, rows)
    pd.testing.assert_frame_equal(rows, before)
    assert_same(found, rhale.explain(careful, rows))


def test_a_transformer_may_join_by_the_index():
    rows, worth = homes()
    model = make_pipeline(Joining(), Ridge()).fit(rows, worth)
    check(rhale.explain(model, rows), rows, model.predict)


# --- how the model is asked --------------------------------------------------------------------


class Watched:
    """Counts the rows of every question."""

    def __init__(self, model):
        self.model, self.asked = model, []

    def predict(self, rows):
        self.asked.append(len(rows))
        return self.model.predict(rows)


def test_questions_are_stacked_until_they_have_tens_of_thousands_of_rows():
    rows, worth = homes()
    model = Watched(make_pipeline(Careful(), Ridge()).fit(rows, worth))
    many = pd.concat([rows] * 80, ignore_index=True)
    fx = rhale.explain(model, many)
    assert sum(model.asked) == fx.provenance["rows_asked"]
    large = [n for n in model.asked if n > 3000]  # the others are first questions
    assert len(large) < 20
    assert min(large) >= 20_000  # the few rows that are moved for the spread are stacked, too
    assert max(large) <= 2**16


@pytest.mark.skipif(
    int(pd.__version__.split(".")[0]) < 3, reason="before pandas 3 a model may write through"
)
def test_replacing_a_column_does_not_copy_the_others():
    rows, _ = homes()
    shared = []

    def answers(r):
        if len(r) == N_ROWS:
            same = [
                np.shares_memory(r[n].to_numpy(), rows[n].to_numpy()) for n in ("size", "rooms")
            ]
            shared.append(any(same))
        return r["income"].fillna(0).to_numpy()

    rhale.explain(answers, rows, features=["income"], batch_size=N_ROWS)
    assert all(shared)


# --- California Housing ------------------------------------------------------------------------


@cache
def _california():
    if not CALIFORNIA.exists():
        pytest.skip("no California Housing CSV: set RHALE_CALIFORNIA_CSV to its path")
    rows = pd.read_csv(CALIFORNIA).astype({"housing_median_age": int})
    return rows, rows.pop("median_house_value").to_numpy()


def check_california(fx, rows):
    """What must hold whatever the model: all columns, all rows, all levels, and it is said."""
    assert fx.features == tuple(rows.columns)
    kinds = dict.fromkeys(rows.columns, "number") | {"ocean_proximity": "categories"}
    kinds |= {"housing_median_age": "steps"}  # 52 whole years
    assert fx.provenance["kinds"] == kinds
    for effect in fx.values():
        n_missing = 207 if effect.name == "total_bedrooms" else 0
        counted = effect.level_count if isinstance(effect, LevelEffect) else effect.count
        assert counted.sum() + n_missing == 20640
        assert (effect.missing is None) == (n_missing == 0)
    assert fx["total_bedrooms"].missing.count == 207
    assert any("207 of 20,640 rows" in note for note in fx["total_bedrooms"].notes)
    ocean = fx["ocean_proximity"]
    assert sorted(ocean.levels) == ["<1H OCEAN", "INLAND", "ISLAND", "NEAR BAY", "NEAR OCEAN"]
    assert ocean.level_count[ocean.levels.index("ISLAND")] == 5
    assert any(note.startswith("levels are ordered by similarity") for note in ocean.notes)
    assert ocean.curve("ISLAND") > ocean.curve("INLAND")


def test_california_with_categories_and_missing_values_of_its_own():
    rows, value = _california()
    rows = rows.assign(ocean_proximity=rows["ocean_proximity"].astype("category"))
    model = HistGradientBoostingRegressor(max_iter=40, random_state=0).fit(rows, value)
    fx = rhale.explain(model, rows)
    check_california(fx, rows)
    check(fx, rows, model.predict, EXACT * value.max())
    income = fx["median_income"]
    assert income.curve(8) - income.curve(2) > 100_000


def test_california_through_a_linear_pipeline_has_its_coefficients():
    rows, value = _california()
    scale = make_pipeline(SimpleImputer(), StandardScaler())
    before = make_column_transformer((OneHotEncoder(), ["ocean_proximity"]), remainder=scale)
    model = make_pipeline(before, LinearRegression()).fit(rows, value)
    fx = rhale.explain(model, rows)
    check_california(fx, rows)
    check(fx, rows, model.predict, EXACT * value.max())
    names, numbers = model[-1].coef_[:5], model[-1].coef_[5:]
    worth = dict(zip(before.transformers_[0][1].categories_[0], names, strict=True))
    ocean = fx["ocean_proximity"]
    apart = ocean.curve("ISLAND") - ocean.curve("INLAND")
    assert apart == pytest.approx(worth["ISLAND"] - worth["INLAND"], rel=1e-6)
    slope = numbers[7] / rows["median_income"].std(ddof=0)
    assert fx["median_income"].mean == pytest.approx([slope], rel=1e-6)
