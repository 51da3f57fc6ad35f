"""The page says how to make the same again: the printed call runs, and gives the same numbers."""

import json
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import rhale
from rhale.report.effects import make_page
from rhale.settings import NOT_IN_NUMBERS, Settings

N = 300
RNG = np.random.default_rng(3)
X = pd.DataFrame(
    {
        "age": RNG.uniform(20, 80, N),
        "two  spaces": RNG.normal(size=N),
        "rooms": RNG.integers(1, 6, N),
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 500, N), "D"),
        "city": RNG.choice(["oslo", "rome", "bonn"], N),
        "weight": RNG.uniform(0.5, 2.0, N),
    }
)
NUMBERS = X[["age", "two  spaces", "rooms"]].to_numpy(float)
OTHER = rhale.explain(lambda rows: rows[:, 0] ** 2, NUMBERS)


def price(rows):
    days = (rows["since"] - pd.Timestamp("2020-01-01")).dt.days
    city = rows["city"].map({"oslo": 3.0, "rome": 1.0, "bonn": 2.0})
    return np.column_stack([rows["age"] * rows["rooms"] + city, 0.1 * days + rows["two  spaces"]])


def plain(rows):
    rows = np.asarray(rows, dtype=float)
    return rows[:, 0] * rows[:, 1] + np.floor(rows[:, 2])


def slopes(rows):
    return np.column_stack([rows[:, 1], rows[:, 0], 0 * rows[:, 0]])


def network():
    torch.manual_seed(0)
    return torch.nn.Linear(3, 2).double()


CALLS = {
    "nothing": (plain, NUMBERS, {}),
    "features": (price, X, {"features": ["age", "two  spaces"], "columns": list(X.columns)}),
    "method and bins": (plain, NUMBERS, {"method": "ale", "bins": rhale.Quantile(7)}),
    "bins by feature": (plain, NUMBERS, {"bins": {"x0": rhale.Edges([20, 40, 80]), 1: 5}}),
    "bins of another": (plain, NUMBERS, {"bins": OTHER}),
    "optimal": (plain, NUMBERS, {"bins": rhale.Optimal(30, min_points=20)}),
    "local": (plain, NUMBERS, {"gradient": slopes, "local": "gradient"}),
    "regions": (plain, NUMBERS, {"regions": rhale.Regions(depth=1, splitters=["x1", "x2"])}),
    "groups": (plain, NUMBERS, {"regions": rhale.By("x0", cuts=[40, 60])}),
    "secants": (plain, NUMBERS, {"local": "secant", "window": 0.2}),
    "output": (price, X, {"output": "y1"}),
    "weights": (price, X, {"weights": "weight"}),
    "many weights": (plain, NUMBERS, {"weights": X["weight"].to_numpy()}),
    "categorical": (price, X, {"categorical": {"city": ["rome", "bonn", "oslo"], "rooms": True}}),
    "limits": (plain, NUMBERS, {"limits": {"x0": (30, 60), 1: (-1, 1)}}),
    "limits of dates": (
        price,
        X,
        {"features": "since", "limits": (pd.Timestamp("2020-03-01"), np.datetime64("2021-01-01"))},
    ),
    "rows": (plain, NUMBERS, {"n_rows": 120, "seed": 5}),
    "batches and threads": (plain, NUMBERS, {"batch_size": 77, "n_jobs": 2}),
    "device": (network(), NUMBERS, {"device": "cpu"}),
    "profile": (plain, NUMBERS, {"method": "ice", "bins": 6}),
    "no partners": (plain, NUMBERS, {"partners": False}),
    "names": (
        plain,
        NUMBERS,
        {"feature_names": ["age", "b", "rooms"], "output_names": "price", "units": {"price": "$"}},
    ),
    "units": (plain, NUMBERS, {"transform": {"x1": (np.exp, np.log), "prediction": np.arcsinh}}),
    "units of outputs": (plain, NUMBERS, {"output_transform": np.arcsinh}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_printed_call_gives_the_same_numbers(name, tmp_path, monkeypatch):
    model, table, options = CALLS[name]
    fx = rhale.explain(model, table, **options)
    code = make_page(fx.effects, fx.provenance).sections[0].code
    monkeypatch.chdir(tmp_path)
    scope = {"model": model, "X": table, **options}  # what has no source is a variable of its name
    exec(code, scope)  # noqa: S102 - our own text
    again = scope["fx"]
    assert again.effects == fx.effects
    assert np.array_equal(again.sample_x, fx.sample_x, equal_nan=True)
    assert (tmp_path / "effects.html").exists()


def test_every_argument_that_changes_numbers_is_printed():
    shown = set()
    for model, table, options in CALLS.values():
        shown |= rhale.explain(model, table, **options).provenance["asked"].keys()
    elsewhere = {*NOT_IN_NUMBERS, "response", "pairing", "spread_window"}
    assert shown == {f.name for f in fields(Settings)} - elsewhere
    fitted = LogisticRegression().fit(NUMBERS, X["city"] == "oslo")
    fx = rhale.explain(fitted, NUMBERS, response="log_odds")
    assert "    response='log_odds',\n" in make_page(fx.effects, fx.provenance).sections[0].code


def saved_numbers(fx, folder):
    """All that is saved of a result, without when and with how many threads it was made."""
    fx.save(folder / "fx.json")
    content = json.loads((folder / "fx.json").read_text(encoding="utf-8"))
    del content["provenance"]
    return content


@pytest.mark.parametrize("library", ["lightgbm", "sklearn"])
@pytest.mark.parametrize("asked", [{}, {"method": "pdp"}, {"regions": True}], ids=str)
def test_trees_give_the_same_bits_with_any_number_of_threads(tmp_path, library, asked):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3_000, 4))
    y = x[:, 0] * x[:, 1] + np.floor(x[:, 2])
    if library == "sklearn":
        forest = pytest.importorskip("sklearn.ensemble").RandomForestRegressor
        model = forest(8, max_depth=6, random_state=0)
    else:
        model = pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=20, verbose=-1)
    model.fit(x, y)
    one, *others = (
        saved_numbers(rhale.explain(model, x, n_jobs=n, **asked), tmp_path) for n in (1, 2, 4)
    )
    assert all(other == one for other in others)


def test_pairs_of_trees_give_the_same_bits_with_any_number_of_threads(tmp_path):
    x = np.random.default_rng(0).normal(size=(3_000, 4))
    model = pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=20, verbose=-1)
    model.fit(x, x[:, 0] * x[:, 1] + np.floor(x[:, 2]))
    one, *others = (
        saved_numbers(rhale.interactions(model, x, pairs="all", n_jobs=n), tmp_path)
        for n in (1, 2, 4)
    )
    assert all(other == one for other in others)
