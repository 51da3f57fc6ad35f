"""Ray: the blocks of a dataset are summarised by tasks, as they stream out of it.

Blocks have no names: they are numbered in the order of the dataset, which a copy of it is told to
keep. The same dataset gives the same blocks in both passes where its steps do; `materialize` makes
sure of it. Whatever the blocks, sums agree to rounding.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import narwhals.stable.v2 as nw

from rhale.data.frame import FrameTable
from rhale.data.pieces import PiecedTable
from rhale.errors import BadTableError
from rhale.execution.worker import Parcel, PartTask, Summary, describe_loss, pack, work

RAY_NAME = "Ray"
RAY_NO_RESUME = "Ray, whose blocks have no number to go on from; it does lost work again by itself"
MOST_TASKS = 200  # at a time
RAY_BLOCKS_AHEAD = (
    2  # so many times as many blocks are worked on or done before the next in order is
)
GRACE = 1.0  # seconds that tasks get to end by themselves


def open_ray_table(data: Any) -> PiecedTable | None:
    """Open a Ray dataset; None for what is no table."""
    from ray.data import DataIterator, Dataset

    if isinstance(data, DataIterator):
        msg = "rows of an iterator come once, and two passes need them; pass the dataset"
        raise BadTableError(msg)
    if not isinstance(data, Dataset):
        return None
    with _running():
        schema = _copy_ordered_dataset(data).schema()
    if schema is None:
        msg = "the table has no rows; an effect needs at least two rows with different values"
        raise BadTableError(msg)
    head = FrameTable(nw.from_native(_no_rows(schema.base_schema), eager_only=True))
    return PiecedTable(head, head.names, data, Ray())


def _no_rows(schema: Any) -> Any:
    """An empty table of the blocks' own kind: Arrow or pandas."""
    if hasattr(schema, "empty_table"):
        return schema.empty_table()
    import pandas as pd

    columns = zip(schema.names, schema.types, strict=True)
    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in columns})


class Ray:
    """The engine of Ray's tables."""

    name, no_resume = "ray", RAY_NO_RESUME

    def map_parts(self, part_task: PartTask, source: Any, first: int) -> Iterator[Summary]:
        """Summarise every block, results in order."""
        import ray

        assert not first  # noqa: S101 - see NO_RESUME
        parcel = ray.put(pack(part_task, ray.cloudpickle.dumps))
        is_arrow = part_task.table.head.kind == "pyarrow"
        # The dataset's own tasks and actors keep their cores until their blocks are taken: tasks
        # that asked for a core to take them with might wait forever. We count cores ourselves.
        task = ray.remote(num_cpus=0)(summarise_ray_block)
        n_tasks = max(1, min(int(ray.cluster_resources().get("CPU", 1)), MOST_TASKS))
        waiting, running = deque[Any](), list[Any]()
        with _running():
            try:
                for index, block in enumerate(_blocks(part_task.table, source)):
                    running = running if len(running) < n_tasks else ray.wait(running)[1]
                    running.append(task.remote(parcel, index, block, is_arrow=is_arrow))
                    waiting.append(running[-1])
                    if len(waiting) > RAY_BLOCKS_AHEAD * n_tasks:
                        yield ray.get(waiting[0])
                        waiting.popleft()
                while waiting:
                    yield ray.get(waiting[0])
                    waiting.popleft()
            finally:
                _end_unneeded_tasks(waiting)


def _end_unneeded_tasks(tasks: Iterable[Any]) -> None:
    """End tasks whose results are not wanted any more.

    Ray ends the whole process where a task is cancelled while its answer comes in. So short tasks
    end by themselves, and only those that take longer are cancelled: answers of these are rare.
    """
    import ray

    tasks = list(tasks)
    if tasks:
        _, tasks = ray.wait(tasks, num_returns=len(tasks), timeout=GRACE, fetch_local=False)
    for task in tasks:
        ray.cancel(task, force=True)  # an interrupted import would spoil a worker


def _blocks(table: PiecedTable, source: Any) -> Iterator[Any]:
    """References to the blocks, in the dataset's order."""
    from ray.data.dataset import MaterializedDataset

    wanted = table.wanted
    if len(wanted) < len(table.everything) and not isinstance(source, MaterializedDataset):
        source = source.select_columns(wanted)  # files are then read without the others
    for bundle in _copy_ordered_dataset(source).iter_internal_ref_bundles():
        yield from bundle.block_refs


def _copy_ordered_dataset(data: Any) -> Any:
    """The same dataset with settings of its own: rows in order, no bars."""
    copied = type(data).copy(data, _deep_copy=True)
    copied.context.execution_options.preserve_order = True
    copied.context.enable_progress_bars = False
    return copied


@contextmanager
def _running() -> Iterator[None]:
    """Keep Ray's log of a run quiet, and say what it means that Ray gave up."""
    from pyarrow import ArrowException
    from ray.exceptions import RayError, RayTaskError

    log = logging.getLogger("ray.data")
    before = log.level
    log.setLevel(logging.CRITICAL)  # errors are raised as well
    try:
        yield
    except ArrowException as error:
        msg = f"the blocks of the dataset do not make one table: {error}"
        raise BadTableError(msg) from error
    except RayError as error:
        is_dead = not isinstance(error, RayTaskError)
        raise describe_loss(RAY_NAME, str(error), is_dead=is_dead) from error
    finally:
        log.setLevel(before)


def summarise_ray_block(parcel: Parcel, index: int, block: Any, *, is_arrow: bool) -> Summary:
    """Summarise one block, on a worker."""
    from ray.data.block import BlockAccessor

    blocks = BlockAccessor.for_block(block)
    return work(parcel, index, [blocks.to_arrow() if is_arrow else blocks.to_pandas()])
