"""Columns that are not explained: nothing is asked, and where rows stand is kept."""

import numpy as np
import pandas as pd

from rhale.data import open_table
from rhale.effects.local.measure import (
    Conclusion,
    MeasuredChunk,
    Questions,
    Replies,
    SplitterColumn,
)
from rhale.features.feature import FirstPass
from rhale.regions.settings import Regions
from rhale.settings import Settings

TABLE = pd.DataFrame(
    {
        "a": np.arange(100.0),
        "s": pd.Series(["u", None, "v", "u", "v"] * 20, dtype="str"),
        "m": [0.5, np.nan, 2.5, 3.0, 7.0] * 20,
    }
)


def splitters():
    table = open_table(TABLE)
    first = FirstPass.plan(table, Settings(features="a", regions=Regions()))
    columns = first.resolve_columns(first.task(table.chunk(0, 100)))
    return columns, columns.table.chunk(0, 5)


def test_it_keeps_where_sampled_rows_stand_and_nothing_else():
    columns, chunk = splitters()
    rows = MeasuredChunk(chunk, np.arange(5, dtype=np.uint64), np.array([0, 1, 4]))
    names, numbers = columns.splitters[1:]
    silence = Questions(), Replies(None, None, None)
    tallies = [SplitterColumn(feature).add_up(rows, *silence) for feature in (names, numbers)]
    levels = {name: float(k) for k, name in enumerate(names.levels.names)}
    np.testing.assert_array_equal(tallies[0].kept, [[levels["u"]], [np.nan], [levels["v"]]])
    np.testing.assert_array_equal(tallies[1].kept, [[0.5], [np.nan], [7.0]])
    assert [tally.total for tally in tallies] == [0, 0]


def test_it_asks_nothing_and_concludes_nothing():
    columns, chunk = splitters()
    measure = SplitterColumn(columns.splitters[1])
    asked = measure.questions(MeasuredChunk(chunk, np.arange(5, dtype=np.uint64), np.arange(5)))
    assert asked.n_asked(5) == measure.n_changes == 0
    assert measure.needs == "nothing"
    assert measure.n_kept(3) == measure.n_points == 1
    assert measure.conclude(0, np.empty((0, 1)), None).results == Conclusion().results == ()
