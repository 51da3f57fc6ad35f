"""H of trees from their leaves is H of the same trees asked row by row, whatever library grew them."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures
from tests.contracts.test_trees import (
    QUIET,
    each_family,
    lightgbm,
    options,
    pandas,
    table,
    target,
    walked,
    xgboost,
)
from tests.unit.effects.askers import asker_for

from rhale.data import open_table
from rhale.data.columns import Labels
from rhale.effects.local.queries import BatchedModel
from rhale.interaction.h_statistic import h_statistics

N_ROWS = 25


def compare(model, x, weights=None, response="auto"):
    """H from leaves, and of a function that sums the leaves of whatever rows it is asked about."""
    rows = x[:N_ROWS] if isinstance(x, np.ndarray) else x.iloc[:N_ROWS]
    whole = open_table(rows)
    named = [i for i in range(len(whole.names)) if whole.holds(i) != "number"]
    whole = whole.label({i: Labels(tuple(rows.iloc[:, i].cat.categories)) for i in named})
    chunk = whole.chunk(0, N_ROWS)
    predictor = walked(model, x, response)
    assert predictor.walks, predictor.notes
    columns = range(len(whole.names))
    pairs = list(combinations(columns, 2))
    found = h_statistics(
        BatchedModel(predictor, whole.names, 10_000), chunk, columns, pairs, weights
    )

    def sums(given):
        return predictor.walker.predict(given)[:, list(predictor.chosen)]

    asked = h_statistics(asker_for(sums, chunk, whole.names), chunk, columns, pairs, weights)
    assert (found.source, asked.source) == ("leaves", "rows")
    assert found.n_asked == N_ROWS
    size = 1 + asked.variance
    for name in ("numerator", "denominator", "importance"):
        ours, theirs = getattr(found, name), getattr(asked, name)
        np.testing.assert_allclose(ours / size, theirs / size, rtol=0, atol=1e-12)
    return found, asked


@each_family
@pytest.mark.parametrize("n_classes", [0, 3])
def test_h_from_leaves_is_h_of_all_combinations(family, n_classes):
    if n_classes and not family.has_margin and family.name != "forest":
        pytest.skip("their probabilities are sums of leaves, as those of the forest")
    missing = 0.1 if family.takes_missing else 0.0
    x, rng = table(3, missing=missing), np.random.default_rng(5)
    kind = family.classifier if n_classes else family.regressor
    response = "margin" if n_classes and family.has_margin else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(**options(family.name, rng)).fit(x, target(x, n_classes))
        weights = rng.uniform(0, 2, N_ROWS) if n_classes else None
        compare(model, x, weights, response)


def categories(n=300):
    rng = np.random.default_rng(2)
    return pandas.DataFrame(
        {
            "name": pandas.Categorical(rng.choice([*"abcdefghijk"], n)),
            "number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "other": rng.normal(size=n),
        }
    )


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "hist"])
def test_sets_of_categories_are_counted(library):
    x = categories()
    codes = x["name"].cat.codes.to_numpy()
    y = (codes % 3 == 0) * np.nan_to_num(x["number"].to_numpy() + 2) + x["other"]
    model = {
        "lightgbm": lambda: lightgbm.LGBMRegressor(
            n_estimators=9, min_child_samples=3, min_data_per_group=3, cat_smooth=1, **QUIET
        ),
        "xgboost": lambda: xgboost.XGBRegressor(n_estimators=9, enable_categorical=True, n_jobs=1),
        "hist": lambda: HistGradientBoostingRegressor(
            max_iter=9, categorical_features="from_dtype", min_samples_leaf=3
        ),
    }[library]().fit(x, y)
    found, _ = compare(model, x)
    assert found.strength[0, 0] > 0


def test_columns_are_followed_through_the_steps_before():
    x = table(1)
    trees = lightgbm.LGBMRegressor(n_estimators=9, min_child_samples=3, **QUIET)
    compare(make_pipeline(MinMaxScaler(), trees).fit(x, target(x, 0)), x)


@pytest.mark.parametrize("name", ["probabilities", "mixed"])
def test_what_is_no_sum_of_leaves_is_asked(name):
    x = table(0)[:, [0, 4]]
    if name == "mixed":
        trees = lightgbm.LGBMRegressor(n_estimators=5, **QUIET)
        model = make_pipeline(PolynomialFeatures(2), trees).fit(x, target(table(0), 0))
    else:
        model = lightgbm.LGBMClassifier(n_estimators=5, **QUIET).fit(x, target(table(0), 2))
    chunk = open_table(x).chunk(0, 10)
    predictor = walked(model, x)
    found = h_statistics(BatchedModel(predictor, ("a", "b"), 10_000), chunk, [0, 1], [(0, 1)])
    assert found.source == "rows"
    assert found.n_asked == 10 + 100 * (4 + 1)
    assert found.strength[0, 0] > 0


def test_pairs_in_blocks_are_the_same_as_all_at_once(monkeypatch):
    x = table(0)
    model = lightgbm.LGBMRegressor(n_estimators=9, min_child_samples=3, **QUIET)
    asker = BatchedModel(walked(model.fit(x, target(x, 0)), x), tuple("abcde"), 10_000)
    chunk, pairs = open_table(x).chunk(0, 40), list(combinations(range(5), 2))
    whole = h_statistics(asker, chunk, range(5), pairs)
    monkeypatch.setattr("rhale.interaction.h_statistic.MAX_DEPENDENCE_NUMBERS", 3 * 40)
    blocks = h_statistics(asker, chunk, range(5), pairs)
    turned = h_statistics(asker, chunk, range(5), [pair[::-1] for pair in pairs])
    for other in (blocks, turned):
        np.testing.assert_allclose(other.numerator, whole.numerator, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(other.denominator, whole.denominator, rtol=1e-12)
    assert np.count_nonzero(whole.numerator) > 5


def test_the_margin_of_boosted_trees_of_one_split_has_exactly_no_pairs():
    x = table(2)
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=2, **QUIET).fit(x, target(x, 2))
    asker = BatchedModel(walked(model, x, "margin"), tuple("abcde"), 10_000)
    found = h_statistics(
        asker, open_table(x).chunk(0, 200), range(5), list(combinations(range(5), 2))
    )
    assert found.source == "leaves"
    assert not found.strength.any()
    assert not found.overall.any()
