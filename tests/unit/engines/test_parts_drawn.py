import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

from rhale.engines.parts import PartTask, Summary
from rhale.errors import BadTableError
from rhale.tables.frame import FrameTable
from rhale.tables.pieced import PiecedTable
from rhale.tables.reading import Reading

PART = pd.DataFrame({"a": np.arange(4.0)})


def drawn(part_rows):
    """A task that lists the drawn rows of a table whose parts have so many rows."""
    head = FrameTable(nw.from_native(PART[:0], eager_only=True))
    table = PiecedTable(Reading(head, head.names), None, "toy").drawn(np.array([1, 6]), part_rows)
    return PartTask(lambda chunk: chunk.column(0).tolist(), table.reading, 100)


def test_rows_are_drawn_by_their_places():
    task = drawn([4, 4])
    assert task(0, [PART]).piece == [1.0]
    assert task(1, [PART[:3], PART[3:]]).piece == [2.0]


@pytest.mark.parametrize(
    ("part_rows", "index"), [([5, 3], 0), ([3, 5], 0), ([4, 4], 2), ([4, 4], 7)]
)
def test_rows_are_not_drawn_from_parts_that_are_cut_anew(part_rows, index):
    found = drawn(part_rows)(index, [PART])
    with pytest.raises(BadTableError, match=f"^partition {index}: 4 rows here, and"):
        found.checked()


def test_parts_may_be_empty_where_rows_are_drawn():
    found = drawn([4, 4])(9, [PART[:0]])
    assert (found.n_rows, found.piece, found.failure) == (0, None, None)
    assert isinstance(found, Summary)
