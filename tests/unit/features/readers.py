"""What a first pass learns of one column of a table, for tests of features and of their levels."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from rhale.data import open_table
from rhale.features.feature import SURVEY_ROWS, Reader, read_categorical
from rhale.features.survey import SurveyTask
from rhale.settings import Settings

RNG = np.random.default_rng(5)
N = 120
NUMBER = RNG.normal(size=N)


def reader(table, columns=None, said=None, *, bins=False, size=SURVEY_ROWS):
    """All that the first pass over a table would learn."""
    opened = open_table(table)
    said = read_categorical(said, opened.names)
    columns = list(range(len(opened.names))) if columns is None else columns
    beside = [c for c in range(len(opened.names)) if c not in columns]
    chunk = opened.chunk(0, opened.n_rows)
    counted = [c for c in columns if said.get(c)]
    seen = SurveyTask(
        columns, opened.names, (size, 5), 0, auxiliary_columns=beside, counted=counted
    )(chunk)
    asked = Settings(bins=5 if bins else None)
    first = Reader(opened, seen, columns, beside, said, asked)
    return Reader(opened.label(first.labels()), seen, columns, beside, said, asked)


def feature(values, said=None, beside=NUMBER, *, bins=False):
    """One feature, in a table with a column of numbers beside it."""
    table = pd.DataFrame({"f": values, "beside": beside})
    return reader(table, [0], None if said is None else {"f": said}, bins=bins).feature(0, None)


def cycle(values, n=N):
    return [values[i % len(values)] for i in range(n)]


DECLARED = {
    "pandas": pd.DataFrame(
        {"f": pd.Categorical(cycle(["a", "b", "c"]), list("czab"), ordered=True)}
    ),
    "polars": pl.DataFrame({"f": pl.Series(cycle(["a", "b", "c"]), dtype=pl.Enum(list("czab")))}),
    "pyarrow": pa.table(
        {
            "f": pa.DictionaryArray.from_arrays(
                pa.array(cycle([2, 3, 0]), pa.int8()), pa.array(list("czab")), ordered=True
            )
        }
    ),
}
