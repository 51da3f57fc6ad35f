"""Trees behind steps that mix some columns: what can be walked is walked, the rest is asked."""

import numpy as np
import pandas as pd
import pytest

import rhale

pytest.importorskip("numba")
pytest.importorskip("treelite")

from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

RNG = np.random.default_rng(5)
N = 400
TABLE = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "city": pd.Categorical(RNG.choice(["Ulm", "Linz", "Bern"], N)),
        "few": RNG.integers(0, 4, N),
        "zone": RNG.integers(0, 50, N),
    }
)
TABLE.loc[:30, "x"] = np.nan
Y = TABLE["x"].fillna(-1) * (TABLE["city"] == "Ulm") + TABLE["few"] + np.sin(TABLE["zone"])


def behind(step, columns, model):
    return make_pipeline(make_column_transformer((step, columns), remainder="passthrough"), model)


MODELS = {
    "one-hot names": lambda: behind(OneHotEncoder(), ["city"], RandomForestRegressor(5)),
    "one-hot numbers": lambda: behind(
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        ["zone", "city"],
        RandomForestRegressor(5),
    ),
    "ordinal": lambda: behind(OrdinalEncoder(), ["city"], RandomForestRegressor(5)),
    "own categories": lambda: HistGradientBoostingRegressor(
        categorical_features="from_dtype", max_iter=5
    ),
}


def same(walked, asked):
    for a, b in zip(walked.values(), asked.values(), strict=True):
        assert a.mean == pytest.approx(b.mean, abs=1e-9)
        assert a.std == pytest.approx(b.std, abs=1e-7)
        assert (a.missing is None) == (b.missing is None)
        if a.missing:
            assert a.missing.mean == pytest.approx(b.missing.mean, abs=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_walked_trees_give_the_numbers_of_asked_ones(name):
    model = MODELS[name]().fit(TABLE, Y)
    walked = rhale.explain(model, TABLE, method="ale")
    assert walked.provenance["answers_walked"] > 0
    same(walked, rhale.explain(rhale.models.wrap(model, walk=False), TABLE, method="ale"))


def test_a_table_of_levels_alone_is_walked_too():
    model = MODELS["one-hot names"]().fit(TABLE, Y)
    walked = rhale.explain(model, TABLE, features=["city", "few"])
    same(
        walked, rhale.explain(rhale.models.wrap(model, walk=False), TABLE, features=["city", "few"])
    )


def test_log_odds_are_walked():
    x = TABLE[["few", "zone"]]
    model = RandomForestClassifier(20, min_samples_leaf=40, random_state=0).fit(x, Y > 2)
    walked = rhale.explain(model, x, response="log_odds", method="ale")
    assert walked.provenance["answers_walked"] > 0
    asked = rhale.models.wrap(model, walk=False, response="log_odds")
    same(walked, rhale.explain(asked, x, method="ale"))
