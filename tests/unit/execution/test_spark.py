"""What runs without Spark, on stand-ins for its objects; tests/engines has Spark itself."""

# ruff: noqa: N802 - a stand-in has the names of what it stands for

import pickle
import sys
import threading
from types import ModuleType, SimpleNamespace

import narwhals.stable.v2 as nw
import pytest

from rhale.data.frame import FrameTable
from rhale.data.pieces import PiecedTable
from rhale.errors import BadSettingError, BadTableError, ModelStoppedError
from rhale.execution import spark
from rhale.execution.spark import Jobs, contents, open_spark_table, summarise_spark_partition
from rhale.execution.worker import count_task, pack

pa = pytest.importorskip("pyarrow")

HEAD = FrameTable(nw.from_native(pa.table({"a": pa.array([], pa.float64())}), eager_only=True))
TABLE = PiecedTable(HEAD, HEAD.names)


class Context:
    """A Spark context whose jobs are done at once, in the thread that starts them."""

    def __init__(self):
        self.jobs, self.cancelled, self.own = [], [], threading.local()

    def getLocalProperty(self, name):
        return f"the user's {name}"

    def setLocalProperty(self, name, value):
        setattr(self.own, name, value)

    def addJobTag(self, tag):
        self.own.tag = tag

    def setInterruptOnCancel(self, _):
        pass

    def cancelJobsWithTag(self, tag):
        self.cancelled.append(tag)

    def runJob(self, parts, function, numbers):
        self.jobs.append(list(numbers))
        return [found for number in numbers for found in function(iter(parts.rows[number]))]


def parts(n_parts):
    """Partitions, each a row with its own number as bytes."""
    rows = [[[bytearray([number])]] for number in range(n_parts)]
    return SimpleNamespace(rows=rows, getNumPartitions=lambda: n_parts)


def raising(said):
    def job():
        raise RuntimeError(said)

    return job


@pytest.fixture
def stand_in(monkeypatch):
    """A Spark of one class and one running task, the third of its stage."""
    frames = ModuleType("pyspark.sql")
    frames.DataFrame = type("DataFrame", (), {"isStreaming": True})
    whole = ModuleType("pyspark")
    whole.TaskContext = SimpleNamespace(get=lambda: SimpleNamespace(partitionId=lambda: 2))
    monkeypatch.setitem(sys.modules, "pyspark", whole)
    monkeypatch.setitem(sys.modules, "pyspark.sql", frames)
    return frames


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("pyspark.sql.connect.dataframe", "Spark Connect"),
        ("pyspark.pandas.frame", r"data\.to_spark\(\)"),
        ("pyspark.rdd", "an RDD has no columns"),
        ("pyspark.core.rdd", "an RDD has no columns"),
    ],
)
def test_other_tables_of_spark_get_advice(module, advice):
    with pytest.raises(BadTableError, match=advice):
        open_spark_table(type("Other", (), {"__module__": module})())


def test_a_stream_is_refused_and_what_is_no_table_is_left_to_others(stand_in):
    with pytest.raises(BadTableError, match="streaming data frame never ends"):
        open_spark_table(stand_in.DataFrame())
    assert open_spark_table(7) is None


@pytest.mark.parametrize(
    ("first", "jobs"), [(0, [[0, 1, 2], [3, 4, 5], [6]]), (4, [[4, 5, 6]]), (7, [])]
)
def test_partitions_are_asked_for_a_few_at_a_time_and_come_in_order(first, jobs):
    context = Context()
    with Jobs(context) as running:
        found = list(running.in_order(parts(7), first, 3))
    assert found == [bytes([number]) for number in range(first, 7)]
    assert sorted(context.jobs) == jobs


def test_jobs_have_a_tag_and_the_settings_of_the_thread_that_asked():
    context = Context()
    with Jobs(context) as running:
        seen = running.start(lambda: dict(vars(context.own))).result()
    assert {name: seen[name] for name in spark.INHERITED} == {
        name: f"the user's {name}" for name in spark.INHERITED
    }
    assert set(context.cancelled) == {seen["tag"]}
    assert vars(context.own) == {}


@pytest.mark.parametrize("word", spark.DEATH)
def test_workers_that_died_are_told_from_work_that_failed(word):
    with Jobs(Context()) as running:
        with pytest.raises(ModelStoppedError, match="the workers of Spark died"):
            running.start(raising(f"Stage 3: {word}")).result()
        with pytest.raises(BadTableError, match=r"Spark could not compute it: .*no such day"):
            running.start(raising("ValueError: no such day")).result()


def plan(level):
    """Partitions of a plan that Spark calls so."""
    said = SimpleNamespace(toString=lambda: level)
    rdd = SimpleNamespace(outputDeterministicLevel=lambda: said)
    return SimpleNamespace(_jrdd=SimpleNamespace(rdd=lambda: rdd))


def stored(*, is_stored):
    level = SimpleNamespace(useMemory=is_stored, useDisk=False)
    return SimpleNamespace(storageLevel=level)


@pytest.mark.parametrize(
    ("first", "starts", "level", "is_stored", "advice"),
    [
        (0, (), "INDETERMINATE", False, None),
        (3, (), "DETERMINATE", False, None),
        (0, (0, 5), "UNORDERED", True, None),
        (3, (), "UNORDERED", True, "checkpoint= goes on"),
        (0, (0, 5), "UNORDERED", False, r"n_rows= draws rows by place.*data\.cache\(\)"),
    ],
)
def test_places_of_rows_are_asked_for_only_where_they_stay(first, starts, level, is_stored, advice):
    task = SimpleNamespace(table=SimpleNamespace(starts=starts))
    given = plan(level), task, stored(is_stored=is_stored), first
    if advice is None:
        spark._require_order(*given)
    else:
        with pytest.raises(BadSettingError, match=advice):
            spark._require_order(*given)


def test_names_of_columns_are_quoted():
    asked = []
    mapped = SimpleNamespace(mapInArrow=lambda _, schema: SimpleNamespace(rdd=schema))
    source = SimpleNamespace(selectExpr=lambda *columns: asked.extend(columns) or mapped)
    assert spark._map(source, ["a.b", "c`d"], None) == "summary binary"
    assert asked == ["`a.b` as c0", "`c``d` as c1"]


@pytest.mark.usefixtures("stand_in")
def test_a_worker_answers_with_one_row_of_bytes():
    batches = [pa.record_batch({"c0": [1.0, 2.0]}), pa.record_batch({"c0": [3.0]})]
    answer = summarise_spark_partition(pack(count_task(TABLE), pickle.dumps), ["a"], iter(batches))
    (held,) = contents(zip(answer["summary"].to_pylist(), strict=True))
    summary = pickle.loads(held)  # noqa: S301 - our own
    assert (summary.n_rows, summary.failure) == (3, None)
