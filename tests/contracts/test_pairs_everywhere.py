"""Pairs are the same wherever rows are, however they are cut, and whatever interrupts a pass."""

from functools import cache

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from tests.contracts.engine_cases import assert_close

import rhale
from rhale.errors import CheckpointError
from rhale.interaction.estimate import PairTask
from rhale.interaction.partial_dependence import PairTracing

N = 320
RNG = np.random.default_rng(41)
TABLE = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.uniform(-1, 1, N),
        "m": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "s": pd.Series(RNG.choice(["north", "south", "west"], N), dtype="str"),
        "d": np.datetime64("2024-02-01", "us") + RNG.integers(0, 900, N).astype("m8[D]"),
        "w": RNG.choice([0.0, 0.5, 1.0, 2.0], N),
    }
)
NUMBERS = TABLE[["a", "b", "m", "w"]]
START = pd.Timestamp("2024-02-01")
HEIGHT = {"north": 0.0, "south": 1.0, "west": 3.0}


def smooth(rows):
    """a acts together with b, m and s, d with b, s with b."""
    a, b, m = (rows[name].to_numpy(dtype=float) for name in "abm")
    level = rows["s"].map(HEIGHT).to_numpy(dtype=float)
    years = (rows["d"] - START).dt.total_seconds().to_numpy() / 3e7
    m = np.nan_to_num(m, nan=-1.0)
    return np.sin(a) * b + a * m**2 / 2 + level * a + np.exp(years * b) + level * np.floor(2 * b)


def bent(rows):
    """Numbers alone, smooth, all of them together."""
    a, b, m = (rows[name].to_numpy(dtype=float) for name in "abm")
    m = np.nan_to_num(m)
    return np.sin(a) * b + a * m**2 / 2 + np.exp(b * m / 2)


def slopes(rows):
    a, b, m = (rows[name].to_numpy(dtype=float) for name in "abm")
    m = np.nan_to_num(m)
    both = np.exp(b * m / 2) / 2
    found = {"a": np.cos(a) * b + m**2 / 2, "b": np.sin(a) + m * both, "m": a * m + b * both}
    return np.column_stack([found[name] for name in rows.columns])


def two(rows):
    """Two outputs."""
    return np.column_stack([bent(rows), rows["a"].to_numpy() ** 2 * rows["b"].to_numpy()])


@cache
def trees():
    a, b, m = (NUMBERS[name].to_numpy() for name in "abm")
    target = a * np.where(b > 0, 3.0, -1.0) + np.nan_to_num(m) * a
    made = HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6, random_state=0)
    return made.fit(NUMBERS[["a", "b", "m"]], target)


WEIGHTED = {"weights": "w", "cells": 6}
NAMED = {"pairs": [("a", "b"), ("m", "a"), ("s", "b"), ("s", "a"), ("d", "b")]}
TRACED = [("s", "a"), ("d", "b")]
CASES = {
    "corners": (smooth, TABLE, {**WEIGHTED, **NAMED}),
    "screened": (smooth, TABLE, {**WEIGHTED, "pairs": 2}),
    "gradient": (bent, NUMBERS, {**WEIGHTED, "gradient": slopes}),
    "outputs": (two, NUMBERS, {**WEIGHTED, "cells": {"a": 4, "b": rhale.Fixed(5)}}),
    "trees": (trees(), NUMBERS, {**WEIGHTED, "columns": ["a", "b", "m"]}),
    "pdp": (smooth, TABLE, {**WEIGHTED, "cells": 2, "pairs": TRACED, "method": "pdp"}),
}
WAYS = {
    "corners": {"corners": 5},
    "screened": {"corners": 2},
    "gradient": {"gradient": 3},
    "outputs": {"corners": 3},
    "trees": {"walk": 3},
    "pdp": {"profile": 2},
}
KEPT = ("rows", "columns", "kinds", "weighted", "cells", "pairs", "pairs_possible", "ways")
KEPT += ("rows_asked", "method", "model")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks may be small, too."""
    monkeypatch.setattr("rhale.pipeline.FEWEST_WALKED", 50)
    monkeypatch.setattr("rhale.interaction.estimate.MIN_PAIR_CHUNK_ROWS", 50)


def measured(name, *, data=None, **more):
    model, table, options = CASES[name]
    with dask.config.set(scheduler="synchronous"):
        return rhale.interactions(model, table if data is None else data, **{**options, **more})


@cache
def in_memory(name):
    return measured(name)


def assert_same_pairs(found, wanted):
    """Assert that two say the same: cells and counts exactly, numbers to rounding."""
    assert (found.features, found.outputs) == (wanted.features, wanted.outputs)
    assert found.notes == wanted.notes
    said = {name: wanted.provenance[name] for name in KEPT}
    assert {name: found.provenance[name] for name in KEPT} == said
    for name in ("importance", "variance"):
        assert_close(getattr(found, name), getattr(wanted, name), name)
    for one, other in zip(found.values(), wanted.values(), strict=True):
        what = " x ".join(other.names)
        assert (one.names, one.output, one.notes) == (other.names, other.output, other.notes)
        assert one.n_left_out == other.n_left_out
        assert one.axes == other.axes
        np.testing.assert_array_equal(one.count, other.count, what)
        size = np.nanmax(np.abs(other.heights))
        for name in (
            "weight",
            "heights",
            "strength",
            "standard_error",
            "strength_error",
            "p_value",
        ):
            assert_close(getattr(one, name), getattr(other, name), f"{what}: {name}", size)
        for side in (0, 1):
            assert_close(one.main[side], other.main[side], f"{what}: main", size)


@pytest.mark.parametrize("name", CASES)
def test_the_cases_are_found_in_their_way_and_interact(name):
    ix = in_memory(name)
    assert ix.provenance["ways"] == WAYS[name]
    assert ix.ranked()[0].strength > 0.1


def places(name, folder):
    """The same rows elsewhere, and what else is asked."""
    table, order = CASES[name][1], np.random.default_rng(5).permutation(N)
    for part in range(3):
        table[part::3].to_parquet(folder / f"rows-{part}.parquet", row_group_size=60)
    return {
        "chunks": {"batch_size": 77},
        "threads": {"n_jobs": 2, "batch_size": 77},
        "another order": {"data": table.iloc[order].reset_index(drop=True)},
        "files": {"data": str(folder / "*.parquet")},
        "Dask": {"data": dd.from_pandas(table, npartitions=4)},
    }


@pytest.mark.parametrize("where", ["chunks", "threads", "another order", "files", "Dask"])
@pytest.mark.parametrize("name", CASES)
def test_pairs_are_those_of_the_table_in_memory(name, where, tmp_path):
    assert_same_pairs(measured(name, **places(name, tmp_path)[where]), in_memory(name))


def by_name(rows, name):
    """A column of any kind of table."""
    if isinstance(rows, np.ndarray):
        return rows[:, "abm".index(name)]
    return np.asarray(rows[name].to_numpy(), dtype=float)


def anywhere(rows):
    a, b, m = (by_name(rows, name) for name in "abm")
    return np.sin(a) * b + a * np.nan_to_num(m) ** 2 / 2


@pytest.mark.parametrize("method", ["ale", "pdp"])
def test_every_kind_of_table_gives_the_same_pairs(method):
    numbers = NUMBERS[["a", "b", "m"]]
    options = {"pairs": [(0, 1), (0, 2)], "method": method, "cells": 4, "weights": TABLE["w"]}
    wanted = rhale.interactions(anywhere, numbers, **options)
    tables = {
        "polars": pl.from_pandas(numbers),
        "pyarrow": pa.Table.from_pandas(numbers, preserve_index=False),
    }
    for kind, table in tables.items():
        found = rhale.interactions(anywhere, table, **options)
        assert found.provenance["table"] == kind
        assert_same_pairs(found, wanted)
    array = rhale.interactions(anywhere, numbers.to_numpy(), **options)
    assert [pair.strength for pair in array.values()] == [pair.strength for pair in wanted.values()]


TASKS = {name: PairTracing if name == "pdp" else PairTask for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_pass_goes_on(name, tmp_path, monkeypatch):
    chunks, ask = [], TASKS[name].__call__

    def stops(self, chunk):
        chunks.append(chunk.n_rows)
        if len(chunks) == 3:
            raise KeyboardInterrupt
        return ask(self, chunk)

    size = 300 if "corners" in WAYS[name] else 75  # four corners of each row make a batch
    # one thread: how many chunks others have begun when one is interrupted is chance
    options = {"batch_size": size, "n_jobs": 1, "checkpoint": tmp_path / "kept"}
    whole = measured(name, batch_size=size, n_jobs=1)
    monkeypatch.setattr(TASKS[name], "__call__", stops)
    with pytest.raises(KeyboardInterrupt):
        measured(name, **options)
    again = measured(name, **options)
    assert again.pairs == whole.pairs
    np.testing.assert_array_equal(again.importance, whole.importance)
    assert sum(chunks) == (TABLE["w"] > 0).sum() + chunks[2]


@pytest.mark.parametrize(
    "other", [{"cells": 5}, {"pairs": [("a", "b")]}, {"method": "pdp"}, {"reading": "cells"}]
)
def test_a_checkpoint_of_other_pairs_is_that_of_another_run(other, tmp_path):
    measured("corners", checkpoint=tmp_path)
    with pytest.raises(CheckpointError):
        measured("corners", checkpoint=tmp_path, **other)


def test_a_checkpoint_of_pairs_that_other_effects_chose_is_that_of_another_run(tmp_path):
    one, other = (rhale.explain(model, NUMBERS, weights="w") for model in (bent, lambda t: t["a"]))
    options = {"weights": "w", "pairs": 1, "checkpoint": tmp_path}
    first = rhale.interactions(bent, NUMBERS, explanation=one, **options)
    with pytest.raises(CheckpointError, match="pairing, explanation was"):
        rhale.interactions(bent, NUMBERS, explanation=other, **options)
    assert rhale.interactions(bent, NUMBERS, explanation=one, **options).pairs == first.pairs


def test_a_checkpoint_of_effects_is_that_of_another_run(tmp_path):
    rhale.explain(bent, NUMBERS, weights="w", checkpoint=tmp_path)
    with pytest.raises(CheckpointError):
        rhale.interactions(bent, NUMBERS, weights="w", checkpoint=tmp_path)


def test_a_finished_checkpoint_asks_no_more(tmp_path):
    asked = []

    def counted(rows):
        asked.append(len(rows))
        return smooth(rows)

    options = {**CASES["corners"][2], "checkpoint": tmp_path, "batch_size": 220}
    first = rhale.interactions(counted, TABLE, **options)
    n_first = sum(asked)
    again = rhale.interactions(counted, TABLE, **options)
    assert again.pairs == first.pairs
    assert sum(asked) - n_first < n_first / 10


@pytest.mark.parametrize("name", ["corners", "gradient", "trees", "pdp"])
def test_no_weights_are_weights_of_one_and_zero_is_absent(name):
    _, table, options = CASES[name]
    ones = measured(name, data=table.assign(w=1.0))
    none = measured(name, data=table.drop(columns="w"), weights=None)
    assert ones.pairs == none.pairs
    kept = measured(name, data=table[table["w"] > 0].reset_index(drop=True))
    assert_same_pairs(kept, in_memory(name))
    assert options["weights"] == "w"


def test_rows_can_be_drawn():
    found = measured("corners", n_rows=200, seed=3)
    assert found.provenance["rows"] == 200
    assert found.pairs == measured("corners", n_rows=200, seed=3).pairs
    assert found.pairs != measured("corners", n_rows=200, seed=4).pairs


def made_here():
    """A function that workers can open without this module."""

    def model(rows):
        a, b = rows["a"].to_numpy(), rows["b"].to_numpy()
        south = (rows["s"].astype(object) == "south").to_numpy()
        return np.sin(a) * b + a * south

    return model


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("method", ["ale", "pdp"])
def test_a_cluster_of_dask_gives_the_pairs_of_the_table_in_memory(method):
    model, table, options = made_here(), TABLE[["a", "b", "s", "w"]], {"weights": "w", "cells": 3}
    options |= {"pairs": [("a", "b"), ("s", "a")], "method": method}
    wanted = rhale.interactions(model, table, **options)
    found = rhale.interactions(model, dd.from_pandas(table, npartitions=3), **options)
    assert found.provenance["table"] == "dask"
    assert_same_pairs(found, wanted)


COMPARED = {"pairs": [("a", "b"), ("m", "a")], "weights": "w"}


@pytest.mark.parametrize("where", ["another order", "files", "Dask"])
@pytest.mark.parametrize("method", ["h", "greenwell"])
def test_numbers_for_comparison_are_those_of_the_table_in_memory(method, where, tmp_path):
    options = {**COMPARED, "method": method}
    more = places("outputs", tmp_path)[where]
    with dask.config.set(scheduler="synchronous"):
        wanted = rhale.interactions(bent, NUMBERS, **options)
        found = rhale.interactions(bent, more.pop("data", NUMBERS), **{**options, **more})
    assert found.notes == wanted.notes
    for one, other in zip(found.values(), wanted.values(), strict=True):
        assert (one.names, one.notes) == (other.names, other.notes)
        assert_close(one.strength, other.strength, "strength", 1.0)
        assert_close(one.h2, other.h2, "h2", 1.0)
    assert_close(found.importance, wanted.importance, "importance")
