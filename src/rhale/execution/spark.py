"""Spark: the rows of a data frame are summarised where they are, partition by partition.

The plan of the data frame runs once in each pass, so a pass sees the rows as Spark makes them then.
Plans that read files give the same partitions, and the same bits, in every pass and after every
retry. After a shuffle Spark promises neither the order of rows in a partition nor, where it unites
small partitions as it goes, their number: sums then agree to rounding.
"""

from __future__ import annotations

import pickle
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any, Self
from uuid import uuid4

import narwhals.stable.v2 as nw

from rhale.data.frame import FrameTable
from rhale.data.pieces import PiecedTable
from rhale.errors import BadSettingError, BadTableError
from rhale.execution.worker import Parcel, PartTask, Summary, describe_loss, pack, work

SPARK_NAME, SPARK_SUMMARY_COLUMN = "Spark", "summary"
JOBS = 2  # at a time: the next one fills the cores that the last tasks of one leave
FEWEST_PARTS, MOST_PARTS = 8, 200  # of one job: the driver holds their summaries, a MB each
INHERITED = ("spark.scheduler.pool", "spark.jobGroup.id", "spark.job.description", "spark.job.tags")
DEATH = ("Python worker exited unexpectedly", "ExecutorLostFailure")  # in Spark's words
NOT_TABLES = {
    "pyspark.sql.connect": (
        "a data frame of Spark Connect has no Spark context to send models with; "
        "pass one of a classic session, or write it to Parquet and pass the path"
    ),
    "pyspark.pandas": "pandas on Spark is read as a Spark data frame; pass data.to_spark()",
    "pyspark.rdd": "an RDD has no columns; pass data.toDF([...names])",
    "pyspark.core.rdd": "an RDD has no columns; pass data.toDF([...names])",
}


def open_spark_table(data: Any) -> PiecedTable | None:
    """Open a Spark data frame; None for what is no table."""
    from pyspark.sql import DataFrame

    module = type(data).__module__
    for start, advice in NOT_TABLES.items():
        if f"{module}.".startswith(f"{start}."):
            raise BadTableError(advice)
    if not isinstance(data, DataFrame):
        return None
    if data.isStreaming:
        msg = "a streaming data frame never ends; explain a table that does"
        raise BadTableError(msg)
    import pyarrow as pa

    zone = data.sparkSession.conf.get("spark.sql.session.timeZone")
    for place, name in enumerate(data.columns):
        if name in data.columns[:place]:
            msg = f"two columns are called {name!r}; rename one of them with toDF"
            raise BadTableError(msg)
    schema = pa.schema([(field.name, _arrow_type(field, zone)) for field in data.schema])
    head = FrameTable(nw.from_native(schema.empty_table(), eager_only=True))
    return PiecedTable(head, head.names, data, Spark())


def _arrow_type(field: Any, zone: str) -> Any:
    """Arrow's type of a column; moments are shown in the session's time zone, as in Spark."""
    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import TimestampType

    if isinstance(field.dataType, TimestampType):
        return pa.timestamp("us", tz=zone)
    try:
        return to_arrow_type(field.dataType)
    except (AssertionError, NotImplementedError, PySparkException, TypeError) as error:
        msg = (
            f"column {field.name!r} holds {field.dataType.simpleString()}, which Spark does not "
            f"hand to Python; leave it out with data.drop({field.name!r})"
        )
        raise BadTableError(msg) from error


class Spark:
    """The engine of Spark's tables."""

    name, no_resume = "spark", ""

    def map_parts(self, part_task: PartTask, source: Any, first: int) -> Iterator[Summary]:
        """Summarise every partition, results in order."""
        from pyspark.cloudpickle import dumps

        context, wanted = source.sparkSession.sparkContext, part_task.table.wanted
        parcel = context.broadcast(pack(part_task, dumps))
        with ExitStack() as stack:
            stack.callback(parcel.destroy)
            jobs = stack.enter_context(Jobs(context))
            parts = jobs.start(lambda: _map(source, wanted, parcel)).result()
            _require_order(parts, part_task, source, first)
            size = max(FEWEST_PARTS, min(2 * context.defaultParallelism, MOST_PARTS))
            for found in jobs.in_order(parts, first, size):
                yield pickle.loads(found)  # noqa: S301 - our own bytes, from our own workers


def _require_order(parts: Any, part_task: PartTask, source: Any, first: int) -> None:
    """Refuse to look for rows by their places where a plan may give them in another order."""
    if not (first or part_task.table.starts):
        return
    level = parts._jrdd.rdd().outputDeterministicLevel().toString()  # noqa: SLF001 - no public way
    stored = source.storageLevel
    if level == "DETERMINATE" or (not first and (stored.useMemory or stored.useDisk)):
        return
    asked = (
        "checkpoint= goes on after finished partitions" if first else "n_rows= draws rows by place"
    )
    msg = (
        f"{asked}, but this data frame is shuffled, and Spark may give its rows in another order "
        "every time; write it to Parquet and pass the path"
    )
    raise BadSettingError(msg if first else f"{msg}, or pass data.cache()")


def _map(source: Any, names: list[str], parcel: Any) -> Any:
    """The summaries of all partitions, to be made when they are asked for."""
    quoted = ["`" + name.replace("`", "``") + "`" for name in names]  # dots would mean fields
    columns = [f"{name} as c{place}" for place, name in enumerate(quoted)]
    with warnings.catch_warnings():  # of versions of pandas, which is not used here
        warnings.simplefilter("ignore")
        mapped = source.selectExpr(*columns).mapInArrow(
            _summarising(parcel, names), f"{SPARK_SUMMARY_COLUMN} binary"
        )
    return mapped.rdd


def _summarising(parcel: Any, names: list[str]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with a partition; closures travel to workers, and this one is small."""

    def summarising(batches: Iterator[Any]) -> Iterator[Any]:
        yield summarise_spark_partition(parcel.value, names, batches)

    return summarising


def summarise_spark_partition(parcel: Parcel, names: list[str], batches: Iterator[Any]) -> Any:
    """Summarise the rows of one partition, on a worker; one record batch with bytes."""
    import pyarrow as pa
    from pyspark import TaskContext

    pieces = (pa.Table.from_batches([batch]).rename_columns(names) for batch in batches)
    summary = work(parcel, TaskContext.get().partitionId(), pieces)
    return pa.record_batch({SPARK_SUMMARY_COLUMN: pa.array([pickle.dumps(summary)], pa.binary())})


def contents(rows: Iterator[Any]) -> list[bytes]:
    """The bytes in the rows of one partition."""
    return [bytes(row[0]) for row in rows]


class Jobs:
    """Jobs that are started from threads of their own, and stopped when the block is left.

    What they set for themselves is not set in the user's thread.
    """

    def __init__(self, context: Any) -> None:
        self._context, self._tag = context, f"rhale-{uuid4().hex}"
        self._running: set[Future[Any]] = set()
        self._inherited = {name: context.getLocalProperty(name) for name in INHERITED}

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(JOBS, thread_name_prefix="rhale")
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        running = True
        while running:  # a thread may be about to start its job
            self._context.cancelJobsWithTag(self._tag)
            running = bool(wait(set(self._running), timeout=0.5).not_done)

    def start(self, job: Callable[[], Any]) -> Future[Any]:
        """Start a job in a thread."""

        def run() -> Any:
            for name, value in self._inherited.items():
                self._context.setLocalProperty(name, value)
            self._context.addJobTag(self._tag)
            self._context.setInterruptOnCancel(True)
            try:
                return job()
            except Exception as error:
                trace = str(error)
                is_dead = any(word in trace for word in DEATH)
                raise describe_loss(SPARK_NAME, trace, is_dead=is_dead) from error

        started = self._pool.submit(run)
        self._running.add(started)
        started.add_done_callback(self._running.discard)
        return started

    def in_order(self, parts: Any, first: int, size: int) -> Iterator[bytes]:
        """What the partitions hold, in order: a few of them in one job, a few jobs at a time."""
        waiting: deque[Future[Any]] = deque()
        n_parts = parts.getNumPartitions()
        for low in range(first, n_parts, size):
            waiting.append(self._part_of(parts, range(low, min(low + size, n_parts))))
            if len(waiting) > JOBS:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()

    def _part_of(self, parts: Any, numbers: Sequence[int]) -> Future[Any]:
        return self.start(lambda: self._context.runJob(parts, contents, numbers))
