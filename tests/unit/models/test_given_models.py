"""Models from elsewhere and their rows; the whole call is tested in tests/unit/stability/test_refit.py."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from rhale.errors import BadSettingError
from rhale.models.training import (
    describe_columns,
    read_models,
    refuse_rows,
    require_same_columns,
    require_training_rows,
)

TWO = [len, len]


def test_models_are_listed_and_their_rows_left_alone():
    assert read_models((one for one in TWO), [1], None) == (TWO, [1], None)


def test_cross_validate_brings_models_and_rows():
    found = {"estimator": TWO, "indices": {"train": [[0], [1]], "test": [[1], [0]]}}

    assert read_models(found, None, None) == (TWO, [[0], [1]], [[1], [0]])
    assert read_models(found, [[2], [3]], None) == (TWO, [[2], [3]], None)


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ({"test_score": [1]}, "return_estimator=True"),
        ({"estimator": TWO}, "return_indices=True"),
        ([len], "two or more"),
        (len, "is one model; give a list"),
    ],
)
def test_what_is_no_list_of_models_is_refused(models, said):
    with pytest.raises(BadSettingError, match=said):
        read_models(models, None, None)


def test_columns_are_told_by_name_or_by_number():
    rows = np.ones((3, 2))
    model = LinearRegression().fit(rows, [1, 2, 3])

    assert describe_columns(model) == "2 columns"
    assert describe_columns(len) == ""
    wide = LinearRegression().fit(np.ones((3, 4)), [1, 2, 3])
    with pytest.raises(
        BadSettingError, match="model 1 was fitted on 2 columns, model 3 on 4 columns"
    ):
        require_same_columns([model, model, wide])


def test_rows_of_each_model_are_asked_for_and_counted():
    with pytest.raises(BadSettingError, match="which rows was each model trained on"):
        require_training_rows(TWO, None, None, 10)
    with pytest.raises(BadSettingError, match="2 models, and rows of 3 retrainings"):
        require_training_rows(TWO, [[0, 1], [2, 3], [4, 5]], None, 10)
    assert [rows.tolist() for rows in require_training_rows(TWO, [[0, 1], [2]], None, 10)] == [
        [0, 1],
        [2],
    ]


def test_models_that_share_no_row_need_no_rows():
    refuse_rows(train=None, test=None)
    with pytest.raises(BadSettingError, match="leave groups= out"):
        refuse_rows(train=None, groups=[1, 2])
