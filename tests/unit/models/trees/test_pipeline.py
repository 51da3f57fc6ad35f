import numpy as np
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
    TargetEncoder,
)

from rhale.models.trees.ensemble import DROPPED_COLUMN, MIXED, where_columns_go

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, 1] + 2 * X[:, 3]
NAMES = list("abcd")


class Doubled(StandardScaler):
    """Not one of scikit-learn's own: it may do anything."""


def places(*steps, x=X):
    model = make_pipeline(*steps).fit(x, Y)
    names = [str(n) for n in getattr(model, "feature_names_in_", range(4))]
    return where_columns_go([s for _, s in model.steps], 4, names).tolist()


STAY = [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (StandardScaler(), STAY),
        (SimpleImputer(), STAY),
        (SimpleImputer(add_indicator=True), [MIXED] * 4),
        (KBinsDiscretizer(3, encode="ordinal"), STAY),
        (KBinsDiscretizer(3), [MIXED] * 4),
        (FunctionTransformer(), STAY),
        (FunctionTransformer(np.tanh), STAY),
        (FunctionTransformer(lambda x: x[:, ::-1]), [MIXED] * 4),
        (TargetEncoder(), STAY),
        (PCA(2), [MIXED] * 4),
        (Doubled(), [MIXED] * 4),
        (SelectKBest(f_regression, k=2), [DROPPED_COLUMN, 0, DROPPED_COLUMN, 1]),
        (
            make_pipeline(StandardScaler(), SelectKBest(f_regression, k=2)),
            [DROPPED_COLUMN, 0, DROPPED_COLUMN, 1],
        ),
        (FrozenEstimator(StandardScaler().fit(X)), STAY),
        (FrozenEstimator(PCA(2).fit(X)), [MIXED] * 4),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_step_sends_columns_where_they_belong(step, expected):
    x = np.where(RNG.random(X.shape) < 0.1, np.nan, X) if "Imputer" in str(step) else X
    assert places(step, x=x) == expected


def transformer(*parts, **more):
    return ColumnTransformer([(str(i), *part) for i, part in enumerate(parts)], **more)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([3, 1], [2, 1, 3, 0]),
        ([-1, 1], [2, 1, 3, 0]),
        (slice(2, 4), [2, 3, 0, 1]),
        ([False, True, False, True], [2, 0, 3, 1]),
        (lambda x: [3, 1], [2, 1, 3, 0]),  # noqa: ARG005
        ([], STAY),
    ],
    ids=["places", "from the end", "slice", "mask", "function", "none"],
)
def test_parts_come_first_and_the_rest_behind_them(wanted, expected):
    parts = transformer((StandardScaler(), wanted), remainder="passthrough")
    assert places(parts) == expected


def test_columns_that_are_left_out_twice_taken_or_spread_are_told_apart():
    parts = transformer(
        (StandardScaler(), [0, 1]), (MinMaxScaler(), [1]), (OneHotEncoder(), [2]), ("drop", [3])
    )
    assert places(parts, x=np.round(X)) == [0, MIXED, MIXED, DROPPED_COLUMN]


def test_names_are_those_of_the_step_s_own_table():
    frame = pandas.DataFrame(X, columns=NAMES)
    first = transformer(
        (StandardScaler(), slice("c", "d")), ("passthrough", ["b"]), verbose_feature_names_out=False
    )
    second = transformer((MinMaxScaler(), ["b"]), ("passthrough", ["d"]))
    steps = (first.set_output(transform="pandas"), second)
    # c, d, b after the first; b, d after the second
    assert places(*steps, x=frame) == [DROPPED_COLUMN, 0, DROPPED_COLUMN, 1]
