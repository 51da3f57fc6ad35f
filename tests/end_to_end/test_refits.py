"""Refits of real learners: pipelines, searches and boosted trees, on tables as users have them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rhale

N = 240
CITIES = ("Bern", "Genf", "Basel")


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    city = rng.choice(CITIES, size=N)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, size=N),
            "city": pd.Categorical(city, categories=CITIES),
            "income": rng.normal(size=N),
        }
    )
    frame["rent"] = 0.1 * frame["age"] + 2.0 * (city == "Genf") + 0.2 * rng.normal(size=N)
    frame.loc[::9, "income"] = np.nan
    return frame


def numbers(n=N, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, 2 * x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=n)


def prepare():
    steps = [
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
        ("names", OneHotEncoder(handle_unknown="ignore"), ["city"]),
    ]
    return ColumnTransformer(steps)


# --- learners ---------------------------------------------------------------------------------------


def test_a_pipeline_with_categories_and_missing_values(people):
    rx = rhale.refit(make_pipeline(prepare(), Ridge(1e-3)), people, "rent", n_refits=4)
    assert rx.features == ("age", "city", "income")
    assert np.diff(rx["age"].curve([30.0, 60.0]))[0] == pytest.approx(3.0, rel=0.05)
    step = np.diff(rx["city"].curve(["Bern", "Genf"]))[0]
    assert step == pytest.approx(2.0, abs=0.15)
    assert rx["age"].comes_back
    assert not rx.failures


def test_a_grid_search_searches_in_every_training():
    x, y = numbers()
    search = GridSearchCV(Ridge(), {"alpha": [1e-3, 1e3]}, cv=3)
    rx = rhale.refit(search, x, y, n_refits=4)
    assert np.diff(rx["x0"].curve([0.0, 1.0]))[0] == pytest.approx(2.0, abs=0.1)
    assert not hasattr(search, "best_params_")
    assert rx.provenance["learner"] == "GridSearchCV"


def boosters():
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMRegressor(n_estimators=20, min_child_samples=5, verbose=-1, n_jobs=1)


def xgboosters():
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRegressor(n_estimators=20, max_depth=3, n_jobs=1, enable_categorical=True)


def catboosters():
    catboost = pytest.importorskip("catboost")
    settings = {"verbose": False, "thread_count": 1, "allow_writing_files": False}
    return catboost.CatBoostRegressor(iterations=20, cat_features=["city"], **settings)


@pytest.mark.parametrize("make", [boosters, xgboosters, catboosters])
def test_boosted_trees_on_categories_and_missing_values(make, people):
    learner = make()
    before = str(learner.get_params())
    rx = rhale.refit(learner, people, "rent", n_refits=4)
    assert not rx.failures
    assert rx["age"].comes_back
    assert np.diff(rx["age"].curve([30.0, 70.0]))[0] > 2
    assert np.diff(rx["city"].curve(["Bern", "Genf"]))[0] > 0.5
    assert str(learner.get_params()) == before


def test_lightgbm_gives_the_same_numbers_for_any_number_of_threads(people):
    alone = rhale.refit(boosters(), people, "rent", n_refits=4)
    assert rhale.refit(boosters(), people, "rent", n_refits=4, n_jobs=2).effects == alone.effects


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas])
def test_a_function_sees_the_users_kind_of_table(make, people):
    def learn(rows, target):
        assert type(rows) is type(data)
        slope = np.polyfit(np.asarray(rows["age"]), np.asarray(target), 1)[0]
        return lambda asked: slope * np.asarray(asked["age"])

    data = make(people[["age", "income", "rent"]])
    rx = rhale.refit(learn, data, "rent", n_refits=4)
    assert rx["income"].importance == 0
    assert np.diff(rx["age"].curve([30.0, 60.0]))[0] == pytest.approx(3.0, rel=0.2)
    assert type(rx.replication()) is type(data)


# --- classes ----------------------------------------------------------------------------------------


def test_two_classes_of_text_are_divided_evenly():
    x, y = numbers()
    classes = np.where(y > np.quantile(y, 0.9), "dear", "cheap")
    shares = []

    class Watched(LogisticRegression):
        def fit(self, x, y):
            shares.append(np.mean(y == "dear"))
            return super().fit(x, y)

    rx = rhale.refit(Watched(), x, classes, n_refits=4)
    assert rx.outputs == ("dear",)
    assert shares == pytest.approx([0.1] * 4, abs=1 / 120)
    assert rx["x0"].comes_back


@pytest.mark.parametrize("make", [RandomForestClassifier, HistGradientBoostingClassifier])
def test_three_classes_are_three_outputs(make):
    x, y = numbers(120)
    classes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    size = {"n_estimators": 10} if make is RandomForestClassifier else {"max_iter": 3}
    rx = rhale.refit(make(random_state=0, **size), x, classes, n_refits=2)
    assert rx.outputs == ("0", "1", "2")
    assert np.diff(rx["x0", "2"].curve([-1.0, 1.0]))[0] > 0.02
    assert np.diff(rx["x0", "0"].curve([-1.0, 1.0]))[0] < -0.02


def test_several_targets_are_several_outputs():
    x, y = numbers()
    rx = rhale.refit(LinearRegression(), x, np.column_stack([y, -y]), n_refits=2)
    assert rx.outputs == ("y0", "y1")
    up, down = (np.diff(rx["x0", o].curve([0.0, 1.0]))[0] for o in rx.outputs)
    assert up == pytest.approx(-down)


# --- schemes ----------------------------------------------------------------------------------------


def test_folds_of_groups_come_from_scikit_learn_as_they_are():
    x, y = numbers()
    patient = np.arange(N) // 4
    found = cross_validate(
        LinearRegression(), x, y, groups=patient, cv=GroupKFold(5),
        return_estimator=True, return_indices=True,
    )  # fmt: skip
    rx = rhale.refits(found, x, groups=patient)
    assert rx.overlap.factor == pytest.approx(0.8 * 4)
    assert rx.provenance["learner"] == "LinearRegression"


@pytest.mark.parametrize(
    ("options", "factor"),
    [
        ({"scheme": "half-samples", "n_refits": 8}, 1 / 8 + 1 * 7 / 8),
        ({"scheme": "folds", "n_refits": 5}, 0.8 * 4),
        ({"scheme": "subsamples", "n_refits": 12, "share": 0.75}, 1 / 12 + 3),
        ({"scheme": "bootstraps", "n_refits": 12}, 1 + 1 / 12),
    ],
)
def test_every_scheme_has_its_factor(options, factor):
    x, y = numbers()
    rx = rhale.refit(LinearRegression(), x, y, **options)
    # drawn rows scatter about the expectation; halves and folds do not
    assert rx.overlap.factor == pytest.approx(factor, rel=0.15)
    assert rx.provenance["scheme"] == options["scheme"]


# --- questions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "ice", "mplot"])
def test_every_method_tells_the_slope_of_a_line(method):
    x, y = numbers()
    parts = [np.arange(0, N, 2), np.arange(1, N, 2), np.arange(0, N, 3), np.arange(1, N, 3)]
    rx = rhale.refit(LinearRegression(), x, y, train=parts, method=method)
    slopes = [LinearRegression().fit(x[p], y[p]).coef_[0] for p in parts]
    rise = np.diff(rx["x0"].curve([-0.5, 0.5]))[0]
    tolerance = 0.3 if method == "mplot" else 1e-6  # which does not hold other features still
    assert rise == pytest.approx(np.mean(slopes), abs=tolerance)
    assert len(rx.to_frame()) > 3
    assert "x0" in str(rx)


def test_networks_are_asked_for_their_gradient():
    torch = pytest.importorskip("torch")
    learned = []

    def learn(rows, target):
        slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
        learned.append(slopes)
        network = torch.nn.Linear(3, 1, bias=False, dtype=torch.float64)
        network.weight.data[:] = torch.from_numpy(slopes)
        return network

    x, y = numbers()
    rx = rhale.refit(learn, x, y, n_refits=2, method="dale")
    slope = np.mean([slopes[0] for slopes in learned])
    assert np.diff(rx["x0"].curve([-0.5, 0.5]))[0] == pytest.approx(slope)
    assert rx.provenance["ways"]["x0"] == "gradient"


@pytest.mark.parametrize("regions", [True, rhale.By("city")])
def test_regions_are_those_of_every_training(regions, people):
    learner = make_pipeline(prepare(), Ridge(1e-3))
    rx = rhale.refit(learner, people, "rent", n_refits=2, regions=regions)
    assert rx.n_trainings == 2
    if regions is not True:
        assert all(fx["age"].regions for fx in rx.explanations)


def test_limits_and_categories_are_asked_of_every_training():
    x, y = numbers()
    x[:, 2] = np.digitize(x[:, 2], [-0.5, 0.5])
    options = {"limits": {"x0": (-1.0, 1.0)}, "categorical": {"x2": True}, "features": ["x0", "x2"]}
    rx = rhale.refit(LinearRegression(), x, y, n_refits=2, **options)
    assert rx.features == ("x0", "x2")
    assert all(fx["x0"].edges[[0, -1]].tolist() == [-1.0, 1.0] for fx in rx.explanations)
    assert sorted(rx.explanations[0]["x2"].labels) == ["0", "1", "2"]


def test_interactions_that_come_back_are_told_from_those_that_do_not():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 3))
    y = 2 * x[:, 0] * x[:, 1] + x[:, 2] + 0.3 * rng.normal(size=400)
    learner = boosters().set_params(n_estimators=40)
    rx = rhale.refit(learner, x, y, n_refits=8, pairs="all")
    found = {pair.names: pair for pair in rx.pairs}
    assert found["x0", "x1"].comes_back
    assert found["x0", "x1"].replicated > 4 * found["x0", "x2"].replicated
    later = rx.replication(pairs=[("x1", "x0")])
    assert later["strength"][0] == found["x0", "x1"].strength


# --- tables that are not in memory ------------------------------------------------------------------


def test_dask_is_for_models_that_share_no_row(people):
    dask = pytest.importorskip("dask.dataframe")
    rows = people[["age", "income"]].fillna(0.0)
    data = dask.from_pandas(rows, npartitions=2)
    models = [LinearRegression().fit(rows[:120], people["rent"][:120])] * 2
    with pytest.raises(
        rhale.errors.BadTableError, match=r"must be in memory; read the table first"
    ):
        rhale.refits(models, data, train=[np.arange(120), np.arange(120, N)])
    rx = rhale.refits(models, data, scheme="independent")
    assert np.diff(rx["age"].curve([30.0, 31.0]))[0] == pytest.approx(models[0].coef_[0])
