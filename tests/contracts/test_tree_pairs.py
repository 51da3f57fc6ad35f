"""Walked pairs are differences of the library's own predictions at four corners."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PowerTransformer, QuantileTransformer
from tests.pair_corners import (
    ask_pairs,
    ask_side,
    assert_same_reply,
    cells_of,
    differences_by_hand,
    levels_of,
)

pytest.importorskip("numba")
pytest.importorskip("treelite")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
pytest.importorskip("catboost")
pandas = pytest.importorskip("pandas")

from tests.contracts.test_trees import (
    BY_NAME,
    CATEGORICAL,
    DOUBLE,
    FAMILIES,
    LINKED,
    QUIET,
    SINGLE,
    each_family,
    frame,
    simple,
    table,
    target,
    walked,
)

import rhale
from rhale.data import open_table
from rhale.data.columns import Labels
from rhale.models import wrap

N_SEEN = 90  # rows that brute force is done for


def read(x):
    """Some rows of a table, names of levels read as numbers."""
    opened = open_table(x[:N_SEEN] if isinstance(x, np.ndarray) else x.iloc[:N_SEEN])
    rows = opened.chunk(0, N_SEEN)
    named = [i for i in range(x.shape[1]) if rows.distinct(i) is not None]
    return opened.label({i: Labels(tuple(rows.distinct(i)[0])) for i in named}).chunk(0, N_SEEN)


def ask_all(chunk, levels, n_columns):
    """Sides of all columns, some of them with levels."""
    sides = []
    for column in range(n_columns):
        x = chunk.column(column)
        sides.append(ask_side(column, x, (levels_of if column in levels else cells_of)(x)))
    return ask_pairs(sides)


def assert_pairs_of(model, x, precision, response="auto", levels=(2, 3)):
    """All differences are those of the model, and those of the walker's answers to rounding."""
    chunk = read(x)
    predictor = walked(model, x, response)
    assert predictor.walks_pairs, predictor.notes
    question = ask_all(chunk, levels, x.shape[1])
    assert all(predictor.walker.sees(side.column) for side in question.sides)
    reply = predictor.walk_pairs(predictor.walker, chunk, question, "")
    sources = [(wrap(model, walk=False, response=response).predict, precision)]
    if precision != DOUBLE:
        sources.append((predictor.walker.predict, DOUBLE))
    for ask, allowed in sources:

        def predict(changes, ask=ask):
            found = np.asarray(ask(chunk.substitute(changes)), dtype=np.float64)
            return found.reshape(N_SEEN, -1)[:, list(predictor.chosen)]

        expected = differences_by_hand(predict, chunk.column, question)
        assert_same_reply(reply, expected, 4 * allowed)
    return reply


@each_family
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_pairs_are_those_of_the_library(family, n_classes):
    x = table(n_classes, missing=0.1 if family.takes_missing else 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = simple(family.name, x, n_classes)
        reply = assert_pairs_of(model, x, family.precision)
    assert any(mixed.any() for mixed in reply.mixed)


@pytest.mark.parametrize("name", [f.name for f in FAMILIES if f.has_margin])
def test_pairs_of_raw_sums_are_those_of_the_library(name):
    x = table(0)
    model = simple(name, x, 2)
    response = "margin" if name in ("xgboost", "lightgbm", "catboost") else "decision_function"
    assert_pairs_of(model, x, BY_NAME[name].precision, response)


def test_pairs_on_log_odds_are_those_of_the_library():
    x = table(0)
    model = simple("lightgbm", x, 2)
    assert_pairs_of(model, x, DOUBLE, "log_odds")


@pytest.mark.parametrize("name", LINKED)
def test_pairs_pass_through_the_link(name):
    x = table(0)
    model = LINKED[name]().fit(x, np.exp(0.5 * target(x, 0)))
    assert_pairs_of(model, x, SINGLE if name.startswith("xgboost") else DOUBLE)


@pytest.mark.parametrize("name", CATEGORICAL)
def test_categories_of_a_data_frame_make_pairs(name):
    data, y = frame()
    model = CATEGORICAL[name]().fit(data, y)
    precision = SINGLE if name.startswith("xgboost") else DOUBLE
    reply = assert_pairs_of(model, data, precision, levels=(1, 3))
    assert reply.mixed[0].any()


@pytest.mark.parametrize("zero_as_missing", [False, True])
def test_zeros_that_are_missing_and_values_that_are_not_there_make_pairs(zero_as_missing):
    x = table(4, missing=0.15)
    x[::5, 0] = 0.0
    model = lightgbm.LGBMRegressor(
        n_estimators=15, zero_as_missing=zero_as_missing, min_child_samples=5, **QUIET
    ).fit(x, target(x, 0))
    reply = assert_pairs_of(model, x, DOUBLE)
    nowhere = np.isnan(x[:N_SEEN, 0]) | np.isnan(x[:N_SEEN, 1])
    assert nowhere.any()
    assert not reply.mixed[0][:, nowhere].any()


def test_a_number_that_stands_for_a_missing_one_makes_pairs():
    x = table(4)
    x[::5, 0] = -99.0
    model = xgboost.XGBRegressor(n_estimators=5, missing=-99.0, n_jobs=1).fit(x, target(x, 0))
    assert_pairs_of(model, x, SINGLE)


@pytest.mark.parametrize(
    "step", [PowerTransformer, lambda: QuantileTransformer(n_quantiles=50)], ids=["power", "ranks"]
)
def test_pairs_behind_a_step_are_those_of_the_pipeline(step):
    x = table(0)
    trees = GradientBoostingRegressor(n_estimators=25, random_state=0)
    assert_pairs_of(make_pipeline(step(), trees).fit(x, target(x, 0)), x, DOUBLE)


def test_names_behind_an_encoder_make_pairs():
    rng = np.random.default_rng(0)
    data = pandas.DataFrame({n: rng.choice(list("abcde"), 300) for n in ("one", "two")})
    y = (data["one"] == "b") * (data["two"] > "b") * 1.0
    trees = GradientBoostingRegressor(n_estimators=10, random_state=0)
    model = make_pipeline(OrdinalEncoder(), trees).fit(data, y)
    reply = assert_pairs_of(model, data, DOUBLE, levels=(0, 1))
    assert reply.mixed[0].shape == (1, N_SEEN, 4)
    assert reply.mixed[0].any(axis=(0, 1)).all()


def test_several_outputs_have_pairs():
    x = table(0)
    y = np.column_stack([target(x, 0), -target(x, 0, 1)])
    assert_pairs_of(RandomForestRegressor(5, random_state=0).fit(x, y), x, DOUBLE)
    assert_pairs_of(xgboost.XGBRegressor(n_estimators=5).fit(x, y), x, SINGLE)


def test_a_model_that_adds_columns_up_has_pairs_of_exactly_nothing():
    x = table(1)
    model = lightgbm.LGBMRegressor(n_estimators=40, max_depth=1, **QUIET).fit(x, target(x, 0))
    reply = assert_pairs_of(model, x, DOUBLE)
    assert not any(mixed.any() for mixed in reply.mixed)
    assert any(single.any() for single in reply.single)


@each_family
def test_interactions_are_those_of_the_black_box(family):
    x = table(2)
    model = simple(family.name, x)
    fast = rhale.interactions(model, x, features=[0, 2, 3, 4])
    slow = rhale.interactions(wrap(model, walk=False), x, features=[0, 2, 3, 4], pairs="all")
    for one, other in zip(fast.pairs, slow.pairs, strict=True):
        assert one.strength == pytest.approx(other.strength, abs=100 * family.precision)
