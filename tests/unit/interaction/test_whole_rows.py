import numpy as np

from rhale.data import open_table
from rhale.features.survey import rows_keys
from rhale.interaction.h_statistic import WholeRowsTask

ROWS = np.random.default_rng(0).normal(size=(40, 3))
NO_LIMIT = np.uint64(np.iinfo(np.uint64).max)


def test_rows_with_the_smallest_keys_are_kept_whole():
    chunk = open_table(ROWS).chunk(0, 40)
    key = rows_keys(chunk, 7)
    last = np.sort(key)[9]
    found = WholeRowsTask(last, 7)(chunk).first(5)
    assert np.array_equal(found.chunk.rows, ROWS[np.argsort(key)[:5]])
    assert found.weight.tolist() == [1.0] * 5


def test_chunks_add_up_to_the_same_rows():
    table, task = open_table(ROWS, np.arange(40.0)), WholeRowsTask(NO_LIMIT, 0)
    whole = task(table.chunk(0, 40)).first(12)
    parts = (
        task(table.chunk(0, 15)) + task(table.chunk(15, 15)) + task(table.chunk(15, 40))
    ).first(12)
    assert np.array_equal(whole.chunk.rows, parts.chunk.rows)
    assert np.array_equal(whole.weight, parts.weight)
