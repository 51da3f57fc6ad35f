import threading
import weakref
from uuid import uuid4

import cloudpickle
import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import BadTableError, ModelFailedError
from rhale.execution import dask as engine
from rhale.execution.dask import Dask, _graph, open_dask_table
from rhale.execution.worker import Parcel, PartTask, count_task

N = 120
RNG = np.random.default_rng(11)
A = RNG.normal(size=N)
SIZES = np.array(["S", "M", "L"])[RNG.integers(0, 3, N)]
PARTS = np.array_split(np.arange(N), 5)
PATIENCE = 120  # seconds: they bound a hang, and nothing else


def spread(table, cut=lambda rows: rows):
    """The rows of a table in five partitions, each changed in some way."""
    return dd.from_map(lambda rows: cut(table.iloc[rows]), PARTS, meta=table.iloc[:0])


def of_size(rows):
    size = rows["size"].astype(object)
    return rows["a"].to_numpy() * np.where(size == "L", 2.0, 1.0) + (size == "M").to_numpy()


def same(found, wanted):
    assert found.features == wanted.features
    assert found.provenance["kinds"] == wanted.provenance["kinds"]
    for one, other in zip(found.effects, wanted.effects, strict=True):
        assert getattr(one, "levels", ()) == getattr(other, "levels", ())
        np.testing.assert_array_equal(one.edges, other.edges)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12, atol=1e-13)
        assert one.notes == other.notes
    return found


def test_partitions_are_worked_on_in_their_order():
    table = dd.from_pandas(pd.DataFrame({"a": np.arange(40.0)}), npartitions=20, sort=False)
    numbers = []
    task = PartTask(lambda chunk: numbers.append(chunk.where) or 1, open_dask_table(table), 9)
    with dask.config.set(scheduler="sync"):
        assert len(list(Dask().map_parts(task, table, 0))) == 20
    assert numbers == [f"partition {number}" for number in range(20)]


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_an_interrupted_run_goes_on_behind_the_partitions_that_are_done(
    tmp_path, monkeypatch, share
):
    monkeypatch.setattr("rhale.execution.checkpoint.folder.EVERY_SECONDS", 0)
    monkeypatch.setattr("rhale.execution.checkpoint.folder.SPARED_SHARE", 0)
    frame = pd.DataFrame({"a": RNG.normal(size=400), "b": RNG.normal(size=400)})
    table = dd.from_pandas(frame, npartitions=20, sort=False)
    calls, last = [], float("inf")

    def model(rows):
        calls.append(len(rows))
        if len(calls) > last:
            raise KeyboardInterrupt
        return rows["a"].to_numpy() ** 2 * rows["b"].to_numpy()

    with dask.config.set(scheduler="sync"):
        whole = rhale.explain(model, table)
        n_calls, last = len(calls), share * len(calls)
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            rhale.explain(model, table, checkpoint=tmp_path / "kept")
        calls.clear()
        last = float("inf")
        resumed = rhale.explain(model, table, checkpoint=tmp_path / "kept")
    # the first questions, and one partition again, of which some rows are moved besides
    assert len(calls) < (1 - share) * n_calls + 9
    for one, other in zip(whole.effects, resumed.effects, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.std, other.std)


# --- tables ------------------------------------------------------------------------------------


def test_a_data_frame_tells_its_columns_before_any_row_is_read():
    def load(_):
        raise AssertionError

    opened = open_dask_table(dd.from_map(load, [1, 2], meta=pd.DataFrame({"a": [1.0], 3: ["x"]})))
    assert (opened.kind, opened.names, opened.n_rows) == ("dask", ("a", "3"), None)
    assert [opened.holds(i) for i in range(2)] == ["number", "name"]


def test_an_array_keeps_its_rows_in_one_piece():
    opened = open_dask_table(da.ones((10, 4), chunks=(3, 2)))
    assert (opened.names, opened.n_rows) == (("x0", "x1", "x2", "x3"), 10)
    assert opened.source.numblocks == (4, 1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: dd.from_pandas(pd.DataFrame({"a": A}))["a"], r"Series is not a table.*to_frame"),
        (lambda: dd.from_pandas(pd.DataFrame({"a": A})).index, r"Index is not a table.*to_frame"),
        (lambda: dd.from_pandas(pd.DataFrame({"a": A}))["a"].sum(), "Scalar is not a table"),
        (lambda: db.from_sequence([1, 2]), r"Bag is not a table; \.to_dataframe"),
        (lambda: dask.delayed(A), r"Delayed is not a table.*from_delayed"),
        (lambda: da.ones(5), r"shape \(5,\).*reshape\(-1, 1\)"),
        (lambda: da.ones((5, 2, 2)), r"shape \(5, 2, 2\)"),
        (lambda: da.ones((5, 2), dtype=complex), "type complex128"),
        (lambda: da.ma.masked_array(da.ones((5, 2))), "made of MaskedArray"),
        (lambda: da.ones((5, 2))[:, da.ones(2) > 0], "number of columns .* not known"),
        (lambda: spread(pd.DataFrame([[1, 2]], columns=["a", "a"])), "names must differ"),
    ],
)
def test_what_is_no_table_is_refused_with_advice(make, said):
    with pytest.raises(BadTableError, match=said):
        rhale.explain(len, make())


def test_rows_of_an_array_need_not_be_counted_before():
    table = da.from_array(np.column_stack([A, -A]), chunks=(30, 1))
    some = table[table[:, 0] > 0]
    found = rhale.explain(lambda rows: rows[:, 0] ** 2, some)
    same(found, rhale.explain(lambda rows: rows[:, 0] ** 2, some.compute()))


# --- columns -----------------------------------------------------------------------------------


def known(values, **options):
    return pd.Series(pd.Categorical(values, categories=["S", "M", "L"], **options))


COLUMNS = {
    "known categories": known(SIZES),
    "ordered categories": known(SIZES, ordered=True),
    "text": pd.Series(SIZES, dtype="str"),
    "text of Arrow": pd.Series(SIZES, dtype="string[pyarrow]"),
    "text with gaps": pd.Series(np.where(A < 1, SIZES, None), dtype="str"),
    "objects with None": pd.Series(np.where(A < 1, SIZES, None), dtype=object),
    "objects with nan": pd.Series(np.where(A < 1, SIZES.astype(object), np.nan), dtype=object),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_names_of_any_type_give_the_numbers_of_the_table_in_memory(name):
    table = pd.DataFrame({"a": A, "size": COLUMNS[name]})
    with dask.config.set({"dataframe.convert-string": False}):
        same(rhale.explain(of_size, spread(table)), rhale.explain(of_size, table))


def test_categories_that_differ_from_partition_to_partition_are_united():
    seen = []

    def model(rows):
        seen.append(rows["size"].dtype)
        return of_size(rows)

    def own(rows):
        return rows.assign(size=rows["size"].cat.remove_unused_categories())

    table = pd.DataFrame({"a": A, "size": known(SIZES)}).sort_values("size")
    unknown = spread(table, own)
    unknown["size"] = unknown["size"].cat.as_unknown()
    same(rhale.explain(model, unknown), rhale.explain(of_size, table))
    assert {frozenset(dtype.categories) for dtype in seen} == {frozenset("SML")}
    assert len(set(seen)) == 1


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "int64[pyarrow]", "int8", "float32", "boolean"]
)
def test_numbers_of_any_type_give_the_numbers_of_the_table_in_memory(dtype):
    values = pd.Series(RNG.integers(0, 2 if dtype == "boolean" else 50, N)).astype(dtype)
    if dtype in ("Int64", "Float64", "int64[pyarrow]", "boolean"):
        values[::9] = pd.NA
    table = pd.DataFrame({"a": A, "b": values})

    def model(rows):
        return rows["a"].to_numpy() + rows["b"].to_numpy(dtype=float, na_value=0.0) ** 2

    same(rhale.explain(model, spread(table)), rhale.explain(model, table))


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([f"row {i}" for i in range(N)]),
        pd.Index(np.arange(N) % 7),
        pd.MultiIndex.from_arrays([np.arange(N) % 3, np.arange(N)]),
        pd.date_range("2024-01-01", periods=N),
    ],
)
def test_the_index_does_not_matter(index):
    table = pd.DataFrame({"a": A, "size": SIZES}, index=index)
    same(rhale.explain(of_size, spread(table)), rhale.explain(of_size, table))


def test_columns_named_by_numbers_stay_so_for_the_model():
    table = pd.DataFrame({0: A, 1: A[::-1], 7: 1.0 + (A > 0)})
    found = rhale.explain(lambda rows: rows[0] * rows[1], spread(table), weights="7")
    same(found, rhale.explain(lambda rows: rows[0] * rows[1], table, weights="7"))


def test_partitions_without_rows_contribute_nothing():
    table = pd.DataFrame({"a": np.sort(A), "size": known(SIZES)})
    some = spread(table)
    some = some[some["a"] > 0]
    same(rhale.explain(of_size, some), rhale.explain(of_size, table[table["a"] > 0]))


def test_a_table_without_any_row_is_refused():
    table = spread(pd.DataFrame({"a": A, "b": A}))
    with pytest.raises(BadTableError, match="no rows"):
        rhale.explain(len, table[table["a"] > 9])


def test_only_the_columns_of_the_model_are_made():
    made = []

    def load(rows, columns=None):
        made.append(columns)
        return table.iloc[rows] if columns is None else table.iloc[rows][columns]

    table = pd.DataFrame({"a": A, "unused": A, "b": A, "w": 1.0})
    data = dd.from_map(load, PARTS, meta=table.iloc[:0])
    rhale.explain(lambda rows: rows["a"] + rows["b"], data, columns=["b", "a"], weights="w")
    assert made
    assert all(set(columns) == {"a", "b", "w"} for columns in made)


def test_a_partition_with_other_columns_is_named():
    def cut(rows):
        return rows.rename(columns={"b": "c"}) if rows.index[0] == PARTS[3][0] else rows

    table = spread(pd.DataFrame({"a": A, "b": A}), cut)
    with pytest.raises(BadTableError, match=r"^partition 3: there is no column 'b'"):
        rhale.explain(lambda rows: rows["a"], table)
    with pytest.raises(BadTableError, match=r"^partition 3: .*'b'"):  # found by Dask
        rhale.explain(lambda rows: rows["b"], table, columns=["b"])


# --- the work ----------------------------------------------------------------------------------


class Noting:
    """A task that notes the rows it gets."""

    def __init__(self, found):
        self.found = found

    def __call__(self, chunk):
        self.found.append(chunk.n_rows)
        return chunk.column(0)[:1]


def test_partitions_before_the_first_are_not_computed():
    loaded = []

    def load(index):
        loaded.append(index)
        return pd.DataFrame({"a": np.full(index + 1, float(index))})

    source = dd.from_map(load, range(6), meta=pd.DataFrame({"a": [1.0]}))
    task = PartTask(Noting([]), open_dask_table(source), 100)
    found = list(Dask().map_parts(task, source, 4))
    assert sorted(loaded) == [4, 5]
    assert [(s.n_rows, s.term.tolist()) for s in found] == [(5, [4.0]), (6, [5.0])]
    assert not list(Dask().map_parts(task, source, 6))


def test_summaries_come_in_the_order_of_partitions():
    source = dd.from_map(lambda n: pd.DataFrame({"a": np.arange(float(n))}), range(1, 9),
                         meta=pd.DataFrame({"a": [1.0]}))  # fmt: skip
    found = Dask().map_parts(count_task(open_dask_table(source)), source, 0)
    assert [summary.n_rows for summary in found] == list(range(1, 9))


def test_the_task_is_in_the_graph_once():
    source = dd.from_map(lambda n: pd.DataFrame({"a": [float(n)]}), range(9),
                         meta=pd.DataFrame({"a": [1.0]}))  # fmt: skip
    parcel = Parcel(b"0" * 100_000, "digest")
    graph, keys = _graph(parcel, source, 0)
    sizes = {key: len(cloudpickle.dumps(task)) for key, task in graph.items()}
    assert max(sizes[key] for key in keys) < 1_000
    assert sum(size > 100_000 for size in sizes.values()) == 1


def test_few_partitions_are_in_memory_at_a_time():
    loaded, done, most = [], [], []

    def load(index):
        loaded.append(index)
        most.append(len(loaded) - len(done))
        return pd.DataFrame({"a": [float(index)]})

    source = dd.from_map(load, range(40), meta=pd.DataFrame({"a": [1.0]}))
    with dask.config.set(num_workers=2):
        list(Dask().map_parts(PartTask(Noting(done), open_dask_table(source), 9), source, 0))
    assert len(done) == 40
    assert max(most) <= 4


class Moment(threading.Event):
    """Something to wait for; Dask, which takes functions of one pickle for one, sees which."""

    def __init__(self, name=None):
        super().__init__()
        self.name = name or uuid4().hex

    def __reduce__(self):
        return Moment, (self.name,)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_work_that_nobody_waits_for_is_given_up(scheduler, monkeypatch):
    is_over, loaded, in_vain, at_work = Moment(), [], [], []

    class Noted(threading.Thread):
        def start(self):
            at_work.append(self)
            super().start()

    monkeypatch.setattr(engine, "Event", lambda: is_over)
    monkeypatch.setattr(engine, "Thread", Noted)

    def load(index):
        loaded.append(index)
        at_work.append(threading.current_thread())
        if index and not is_over.wait(PATIENCE):
            in_vain.append(index)
            raise TimeoutError
        return pd.DataFrame({"a": [1.0]})

    source = dd.from_map(load, range(500), meta=pd.DataFrame({"a": [1.0]}))
    with dask.config.set(scheduler=scheduler, num_workers=2):
        found = Dask().map_parts(count_task(open_dask_table(source)), source, 0)
        next(found)
        found.close()
    assert in_vain == []
    assert 1 <= len(loaded) <= 4  # the first, and what the two workers had then
    assert not any(thread.is_alive() for thread in at_work)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_a_partition_that_cannot_be_made_is_named(scheduler):
    def load(index):
        if index == 3:
            msg = "no such disk"
            raise OSError(msg)
        return pd.DataFrame({"a": A})

    source = dd.from_map(load, range(5), meta=pd.DataFrame({"a": [1.0]}))
    with (
        dask.config.set(scheduler=scheduler),
        pytest.raises(BadTableError, match=r"^partition 3: .*OSError: no such disk") as caught,
    ):
        rhale.explain(len, source)
    assert isinstance(caught.value.__cause__, OSError)


def test_a_model_that_fails_is_quoted_with_the_number_of_the_partition():
    def model(rows):
        is_asked_here = threading.current_thread() is threading.main_thread()
        if not is_asked_here and (rows["a"] == A[PARTS[2][3]]).any():
            msg = "cold"
            raise RuntimeError(msg)
        return rows["a"].to_numpy()

    with pytest.raises(ModelFailedError, match=r"^partition 2: .*RuntimeError: cold"):
        rhale.explain(model, spread(pd.DataFrame({"a": A, "b": A})), method="mplot")


def test_a_scheduler_of_the_users_own_that_calls_nobody_back_will_do():
    def own(graph, keys, **_):
        return dask.get(graph, keys)

    source = dd.from_map(lambda n: pd.DataFrame({"a": np.arange(float(n))}), [3, 5],
                         meta=pd.DataFrame({"a": [1.0]}))  # fmt: skip
    with dask.config.set(scheduler=own):
        found = list(Dask().map_parts(count_task(open_dask_table(source)), source, 0))
    assert [summary.n_rows for summary in found] == [3, 5]


@pytest.mark.slow
@pytest.mark.usefixtures("shared_locks")
def test_processes_of_dask_give_the_same_numbers():
    table = pd.DataFrame({"a": A, "size": SIZES})
    with dask.config.set(scheduler="processes", num_workers=2):
        same(
            rhale.explain(lambda rows: of_size(rows), spread(table)), rhale.explain(of_size, table)
        )


class Piece(list):
    """What can be seen to be gone."""


def test_a_summary_is_let_go_as_soon_as_it_is_passed_on():
    is_seen = Moment()

    def load(index):
        if index == 5 and not is_seen.wait(PATIENCE):
            raise TimeoutError
        return pd.DataFrame({"a": [1.0]})

    source = dd.from_map(load, range(6), meta=pd.DataFrame({"a": [1.0]}))
    with dask.config.set(scheduler="sync"):
        task = PartTask(lambda _: Piece(), open_dask_table(source), 9)
        found = Dask().map_parts(task, source, 0)
        pieces = [weakref.ref(next(found).term) for _ in range(5)]
        assert [piece() for piece in pieces[:3]] == [None] * 3
        is_seen.set()
        assert len(list(found)) == 1
