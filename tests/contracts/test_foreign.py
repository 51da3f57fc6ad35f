"""Tables, engines and bins that rhale has never heard of are taken for what they are."""

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rhale
from rhale.data.array import ArrayChunk
from rhale.data.columns import Labels
from rhale.data.table import IN_MEMORY
from rhale.effects.binning.partition import constant_cuts
from rhale.errors import BadSettingError, BadTableError
from rhale.execution import open_parts, pack, work

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

    def with_column_types(self, facts):  # noqa: ARG002
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
    return open_parts(frames[0], frames, engine or Piles(), n_rows=N)


def same(found, expected):
    for one, two in zip(found.values(), expected.values(), strict=True):
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


class Posted(Piles):
    """As engines do that send the task to other processes, once."""

    name = "posted"

    def map_parts(self, part_task, source, first):
        parcel = pack(part_task, pickle.dumps)
        return (work(parcel, i, [source[i]]) for i in range(first, len(source)))


def test_a_task_may_be_packed_once_for_all_parts():
    assert same(rhale.explain(model, piles(Posted())), rhale.explain(model, ROWS))


def test_arrays_are_parts_too_and_progress_knows_how_many_rows_there_are():
    told = []
    parts = np.array_split(ROWS, 3)
    table = open_parts(ROWS[:0], parts, Piles(), n_rows=N)
    found = rhale.explain(model, table, progress=lambda done, total: told.append((done, total)))
    assert found.features == ("x0", "x1", "x2")
    assert same(found, rhale.explain(model, ROWS))
    assert {total for _, total in told} == {2 * N}
    assert [done for done, _ in told] == [200, 400, 600, 800, 1000, 1200]


@pytest.mark.parametrize("lacking", ["name", "no_resume", "map_parts"])
def test_an_engine_without_a_member_is_refused_by_its_name(lacking):
    members = {"name": "mine", "no_resume": "", "map_parts": Piles.map_parts}
    incomplete = type("Mine", (), {n: m for n, m in members.items() if n != lacking})()
    with pytest.raises(BadSettingError, match=f"is not an engine: it has no {lacking}"):
        open_parts(ROWS, [ROWS], incomplete)


def test_parts_of_a_kind_that_workers_cannot_read_are_refused_at_once():
    with pytest.raises(BadTableError, match=r"not polars; \.to_arrow\(\) makes such"):
        open_parts(pl.DataFrame({"a": [1.0]}), [], Piles())


def test_a_class_of_engines_is_no_engine():
    with pytest.raises(BadSettingError, match="pass an instance of it"):
        open_parts(ROWS, [ROWS], Piles)


@dataclass(frozen=True)
class AtLeast:
    """Bins of given limits; those that have too few rows are united with the next."""

    limits: tuple
    rows: int

    closed = "left"

    def candidates(self, axis):
        inside = [limit for limit in self.limits if axis.low < limit < axis.high]
        return np.array([axis.low, *inside, axis.high])

    def __call__(self, moments):
        chosen, held = [0], 0
        for cell, count in enumerate(moments.count):
            held += count
            if held >= self.rows:
                chosen, held = [*chosen, cell + 1], 0
        chosen[-1 if held and len(chosen) > 1 else len(chosen) :] = [moments.grid.n_cells]
        return constant_cuts(np.array(chosen))


def rows_between(low, high):
    return int(((ROWS[:, 1] >= low) & (ROWS[:, 1] < high)).sum())


def test_bins_from_elsewhere_are_those_of_the_limits_that_they_choose():
    limits = (0.5, 1.0, 2.0, 5.0, 6.0, 7.0)
    counts = [rows_between(*ends) for ends in zip((0, *limits), (*limits, 99), strict=True)]
    assert min(counts[:4]) >= 50 > sum(counts[4:])  # 5, 6 and 7 part too few rows
    found = rhale.explain(model, ROWS, features="x1", bins=AtLeast(limits, 50))
    x1 = ROWS[:, 1]
    plain = rhale.explain(model, ROWS, features="x1", bins=[x1.min(), 0.5, 1.0, 2.0, x1.max()])
    assert same(found, plain)
    assert found.provenance["bins"] == str(AtLeast(limits, 50))
    anew = rhale.explain(model, ROWS, features="x1").rebin(AtLeast(limits, 50))["x1"]
    np.testing.assert_allclose(anew.edges, plain["x1"].edges, atol=0.02)  # limits of fine cells


def test_bins_from_elsewhere_that_leave_cells_out_are_refused():
    class Short(AtLeast):
        def __call__(self, moments):  # noqa: ARG002
            return constant_cuts(np.array([0, 1]))

    with pytest.raises(BadSettingError, match="bins=Short chose the limits"):
        rhale.explain(model, ROWS, bins=Short((1.0, 2.0), 5))
