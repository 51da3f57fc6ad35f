"""Every engine gives what the same rows in memory give: bins exactly, numbers to rounding."""

import pytest

from tests.contracts.engine_cases import N_ROWS, RUNS, Engine, check

MEMORY = Engine(
    "memory", lambda table, _: table, settings=lambda n: {"batch_size": -(-N_ROWS // n)}
)


@pytest.mark.parametrize(("case", "n_parts"), RUNS, ids=str)
def test_chunks_of_a_table_in_memory_give_its_numbers(case, n_parts):
    check(case, MEMORY, n_parts)
