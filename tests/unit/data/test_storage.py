import numpy as np
import pandas as pd
import pytest

from rhale.data import TableInMemory, open_table
from rhale.data.pieces import PiecedTable

ROWS = pd.DataFrame({"a": [1.0, 2.0]})


class Slow:
    """An engine that cannot go on."""

    name, no_resume = "slow", "slow tables; pass files"

    def map_parts(self, part_task, source, first):
        raise NotImplementedError


@pytest.mark.parametrize("data", [ROWS, ROWS.to_numpy()])
def test_rows_in_memory_have_no_engine_and_no_device_and_can_be_gone_on_with(data):
    table = open_table(data)
    assert isinstance(table, TableInMemory)
    assert table.storage.is_memory
    assert (table.storage.engine, table.storage.device, table.storage.usual_rows) == (None,) * 3
    assert table.storage.no_resume == ""


def test_a_table_in_pieces_says_what_its_engine_says():
    head = open_table(ROWS)
    files, slow = PiecedTable(head, ("a",)), PiecedTable(head, ("a",), None, Slow())
    assert not isinstance(files, TableInMemory)
    assert (files.kind, files.storage.engine, files.storage.no_resume) == ("files", None, "")
    assert (slow.kind, slow.storage.no_resume) == ("slow", "slow tables; pass files")
    assert not files.storage.is_memory


def test_what_is_no_table_is_not_taken_for_one():
    assert not isinstance(np.zeros((2, 2)), TableInMemory)
    assert not isinstance(ROWS, TableInMemory)
