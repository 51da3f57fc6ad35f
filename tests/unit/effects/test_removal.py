"""Rows without a value: what the model says of them, and what that changes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.unit.effects.askers import asker_for, replies_to, rows_of

from rhale.data import open_table
from rhale.data.columns import Labels
from rhale.effects.local.profiles import Removal, refuse_missing, without_value

VALUE = {"low": 1.0, "mid": 10.0, "high": 100.0}
TABLE = pd.DataFrame(
    {"size": ["low", "mid", "high", None, "mid", "low"], "scale": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
)


def price(rows):
    """What a size is worth, times the row's own scale; no size is worth nothing."""
    return rows["size"].map(VALUE).fillna(0.0).to_numpy(dtype=float) * rows["scale"].to_numpy()


def parts(model):
    opened = open_table(TABLE).label({0: Labels(("low", "mid", "high"))})
    chunk = opened.chunk(0, 6)
    return asker_for(model, chunk, opened.names), chunk


def test_predictions_without_a_value_are_those_of_rows_that_miss_it():
    asker, chunk = parts(price)
    answers = asker.ask(chunk, [without_value(chunk, 0)])
    assert answers[0].tolist() == [[0.0]] * 6


@pytest.mark.parametrize("kind", ["answers", "raises", "answers nan"])
def test_a_model_without_an_answer_for_missing_values_is_recognised(kind):
    def model(rows):
        empty = rows["scale"].isna().to_numpy()
        if kind == "raises" and empty.any():
            msg = "no nan, please"
            raise ValueError(msg)
        return np.where(empty, np.nan if kind == "answers nan" else 0.0, rows["scale"])

    asker, chunk = parts(model)
    why = refuse_missing(asker, chunk, 1)
    expected = {"answers": None, "answers nan": "its prediction is not a finite number"}
    assert why == expected.get(kind, why)
    assert (why is None) == (kind == "answers")


@pytest.mark.parametrize(
    ("of", "values"),
    [
        ("change", [-1.0, -20.0, -300.0, -50.0, -6.0]),  # of the rows that have a size
        ("prediction", [0.0] * 6),  # of all rows, without a size
        ("own", [0.0]),  # of the row that has none
    ],
)
def test_each_kind_is_about_its_own_rows(of, values):
    asker, chunk = parts(price)
    removal = Removal(SimpleNamespace(column=0, n_missing=1, missing_share=1 / 6), of)
    rows = rows_of(chunk)
    asked = removal.questions(rows)
    assert len(asked.changes) == removal.n_changes == (0 if of == "own" else 1)
    tally = removal.add_up(rows, asked, replies_to(asked, asker, chunk))
    (point,) = removal.conclude(tally.total, tally.kept, SimpleNamespace(outputs=("y",))).missing
    assert (point.count, point.share, point.rows) == (1, 1 / 6, len(values))
    assert point.mean == pytest.approx(np.mean(values))
    if len(values) > 1:
        assert point.std == pytest.approx(np.std(values, ddof=1))
