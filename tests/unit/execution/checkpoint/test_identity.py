import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.data import open_table
from rhale.data.files.table import open_files
from rhale.execution.checkpoint.folder import identify
from rhale.pipeline import plain_bins

ROWS = np.random.default_rng(0).normal(size=(50, 2))


def identity(rows=ROWS, weights=None, **said):
    return identify(open_table(rows, weights), said)


def test_the_same_rows_and_settings_are_the_same_run():
    assert identity(seed=1, bins=rhale.Fixed(3)) == identity(seed=1, bins=rhale.Fixed(3))


@pytest.mark.parametrize(
    "other",
    [
        identity(seed=2),
        identity(bins=rhale.Fixed(4), seed=1),
        identity(ROWS[::-1], seed=1),
        identity(np.where(ROWS[3, 1] == ROWS, 0.0, ROWS), seed=1),
        identity(pd.DataFrame(ROWS), seed=1),
        identity(weights=np.arange(1.0, 51.0), seed=1),
    ],
)
def test_other_rows_or_settings_are_another_run(other):
    assert other != identity(seed=1)


def test_other_weights_are_another_run():
    assert identity(weights=np.full(50, 2.0)) != identity(weights=np.arange(1.0, 51.0))


def test_bins_of_another_explanation_are_told_apart_by_their_numbers():
    def model(rows):
        return rows[:, 0] ** 2

    one, same, other = (rhale.explain(model, ROWS, bins=n) for n in (2, 2, 3))
    same = replace(same, provenance={**same.provenance, "created": "later"})
    assert plain_bins(one) == plain_bins(same) != plain_bins(other)
    assert plain_bins({"x0": one, "x1": 3}) == {"x0": plain_bins(one), "x1": 3}


def test_a_description_is_plain_json():
    said = {"limits": {"x0": (0, np.float64(1.5))}, "features": [np.int64(1)], "bins": None}
    found = identity(**said)
    assert json.loads(json.dumps(found)) == found
    assert found["limits"] == {"x0": [0, 1.5]}


def test_other_drawn_rows_of_files_are_another_run(tmp_path):
    pd.DataFrame(ROWS, columns=["a", "b"]).to_parquet(tmp_path / "rows.parquet")
    table = open_files(tmp_path / "rows.parquet")
    one, same, other = (table.take(np.array(p), [50]) for p in ([0, 1], [0, 1], [0, 2]))
    assert identify(one, {}) == identify(same, {}) != identify(other, {})
    assert identify(table, {}) != identify(one, {})
