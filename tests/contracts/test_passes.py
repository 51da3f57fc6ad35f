"""Any number of passes, over moments of one axis or two: regions need a third, and more would do."""

from dataclasses import dataclass
from typing import Any, ClassVar

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.effects.binning.cells import Cells, Grid
from rhale.effects.binning.fit import bin_cells
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.partition import Fixed
from rhale.effects.local.choose import Choice
from rhale.effects.local.gradient import Gradient
from rhale.effects.local.measure import ChunkResult, Conclusion, Questions

N = 900
RNG = np.random.default_rng(6)
TABLE = pd.DataFrame({"a": RNG.uniform(-1, 1, N), "b": RNG.uniform(-1, 1, N)})
AXIS = Grid(np.linspace(-1, 1, 9))


@dataclass(frozen=True, eq=False)
class ByAnother:
    """Slopes along a feature in cells of it and of another column."""

    feature: Any
    other: int
    needs: ClassVar[str] = "slopes"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs):  # noqa: ARG002
        return 1

    def questions(self, rows):  # noqa: ARG002
        return Questions()

    def add_up(self, rows, asked, replies):
        x = np.stack([rows.chunk.column(self.feature.column), rows.chunk.column(self.other)])
        slopes = Gradient(self.feature.column).local_effects(rows, asked, replies)
        total = measure_moments(Cells((AXIS, AXIS)), x, slopes, rows.chunk.weights)
        return ChunkResult(total, x[0, rows.sampled, None])

    def conclude(self, total, kept, about):  # noqa: ARG002
        """Look closer at the side of the other column where slopes are above zero."""
        by_other = total.marginal(1)
        low = by_other.grid.edges[:-1][by_other.mean[0] > 0].min()
        return Conclusion(more=(OneSide(self.feature, self.other, float(low)),))


@dataclass(frozen=True, eq=False)
class OneSide(ByAnother):
    """Slopes along a feature, in the rows where another column is above a number."""

    low: float = 0.0

    def add_up(self, rows, asked, replies):
        x, other = (rows.chunk.column(c) for c in (self.feature.column, self.other))
        mine = other >= self.low
        slopes = Gradient(self.feature.column).local_effects(rows, asked, replies)
        return ChunkResult(measure_moments(AXIS, x[mine], slopes[:, mine]), x[rows.sampled, None])

    def conclude(self, total, kept, about):  # noqa: ARG002
        one = total.series(0)
        return Conclusion((bin_cells(self.feature.name, about.outputs[0], one, Fixed(1)),))


def product(rows):
    return rows["a"] * rows["b"] + 0.5 * rows["a"]


def slopes(rows):
    return np.column_stack([rows["b"] + 0.5, rows["a"]])


@pytest.fixture
def three_passes(monkeypatch):
    def choose(columns, asker, settings):  # noqa: ARG001
        return Choice((ByAnother(columns.features[0], 1),), {}, 0)

    monkeypatch.setattr("rhale.api.choose_measures", choose)


def places(tmp_path):
    TABLE.to_parquet(tmp_path / "rows.parquet", row_group_size=200)
    return {
        "memory": TABLE,
        "files": str(tmp_path / "rows.parquet"),
        "dask": dd.from_pandas(TABLE, npartitions=4),
    }


def explain(data, **options):
    with dask.config.set(scheduler="synchronous"):
        return rhale.explain(product, data, features="a", gradient=slopes, **options)


@pytest.mark.usefixtures("three_passes")
@pytest.mark.parametrize("where", ["memory", "files", "dask"])
def test_a_measure_may_ask_for_another_pass(tmp_path, where):
    fx = explain(places(tmp_path)[where])
    mine = TABLE["b"] >= -0.5  # b + 1/2 is above zero from here on, a limit of the cells
    assert fx["a"].count.sum() == mine.sum()
    assert fx["a"].mean[0] == pytest.approx((TABLE["b"][mine] + 0.5).mean(), rel=1e-12)
    assert fx["a"].std[0] == pytest.approx(TABLE["b"][mine].std(), rel=1e-12)
    assert fx.sample_x.shape == (N, 1)
    probe_and_first = 32 + 16
    assert fx.provenance["rows_asked"] == 2 * N + probe_and_first


@pytest.mark.usefixtures("three_passes")
@pytest.mark.parametrize(("where", "n_shown"), [("memory", 2), ("files", 3), ("dask", 3)])
def test_progress_counts_all_passes(tmp_path, where, n_shown):
    told = []
    explain(places(tmp_path)[where], progress=lambda done, of: told.append((done, of)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= of for done, of in told)
    assert told[-1] == (n_shown * N, n_shown * N)


@pytest.mark.usefixtures("three_passes")
def test_an_interrupted_third_pass_goes_on(tmp_path, monkeypatch):
    options, asked = {"batch_size": 7}, []  # nine chunks of sixteen batches
    whole = explain(TABLE, **options)
    add_up = OneSide.add_up

    def stops(self, rows, *others):
        asked.append(rows.chunk.n_rows)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return add_up(self, rows, *others)

    monkeypatch.setattr(OneSide, "add_up", stops)
    with pytest.raises(KeyboardInterrupt):
        explain(TABLE, **options, checkpoint=tmp_path / "kept")
    again = explain(TABLE, **options, checkpoint=tmp_path / "kept")
    assert again["a"] == whole["a"]
    assert len(asked) == 9 + 1  # the chunk that failed, once more
