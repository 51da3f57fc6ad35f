"""Regions are the same wherever rows are, however they are cut, and whatever interrupts a pass."""

from dataclasses import replace
from functools import cache

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from tests.contracts.engine_cases import assert_same

import rhale
from rhale.errors import CheckpointError
from rhale.regions.groups import Grouped
from rhale.stats.arrays import same_fields

N = 500
RNG = np.random.default_rng(31)
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
CUT = pd.Timestamp("2025-06-01")


def smooth(rows):
    """The slope of a turns with s, that of b is 2 a, that of m and the steps of s differ by b."""
    a, b, m = (rows[name].to_numpy(dtype=float) for name in "abm")
    level = rows["s"].map({"north": 0.0, "south": 1.0, "west": 3.0}).to_numpy(dtype=float)
    late = (rows["d"] > CUT).to_numpy()
    gate = np.where(level == 1, -1.0, 2.0)
    return a * gate + a**2 + 2 * a * b + np.nan_to_num(m) * (1 + 2 * late) + level * (b > 0.2)


def slopes(rows):
    a, b, _ = (rows[name].to_numpy(dtype=float) for name in "abm")
    gate = np.where(rows["s"] == "south", -1.0, 2.0)
    found = np.zeros((len(rows), rows.shape[1]))
    names = list(rows.columns)
    found[:, names.index("a")] = gate + 2 * a + 2 * b
    found[:, names.index("b")] = 2 * a
    found[:, names.index("m")] = 1 + 2 * (rows["d"] > CUT)
    return found


def stairs(rows):
    """Steps along a, of another height where m is above zero or missing."""
    a, m = rows["a"].to_numpy(), rows["m"].to_numpy()
    return np.floor(2 * a) * np.where(m <= 0, 3.0, -1.0) + rows["b"].to_numpy()


def pair(rows):
    """Two outputs: a differs by b in the one, and by who has no m in the other."""
    a, b, m = rows["a"].to_numpy(), rows["b"].to_numpy(), rows["m"].to_numpy()
    return np.column_stack([np.sin(a) * (1 + 2 * (b > 0.1)), a * np.where(np.isnan(m), 3, 1)])


@cache
def trees():
    a, b, m = (NUMBERS[name].to_numpy() for name in "abm")
    target = a * np.where(b > 0, 3.0, -1.0) + np.nan_to_num(m)
    made = HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6, random_state=0)
    return made.fit(NUMBERS[["a", "b", "m"]], target)


BY_GRADIENT = {"gradient": slopes, "local": "gradient", "weights": "w"}
WALKED = {"weights": "w", "columns": ["a", "b", "m"]}
CASES = {
    "gradients": (smooth, TABLE, {**BY_GRADIENT, "features": ["a", "m", "b"]}, True),
    "joint": (smooth, TABLE, {**BY_GRADIENT, "features": ["a", "m"]}, rhale.Regions(joint=True)),
    "secants": (stairs, NUMBERS, {"features": ["a"], "weights": "w"}, True),
    "levels": (smooth, TABLE, {"features": ["s"], "weights": "w"}, True),
    "outputs": (pair, NUMBERS, {"features": ["a"], "weights": "w"}, True),
    "trees": (trees(), NUMBERS, {**WALKED, "features": ["a", "b"]}, True),
    "groups": (smooth, TABLE, {**BY_GRADIENT, "features": ["a", "s"]}, rhale.By("d", cuts=[CUT])),
    "groups of trees": (trees(), NUMBERS, {**WALKED, "features": ["a"]}, rhale.By("m", cuts=[0])),
}
WANTED = {
    ("gradients", "a"): ("found", ("s",)),
    ("gradients", "m"): ("found", ("d",)),
    ("gradients", "b"): ("found", ("a",)),
    ("joint", "a"): ("found", None),
    ("secants", "a"): ("found", ("m",)),
    ("levels", "s"): ("found", ("a",)),
    ("outputs", "a"): ("found", ("b",)),
    ("trees", "a"): ("found", ("b",)),
    ("groups", "a"): ("given", ()),
    ("groups of trees", "a"): ("given", ()),
}


@pytest.fixture(autouse=True)
def small_walks(monkeypatch):
    """Chunks that trees are walked for may be small, too."""
    monkeypatch.setattr("rhale.pipeline.FEWEST_WALKED", 50)


def explained(name, *, regions=True, data=None, **more):
    model, table, options, asked = CASES[name]
    asked = asked if regions else None
    data = table if data is None else data
    with dask.config.set(scheduler="synchronous"):
        return rhale.explain(model, data, **{**options, **more}, regions=asked)


@cache
def in_memory(name):
    return explained(name)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """A chunk for every batch: sixteen of them would be the whole table."""
    monkeypatch.setattr("rhale.pipeline.CHUNK_BATCHES", 1)


@pytest.mark.parametrize(("name", "feature"), WANTED)
def test_the_cases_have_regions(name, feature):
    fx = in_memory(name)
    tree = fx.effects[[e.name for e in fx.effects].index(feature)].regions
    state, splitters = WANTED[name, feature]
    assert tree.state == state
    assert len(tree) > 1
    assert splitters is None or tree.splitters[: len(splitters)] == splitters


def places(name, folder):
    """The same rows elsewhere, and what else is asked."""
    table, order = CASES[name][1], np.random.default_rng(5).permutation(N)
    table.to_parquet(folder / "rows.parquet", row_group_size=120)
    return {
        "chunks": {"batch_size": 77},
        "threads": {"n_jobs": 2, "batch_size": 77},
        "another order": {"data": table.iloc[order].reset_index(drop=True)},
        "files": {"data": str(folder / "rows.parquet")},
        "Dask": {"data": dd.from_pandas(table, npartitions=4)},
    }


@pytest.mark.parametrize("where", ["chunks", "threads", "another order", "files", "Dask"])
@pytest.mark.parametrize("name", CASES)
def test_regions_are_those_of_the_table_in_memory(name, where, tmp_path):
    assert_same(explained(name, **places(name, tmp_path)[where]), in_memory(name))


@pytest.mark.parametrize("name", ["trees", "groups of trees"])
def test_jumps_of_regions_are_the_same_bits_in_any_order(name):
    table = CASES[name][1]
    other = explained(name, data=table.iloc[::-1].reset_index(drop=True), batch_size=60)
    for found, wanted in zip(other.effects, in_memory(name).effects, strict=True):
        for one, region in zip(found.regions, wanted.regions, strict=True):
            if region.effect.stairs is not None:
                np.testing.assert_array_equal(one.effect.stairs.jumps, region.effect.stairs.jumps)


@pytest.mark.parametrize("name", CASES)
def test_who_does_not_ask_for_regions_gets_the_same_effects(name):
    plain, wanted = explained(name, regions=False), in_memory(name)
    for without, effect in zip(plain.effects, wanted.effects, strict=True):
        assert without.regions is None
        assert effect.regions is not None
        doubt = tuple(note for note in effect.local_notes if note.kind != "regions")
        assert replace(effect, regions=None, local_notes=doubt) == without
    for field in ("predictions", "sample_x", "sample_weight"):
        np.testing.assert_array_equal(getattr(plain, field), getattr(wanted, field))
    assert plain.cells.keys() == wanted.cells.keys()
    assert all(same_fields(plain.cells[key], cells) for key, cells in wanted.cells.items())


@pytest.fixture
def third_pass(monkeypatch):
    """As where not every row of the table is among those that something is kept of."""
    monkeypatch.setattr("rhale.regions.groups.count_alike", lambda *_: None)


@pytest.mark.parametrize("name", ["gradients", "secants", "levels", "outputs", "groups"])
@pytest.mark.usefixtures("third_pass")
def test_regions_made_of_what_was_asked_before_are_those_of_a_third_pass(name):
    found, wanted = explained(name), in_memory(name)
    asked = "rows_asked"  # which is what the third pass costs
    assert found.provenance[asked] > wanted.provenance[asked]
    same = replace(found, provenance=found.provenance | {asked: wanted.provenance[asked]})
    assert_same(same, wanted)


@pytest.mark.parametrize("name", ["gradients", "secants", "levels", "trees", "groups"])
@pytest.mark.usefixtures("third_pass")
def test_an_interrupted_third_pass_goes_on(name, tmp_path, monkeypatch):
    asked, add_up = [], Grouped.add_up

    def stops(self, rows, *others):
        asked.append(rows.chunk.n_rows)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return add_up(self, rows, *others)

    options = {"batch_size": 170, "n_jobs": 1}  # or less where trees are walked
    whole = explained(name, **options)
    monkeypatch.setattr(Grouped, "add_up", stops)
    with pytest.raises(KeyboardInterrupt):
        explained(name, checkpoint=tmp_path / "kept", **options)
    again = explained(name, checkpoint=tmp_path / "kept", **options)
    assert again.effects == whole.effects
    n_measures = len({e.name for e in whole.effects if len(e.regions) > 1})
    n_chunks = -(-(TABLE["w"] > 0).sum() // max(asked))
    assert len(asked) <= n_measures * (n_chunks + 1)


def test_a_checkpoint_without_regions_is_that_of_another_run(tmp_path):
    explained("gradients", regions=False, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="regions"):
        explained("gradients", checkpoint=tmp_path)


def test_a_checkpoint_with_regions_is_that_of_another_run(tmp_path):
    explained("groups", checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="regions"):
        explained("groups", regions=False, checkpoint=tmp_path)
    model, table, options, _ = CASES["groups"]
    with pytest.raises(CheckpointError, match="regions"):
        rhale.explain(model, table, **options, regions=rhale.By("s"), checkpoint=tmp_path)
    again = explained("groups", checkpoint=tmp_path)
    assert again.effects == in_memory("groups").effects
