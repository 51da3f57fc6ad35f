"""The work for a table grows with its columns, not with their square: counted, not timed."""

from contextlib import contextmanager

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

import rhale

pa = pytest.importorskip("pyarrow")
FEW, MANY = 60, 240


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def frame(n_columns, n_rows=30):
    names = [f"c{i}" for i in range(n_columns)]
    return pd.DataFrame(np.random.default_rng(0).normal(size=(n_rows, n_columns)), columns=names)


def parquet(n_columns):
    frame(n_columns).to_parquet("r.parquet")
    return "r.parquet"


def csv(n_columns):
    frame(n_columns).to_csv("r.csv", index=False)
    return "r.csv"


def arrow(n_columns):
    frame(n_columns).to_feather("r.arrow")
    return "r.arrow"


def in_pyarrow(n_columns):
    return pa.Table.from_pandas(frame(n_columns))


def in_polars(n_columns):
    return pytest.importorskip("polars").from_pandas(frame(n_columns))


def model(rows):
    return np.asarray(rows["c1"]) ** 2


@contextmanager
def counted_lists():
    """Count how often somebody asks a table for the list of all its columns."""
    asked, real = [], nw.DataFrame.columns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            nw.DataFrame, "columns", property(lambda self: asked.append(1) or real.fget(self))
        )
        yield asked


@pytest.mark.parametrize("made", [parquet, csv, arrow, frame, in_pyarrow, in_polars])
def test_the_list_of_columns_is_made_as_often_for_many_as_for_few(made):
    counts = []
    for n_columns in (FEW, MANY):
        data = made(n_columns)
        with counted_lists() as asked:
            fx = rhale.explain(model, data, features=["c1"])
        assert fx.features == ("c1",)
        counts.append(len(asked))
    assert counts[1] <= counts[0]
