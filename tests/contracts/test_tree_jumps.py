"""Walked jumps are differences of the library's own predictions on both sides of a threshold."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler
from tests.jumps_by_hand import ask_about, assert_same_jumps, count_some, jumps_by_hand

pytest.importorskip("numba")
pytest.importorskip("treelite")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
pytest.importorskip("catboost")
pytest.importorskip("pandas")

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

from rhale.data import open_table
from rhale.models import wrap

N_SEEN = 60  # rows that brute force is done for


def ask_all(walker, x, columns, most=1000):
    """Questions about the columns that have places, and these places."""
    chunk, asked = open_table(x).chunk(0, len(x)), []
    for column in columns:
        values = chunk.column(column)
        cuts = walker.places(column, chunk, np.unique(values[~np.isnan(values)]))
        if cuts is not None:
            asked.append((ask_about(column, values, cuts, share=0.2, wide=0.5, most=most), cuts))
    return asked


def assert_jumps_of(model, x, precision, response="auto", most=1000, columns=None, sides=None):
    """All jumps are those of the model; where a threshold is known roughly, `sides` says how."""
    x = x[:N_SEEN] if hasattr(x, "shape") and not hasattr(x, "iloc") else x.iloc[:N_SEEN]
    predictor = walked(model, x, response)
    assert predictor.walks, predictor.notes
    chunk, rows = open_table(x).chunk(0, len(x)), count_some(len(x))
    columns = range(x.shape[1]) if columns is None else columns
    asked = ask_all(predictor.walker, x, columns, most)
    questions = [question for question, _ in asked]
    replies = predictor.walk_jumps(predictor.walker, chunk, questions, rows, "")
    ask = wrap(model, walk=False, response=response)
    for (question, cuts), reply in zip(asked, replies, strict=True):

        def predict(values, column=question.column):
            found = np.asarray(ask.predict(chunk.vary([(column, values)])), dtype=np.float64)
            return found.reshape(len(x), -1)[:, list(predictor.chosen)]

        jumps = jumps_by_hand(predict, question, cuts, sides)
        assert_same_jumps(reply, question, rows, jumps, precision)
    return questions


@each_family
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_jumps_are_those_of_the_library(family, n_classes):
    x = table(n_classes, missing=0.1 if family.takes_missing else 0.0)
    more = {"zero_as_missing": False} if family.name == "lightgbm" else {}
    model = simple(family.name, x, n_classes, **more)
    questions = assert_jumps_of(model, x, family.precision)
    assert sum(q.cells.n_cells for q in questions) > 0


@pytest.mark.parametrize("name", [f.name for f in FAMILIES if f.has_margin])
def test_jumps_of_raw_sums_are_those_of_the_library(name):
    x = table(0)
    model = simple(name, x, 2)
    response = "margin" if name in ("xgboost", "lightgbm", "catboost") else "decision_function"
    assert_jumps_of(model, x, BY_NAME[name].precision, response)


def test_thresholds_that_share_a_cell_add_up():
    x = table(1)
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(x, target(x, 0))
    questions = assert_jumps_of(model, x, DOUBLE, most=8)
    assert any(q.cells.is_merged for q in questions)


@pytest.mark.parametrize("name", CATEGORICAL)
def test_columns_beside_categories_have_jumps(name):
    data, y = frame()
    model = CATEGORICAL[name]().fit(data, y)
    precision = SINGLE if name.startswith("xgboost") else DOUBLE
    questions = assert_jumps_of(model, data, precision, columns=[0, 2])
    assert len(questions) == 2


@pytest.mark.parametrize("name", LINKED)
def test_jumps_pass_through_the_link(name):
    x = table(0)
    model = LINKED[name]().fit(x, np.exp(0.5 * target(x, 0)))
    assert_jumps_of(model, x, SINGLE if name.startswith("xgboost") else DOUBLE)


def test_several_outputs_have_jumps():
    x = table(0)
    y = np.column_stack([target(x, 0), -target(x, 0, 1)])
    assert_jumps_of(RandomForestRegressor(5, random_state=0).fit(x, y), x, DOUBLE)
    assert_jumps_of(xgboost.XGBRegressor(n_estimators=5).fit(x, y), x, SINGLE)


@pytest.mark.parametrize(
    "step",
    [StandardScaler, PowerTransformer, lambda: QuantileTransformer(n_quantiles=50)],
    ids=["scaled", "power", "quantiles"],
)
def test_thresholds_behind_a_step_lie_between_the_right_values(step):
    x = table(0)[:N_SEEN, [0, 2, 4]]
    y = x[:, 0] + (x[:, 1] > 3) * x[:, 2]
    trees = GradientBoostingRegressor(n_estimators=25, max_depth=1, random_state=0)
    model = make_pipeline(step(), trees).fit(x, y)

    def beside(column, cut):  # the table's own values before and behind it
        values = np.unique(x[:, column])
        return values[values < cut][-1], values[values >= cut][0]

    questions = assert_jumps_of(model, x, DOUBLE, sides=beside)
    for question in questions:  # one between two values: else brute force could not tell them apart
        sides = [beside(question.column, place) for place in question.cells.places]
        assert len(set(sides)) == len(sides)
    assert sum(q.cells.n_cells for q in questions) > 3


def test_zeros_and_numbers_that_count_as_missing_have_no_places():
    x = table(4)
    x[::5, 0] = -99.0
    model = xgboost.XGBRegressor(n_estimators=5, missing=-99.0, n_jobs=1).fit(x, target(x, 0))
    asked = {question.column for question, _ in ask_all(walked(model, x).walker, x, range(5))}
    assert asked == {1, 2, 3, 4}
    zeros = lightgbm.LGBMRegressor(n_estimators=5, zero_as_missing=True, **QUIET)
    zeros.fit(x, target(x, 0))
    assert ask_all(walked(zeros, x).walker, x, [0]) == []
