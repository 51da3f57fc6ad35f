"""A learner with its rows: what it sees of them in a training."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from rhale.data import open_table
from rhale.errors import ModelFailedError
from rhale.models.training import TrainingSet, as_trainer

FRAME = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "sex": list("mfmf")})


def watched():
    seen = []

    def fit(rows, target, **params):
        seen.append((rows, target, params))
        return len

    return fit, seen


def test_rows_target_and_parameters_are_of_the_same_rows():
    fit, seen = watched()
    weight = np.array([0.1, 0.2, 0.3, 0.4])
    lesson = TrainingSet(as_trainer(fit), open_table(FRAME), pd.Series([5, 6, 7, 8]), {"w": weight})
    lesson.train(np.array([3, 1, 1]))
    rows, target, params = seen[0]
    assert rows["age"].tolist() == [4.0, 2.0, 2.0]
    assert target.tolist() == [8, 6, 6]
    assert params["w"].tolist() == [0.4, 0.2, 0.2]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_a_learner_sees_the_users_kind_of_table(make):
    fit, seen = watched()
    data = make(FRAME)
    TrainingSet(as_trainer(fit), open_table(data), [1, 2, 3, 4]).train(np.array([0, 2]))
    assert type(seen[0][0]) is type(data)
    assert seen[0][1] == [1, 3]


@pytest.mark.parametrize(
    "target",
    [
        ["a", "b", "a", "b"],
        np.array([0, 1, 0, 1]),
        pd.Series(list("abab"), dtype="category"),
        pl.Series(["a", "b", "a", "b"]),
        pa.array(["a", "b", "a", "b"]),
    ],
)
def test_classes_of_any_kind_are_strata(target):
    lesson = TrainingSet(as_trainer(LogisticRegression()), open_table(FRAME[["age"]]), target)
    strata = lesson.strata
    assert strata[0] == strata[2] != strata[1]
    with pytest.raises(ModelFailedError, match=r"none of its 2 rows is of class '[b1]'; give more"):
        lesson.train(np.array([0, 2]))
    model = lesson.train(np.array([0, 1, 2]))
    assert len(model.classes_) == 2


def test_numbers_and_several_targets_have_no_strata():
    table = open_table(FRAME[["age"]])
    assert TrainingSet(as_trainer(LinearRegression()), table, [1.0, 2.0, 3.0, 4.0]).strata is None
    several = np.array([[0, 1], [1, 0], [0, 1], [1, 1]])
    lesson = TrainingSet(as_trainer(LogisticRegression()), table, several)
    assert lesson.strata is None
