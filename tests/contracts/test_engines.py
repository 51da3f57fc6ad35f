"""Every engine gives what the same rows in memory give: bins exactly, numbers to rounding."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from tests.contracts.engine_cases import FRAME_RUNS, N_ROWS, RUNS, Engine, check, cut


def in_dask(table, n_parts):
    """A data frame, or an array whose columns are split too."""
    parts = cut(table, n_parts)
    if isinstance(table, np.ndarray):
        return da.concatenate([da.from_array(part, chunks=(-1, 3)) for part in parts])
    return dd.from_map(lambda part: part, parts, meta=table.iloc[:0])


MEMORY = Engine(
    "memory", lambda table, _: table, settings=lambda n: {"batch_size": -(-N_ROWS // n)}
)
DASK = Engine("Dask", in_dask)


@pytest.mark.parametrize(("case", "n_parts"), RUNS, ids=str)
def test_chunks_of_a_table_in_memory_give_its_numbers(case, n_parts):
    check(case, MEMORY, n_parts)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(("case", "n_parts"), RUNS, ids=str)
def test_a_cluster_of_dask_gives_the_numbers_of_the_table_in_memory(case, n_parts):
    check(case, DASK, n_parts)


# scikit-learn is left out: what it does to filters of warnings is not made for threads
IN_THREADS = [run for run in FRAME_RUNS if run[1] == 7 and "trees" not in run[0].name]


@pytest.mark.parametrize(("case", "n_parts"), IN_THREADS, ids=str)
def test_threads_of_dask_give_the_numbers_of_the_table_in_memory(case, n_parts):
    check(case, DASK, n_parts)
