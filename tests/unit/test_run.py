"""One call at work: what is opened, how much is asked at once, in which order results come."""

from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import rhale
from rhale import pipeline
from rhale.effects.local.choose import choose_measures
from rhale.effects.local.measure import Conclusion, SampleParts
from rhale.effects.local.precomputed import MAX_RESULT_SAMPLE_ROWS
from rhale.effects.local.tree_steps import JumpEffects
from rhale.errors import UnknownFeatureError
from rhale.features.feature import FirstPass
from rhale.pipeline import (
    FEWEST_SAMPLED,
    Run,
    conclude,
    find_moved_key,
    gather_findings,
    open_run,
    own_version,
    plain_regions,
)
from rhale.regions.result import Region, RegionTree, Split
from rhale.regions.settings import By, Regions
from rhale.settings import Settings

X = np.random.default_rng(2).normal(size=(300, 3))


def product(rows):
    return rows[:, 0] * rows[:, 1]


def opened(data=X, model=product, **asked):
    return open_run(model, data, Settings(**asked))


def met(run: Run):
    first = FirstPass.plan(run.table, run.asked)
    columns = first.resolve_columns(run.survey(first.task))
    return columns, run.probe_model(columns)


# --- opening -----------------------------------------------------------------------------------


def test_features_are_known_by_name_from_here_on():
    with opened(limits={0: (-1, 1)}, bins={2: 5}) as run:
        assert run.asked.limits == {"x0": (-1, 1)}
        assert run.asked.bins == {"x2": 5}


def test_an_unknown_feature_is_refused_before_the_model_is_asked():
    calls = []
    with (
        pytest.raises(UnknownFeatureError, match="'x9'"),
        opened(model=calls.append, features="x9"),
    ):
        pass
    assert calls == []


def test_the_table_has_the_columns_that_were_asked_for_in_their_order():
    table = pd.DataFrame(X, columns=list("abc"))
    with opened(table, columns=["c", "a"]) as run:
        assert run.table.names == ("c", "a")
        assert np.array_equal(run.table.chunk(0, 300).column(0), X[:, 2])


def test_drawn_rows_are_rows_of_the_table_and_the_seed_decides_which():
    def drawn(seed):
        with opened(n_rows=50, seed=seed) as run:
            assert (run.table.n_rows, run.n_in_table) == (50, 300)
            return run.table.chunk(0, 50).column(0)

    assert set(drawn(1)) < set(X[:, 0])
    assert np.array_equal(drawn(1), drawn(1))
    assert not np.array_equal(drawn(1), drawn(2))


def test_a_checkpoint_is_let_go_whatever_happens(tmp_path):
    with pytest.raises(ZeroDivisionError), opened(checkpoint=tmp_path / "kept"):
        raise ZeroDivisionError
    with opened(checkpoint=tmp_path / "kept") as run:  # else another process would have it
        assert run.memory is not None


@pytest.mark.parametrize(
    ("n_columns", "n_rows"),
    [(3, 2**16), (2**8, 2**15), (2**10, 2**13), (2**14, 2**10)],  # 2**23 numbers, within bounds
)
def test_wide_tables_are_asked_about_in_fewer_rows_at_once(n_columns, n_rows):
    with opened(np.zeros((2, n_columns))) as run:
        assert run.batch_rows == n_rows


@pytest.mark.parametrize(
    ("asked", "n_numbers", "n_rows"),
    [
        ({}, 3, 2**16),
        ({"batch_size": 10**6}, 3, 10**6),
        ({"batch_size": 30_000}, 3, 60_000),  # within the usual 65,536
        ({"batch_size": 2**12}, 3, 2**16),
        ({"batch_size": 2**12}, 2**8, 2**14),  # within 2**22 numbers
        ({"batch_size": 2**12}, 2**20, 2**12),
        ({"batch_size": 7}, 3, 7 * 16),
        ({"batch_size": 7, "n_jobs": 1}, 3, 7 * 16),
        ({"batch_size": 7, "n_jobs": 2}, 3, 7 * 16),
    ],
)
def test_chunks_hold_several_batches(asked, n_numbers, n_rows):
    with opened(**asked) as run:
        assert run.chunk_rows(n_numbers) == n_rows


def test_chunks_that_are_read_hold_one_batch_and_those_that_are_kept_several(tmp_path):
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet")
    with opened(str(tmp_path / "rows.parquet"), batch_size=7) as run:
        assert run.chunk_rows(3) == 7
    with opened(batch_size=7, checkpoint=tmp_path / "kept") as run:  # the bits are the same
        assert run.chunk_rows(3) == 7 * 16


# --- asking ------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_a_pass_adds_up_all_rows_whatever_the_batch(batch_size):
    with opened(batch_size=batch_size) as run:
        assert run.batch_rows == batch_size
        survey = run.survey(FirstPass.plan(run.table, run.asked).task)
        assert survey.n_rows == len(X)
        assert survey.low.tolist() == X.min(axis=0).tolist()
        assert sorted(survey.sample.values.tolist()) == sorted(X.tolist())


def test_rows_that_the_model_sees_are_counted():
    seen = []

    def model(rows):
        seen.append(len(rows))
        return product(rows)

    with opened(model=model) as run:
        columns, asker = met(run)
        assert asker.n_probed == sum(seen)
        choice = choose_measures(columns, asker, run.asked)
        found = run.measure(asker, columns, choice.measures)
        fx = conclude(run, columns, asker, choice, found)
    assert fx.provenance["rows_asked"] == sum(seen)


@pytest.mark.parametrize(
    ("n_numbers", "n_sampled"),
    [
        (10**6, MAX_RESULT_SAMPLE_ROWS),
        (4 * 500, 500),
        (4, FEWEST_SAMPLED),
    ],  # a row has two a feature
)
def test_the_sample_is_bounded_in_rows_and_in_numbers(n_numbers, n_sampled, monkeypatch):
    monkeypatch.setattr("rhale.pipeline.SAMPLE_NUMBERS", n_numbers)
    rows = np.random.default_rng(0).normal(size=(2_500, 2))
    with opened(rows, bins=1) as run:
        columns, asker = met(run)
        measures = choose_measures(columns, asker, run.asked).measures
        assert len(run.measure(asker, columns, measures).sample_x) == n_sampled


# --- results -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    name: str
    output: str
    missing: object = None
    parts: str = "points"


def gathered(*found):
    """What is made of conclusions about features a and b, each with two outputs.

    The k-th measure keeps three numbers of two rows, from 10 k on; one of missing values nothing.
    """
    columns = SimpleNamespace(features=[SimpleNamespace(name=name) for name in "ab"])
    pairs = [(SimpleNamespace(feature=SimpleNamespace(name=n)), one) for n, one in found]
    stands, nothing = np.arange(6.0).reshape(2, 3), np.empty((2, 0))
    kept = tuple(nothing if one.missing else 10 * k + stands for k, (_, one) in enumerate(found))
    key = np.arange(2, dtype=np.uint64)
    return gather_findings(columns, pairs, SampleParts(np.zeros((2, 2)), kept, np.ones(2), key), 9)


A, B = (tuple(Result(name, output) for output in "yz") for name in "ab")


def test_rows_are_kept_as_far_as_some_measure_moves_them():
    def moves(key):
        return SimpleNamespace(nearby=SimpleNamespace(last_key=np.uint64(key)))

    parts = SimpleNamespace(base=moves(9))  # a measure taken apart
    assert find_moved_key([moves(3), SimpleNamespace(), parts, moves(5)]) == 9
    assert find_moved_key([SimpleNamespace()]) == 0


def test_results_stand_by_feature_then_by_output_whoever_concludes_first():
    found = gathered(("b", Conclusion(B)), ("a", Conclusion(A)))
    assert found.results == (*A, *B)


def test_what_missing_values_do_joins_the_feature_s_results():
    found = gathered(("a", Conclusion(A)), ("b", Conclusion(B)), ("b", Conclusion(missing=(1, 2))))
    wanted = tuple(replace(one, missing=point) for one, point in zip(B, (1, 2), strict=True))
    assert found.results == (*A, *wanted)


def test_cells_are_kept_for_the_features_that_have_them():
    found = gathered(("a", Conclusion(A, cells="cells of a")), ("b", Conclusion(B)))
    assert found.cells == {"a": "cells of a"}


def test_the_sample_holds_where_rows_stand_and_nothing_of_measures_that_keep_nothing():
    gone = Conclusion(missing=(1, 2))
    found = gathered(("a", Conclusion(A)), ("a", gone), ("b", Conclusion(B)))
    assert found.sample_x.tolist() == [[0.0, 20.0], [3.0, 23.0]]
    assert found.asked == 9


def test_the_sample_holds_nothing_of_columns_beside_the_explained_ones():
    found = gathered(("b", Conclusion(B)), ("c", Conclusion()), ("a", Conclusion(A)))
    assert found.sample_x.tolist() == [[20.0, 0.0], [23.0, 3.0]]


def test_a_source_tree_that_was_never_installed_has_no_version(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    assert own_version.__wrapped__() == "unknown"


def test_regions_that_were_found_before_are_known_by_all_their_levels():
    names = tuple("abcdefghijkl")
    splits = [Split(0, "c", 1, None, names[:k], others=names[k:]) for k in (6, 7)]
    regions = [Region(rule, 9, 0.5, None) for rule in ("c = a, b, c, ...", "c = i, j, k, ...")]
    one, other = (RegionTree("x", "y0", "found", "", tuple(regions), (own,)) for own in splits)
    assert repr(By(one)) == repr(By(other))  # it names some of them
    assert plain_regions(By(one)) != plain_regions(By(other))
    for asked in (None, Regions(depth=1), By("c", cuts=[1])):
        assert plain_regions(asked) is asked


# --- columns that a model was fitted on ----------------------------------------------------------

TABLE = pd.DataFrame(X, columns=list("abc"))
LINE = LinearRegression().fit(TABLE, X @ [2.0, -1.0, 0.5])
WIDE = TABLE.assign(target=1.0, id=np.arange(300))[["target", "c", "b", "id", "a"]]


@pytest.mark.parametrize("as_table", [lambda t: t, pl.from_pandas, pa.Table.from_pandas])
def test_a_table_in_memory_goes_by_the_names_that_the_model_was_fitted_on(as_table):
    with opened(as_table(WIDE), LINE) as run:
        assert run.table.names == ("a", "b", "c")
        assert np.array_equal(run.table.chunk(0, 300).column(1), X[:, 1])
        (note,) = run.notes
    assert note.kind == "columns"
    assert note == "columns left out, as the model was not fitted on them: 'target', 'id'"


def test_columns_that_only_stand_elsewhere_are_no_news():
    with opened(TABLE[["c", "a", "b"]], LINE) as run:
        assert (run.table.names, run.notes) == (("a", "b", "c"), ())


def test_effects_and_pairs_are_those_of_the_right_columns_and_say_what_was_left_out():
    fx, right = rhale.explain(LINE, WIDE), rhale.explain(LINE, TABLE)
    assert fx.effects == right.effects
    assert [note.kind for note in fx.notes] == ["columns"]
    assert right.notes == ()
    assert [note.kind for note in rhale.interactions(LINE, WIDE).notes] == ["columns"]
    of_pair = rhale.explain(LINE, WIDE, features=[("a", "c")], method="pdp")
    assert [note.kind for note in of_pair.notes] == ["columns"]


def test_positions_are_those_of_the_user_s_table():
    fx = rhale.explain(LINE, WIDE, features=[4, 1], bins={4: 3}, feature_names={1: "Third"})
    assert fx.features == ("a", "c")
    assert fx["a"].mean.size == 3
    assert fx.captions.feature("c") == "Third"


@pytest.mark.parametrize(
    "asked", [{"features": ["a", "id"]}, {"regions": By("id", cuts=[9])}, {"columns": list("abc")}]
)
def test_columns_that_the_user_names_are_not_left_out(asked):
    with opened(WIDE, LINE, **asked) as run:
        assert run.table.names == tuple(asked.get("columns", WIDE.columns))
        assert run.notes == ()


def test_an_array_has_no_names_to_go_by():
    with opened(X[:, ::-1], LINE) as run:
        assert run.table.names == ("x0", "x1", "x2")
        assert np.array_equal(run.table.chunk(0, 300).column(0), X[:, 2])


@pytest.mark.parametrize(("few_rows", "expected"), [(1, [1_000] * 3), (1_500, [1_500] * 2)])
def test_chunks_of_few_rows_of_walked_trees_hold_up_to_twice_as_many(
    monkeypatch, few_rows, expected
):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3_000, 3))
    model = HistGradientBoostingRegressor(max_iter=5).fit(x, x.sum(axis=1))
    walked, add_up = [], JumpEffects.add_up

    def counts(self, rows, *others):
        walked.append(rows.chunk.n_rows)
        return add_up(self, rows, *others)

    monkeypatch.setattr(JumpEffects, "add_up", counts)
    monkeypatch.setattr(pipeline, "WALKED_NUMBERS", 4 * 3 * 1_000)  # four of every row and feature
    monkeypatch.setattr(pipeline, "FEW_CHUNK_ROWS", few_rows)
    monkeypatch.setattr(pipeline, "CHUNKS", (1, 1))
    rhale.explain(model, x, n_jobs=1)
    assert walked == [n_rows for n_rows in expected for _ in range(3)]
