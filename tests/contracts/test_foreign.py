"""A table and an engine that rhale has never heard of are taken for what they are."""

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.tables import open_table
from rhale.tables.array import ArrayChunk
from rhale.tables.columns import Labels
from rhale.tables.pieces.table import PiecedTable
from rhale.tables.storage import IN_MEMORY

N = 600
RNG = np.random.default_rng(3)
ROWS = np.column_stack([RNG.normal(size=N), RNG.gamma(2.0, size=N), RNG.integers(0, 4, N)])
NAMES = ["x0", "x1", "x2"]
WEIGHTS = RNG.integers(0, 3, N).astype(float)


def model(rows):
    x = np.asarray(rows)
    return x[:, 0] ** 2 * x[:, 1] + 0.5 * x[:, 2]


@dataclass(frozen=True)
class Columns:
    """A table of columns of its own; it knows nothing of rhale's classes but their protocol."""

    columns: dict
    weights: np.ndarray | None = None
    numbers: np.ndarray | None = None

    kind, storage = "columns", IN_MEMORY

    @property
    def names(self):
        return tuple(self.columns)

    @property
    def n_rows(self):
        return len(next(iter(self.columns.values())))

    def holds(self, index):  # noqa: ARG002
        return "number"

    def has_order(self, index):  # noqa: ARG002
        return False

    def declared_order(self, index):  # noqa: ARG002
        return None

    def is_truth(self, index):  # noqa: ARG002
        return False

    def missing_value(self, index):  # noqa: ARG002
        return float("nan")

    def labels_of(self, index):  # noqa: ARG002
        return Labels(())

    def label(self, labels):  # noqa: ARG002
        return self

    def settle(self, facts):  # noqa: ARG002
        return self

    def settle_chunk(self, chunk):
        return chunk

    def chunk(self, start, stop):
        array = np.column_stack([values[start:stop] for values in self.columns.values()])
        numbers = np.arange(self.n_rows) if self.numbers is None else self.numbers
        weights = None if self.weights is None else self.weights[start:stop]
        return ArrayChunk(array, numbers[start:stop], weights)

    def take(self, rows):
        columns = {name: values[rows] for name, values in self.columns.items()}
        numbers = rows if self.numbers is None else self.numbers[rows]
        weights = None if self.weights is None else self.weights[rows]
        return Columns(columns, weights, numbers)

    def select(self, columns):
        return replace(self, columns={self.names[c]: self.columns[self.names[c]] for c in columns})

    def weigh(self, weights):
        return replace(self, weights=weights)


class Piles:
    """An engine: parts are frames in a list, and every task crosses a process border."""

    name, no_resume = "piles", ""

    def map_parts(self, part_task, source, first):
        there = pickle.loads(pickle.dumps(part_task))  # noqa: S301
        for index in range(first, len(source)):
            yield there(index, [source[index]])


def piles(engine=None):
    frames = [pd.DataFrame(part, columns=NAMES) for part in np.array_split(ROWS, 4)]
    head = open_table(pd.DataFrame(ROWS[:2], columns=NAMES)).take(np.arange(0))
    return PiecedTable(head, head.names, frames, engine or Piles())


def same(found, expected):
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.edges, two.edges)
        np.testing.assert_allclose(one.mean, two.mean, rtol=1e-9)
        np.testing.assert_allclose(one.std, two.std, rtol=1e-6, atol=1e-12)
    return True


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("settings", [{}, {"n_rows": 300}, {"columns": ["x1", "x0", "x2"]}])
def test_a_table_from_elsewhere_gives_the_numbers_of_the_same_rows_in_numpy(weights, settings):
    table = Columns({name: ROWS[:, place] for place, name in enumerate(NAMES)})
    found = rhale.explain(model, table, weights=weights, **settings)
    plain = rhale.explain(model, ROWS, weights=weights, **settings)
    assert found.provenance["table"] == "columns"
    assert found.effects == plain.effects


def test_a_table_from_elsewhere_is_gone_on_with(tmp_path):
    table = Columns({name: ROWS[:, place] for place, name in enumerate(NAMES)})
    first = rhale.explain(model, table, checkpoint=tmp_path)
    assert rhale.explain(model, table, checkpoint=tmp_path).effects == first.effects


@pytest.mark.parametrize("settings", [{}, {"n_rows": 300}, {"columns": ["x1", "x0", "x2"]}])
def test_an_engine_from_elsewhere_gives_the_numbers_of_the_same_rows_in_numpy(settings):
    found = rhale.explain(model, piles(), **settings)
    plain = rhale.explain(model, ROWS, **settings)
    assert found.provenance["table"] == "piles"
    assert same(found, plain)


def test_an_engine_from_elsewhere_says_whether_it_can_be_gone_on_with(tmp_path):
    first = rhale.explain(model, piles(), checkpoint=tmp_path / "kept")
    assert rhale.explain(model, piles(), checkpoint=tmp_path / "kept").effects == first.effects

    class Forgetful(Piles):
        no_resume = "piles that move; pass files"

    with pytest.raises(BadSettingError, match="does not work with piles that move; pass files"):
        rhale.explain(model, piles(Forgetful()), checkpoint=tmp_path / "other")
