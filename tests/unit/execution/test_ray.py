"""What runs without Ray, on stand-ins for its objects; tests/engines has Ray itself."""

import logging
import pickle
import sys
from types import ModuleType, SimpleNamespace

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

from rhale.data.frame import FrameTable
from rhale.data.pieces import PiecedTable
from rhale.errors import BadTableError, ModelStoppedError, RhaleError
from rhale.execution import ray
from rhale.execution.ray import Ray, open_ray_table
from rhale.execution.worker import PartTask

pa = pytest.importorskip("pyarrow")

BLOCKS = [pa.table({"a": [number, number + 0.5]}) for number in range(9)]


class Dataset:
    """Blocks that are copied with settings of their own."""

    def __init__(self, blocks, schema=None):
        self.blocks, self.known = blocks, schema
        self.context = SimpleNamespace(execution_options=SimpleNamespace())

    def copy(self, *, _deep_copy):
        assert _deep_copy
        return type(self)(self.blocks, self.known)

    def schema(self):
        return self.known

    def iter_internal_ref_bundles(self):
        assert self.context.execution_options.preserve_order
        return [SimpleNamespace(block_refs=[block]) for block in self.blocks]


class Cluster:
    """Two cores; a task is done when its result is asked for."""

    def __init__(self):
        self.done, self.cancelled, self.most, self.ending = [], [], 0, []
        self.cloudpickle = SimpleNamespace(dumps=pickle.dumps)

    def put(self, value):
        return value

    def cluster_resources(self):
        return {"CPU": 2.0}

    def remote(self, **settings):
        assert settings == {"num_cpus": 0}
        return lambda task: SimpleNamespace(remote=lambda *given, **how: [task, given, how])

    def wait(self, running, num_returns=1, timeout=None, fetch_local=True):  # noqa: FBT002
        if timeout is None:
            self.most = max(self.most, len(running))
            return running[:1], running[1:]
        assert (num_returns, timeout, fetch_local) == (len(running), ray.GRACE, False)
        return [], [one for one in running if one[1][1] not in self.ending]

    def get(self, asked):
        task, given, how = asked
        self.done.append(given[1])
        return task(*given, **how)

    def cancel(self, asked, *, force):
        assert force
        self.cancelled.append(asked[1][1])


class Block:
    """A block of Arrow."""

    def __init__(self, block):
        self.to_arrow = lambda: block
        self.to_pandas = block.to_pandas

    for_block = classmethod(lambda cls, block: cls(block))


@pytest.fixture
def cluster(monkeypatch):
    """A stand-in for Ray, under its names."""
    whole, names = Cluster(), {}
    for path in ("ray.data", "ray.data.dataset", "ray.data.block", "ray.exceptions"):
        names[path] = ModuleType(path)
        monkeypatch.setitem(sys.modules, path, names[path])
    monkeypatch.setitem(sys.modules, "ray", whole)
    names["ray.data"].Dataset = Dataset
    names["ray.data"].DataIterator = type("DataIterator", (), {})
    names["ray.data.dataset"].MaterializedDataset = type("MaterializedDataset", (Dataset,), {})
    names["ray.data.block"].BlockAccessor = Block
    names["ray.exceptions"].RayError = type("RayError", (Exception,), {})
    names["ray.exceptions"].RayTaskError = type(
        "RayTaskError", (names["ray.exceptions"].RayError,), {}
    )
    return whole


def total(chunk):
    return float(chunk.column(0).sum())


def parts():
    """Summaries of all blocks, made as they are asked for."""
    head = FrameTable(nw.from_native(BLOCKS[0].schema.empty_table(), eager_only=True))
    return Ray().map_parts(PartTask(total, PiecedTable(head, head.names), 9), Dataset(BLOCKS), 0)


def test_blocks_are_summarised_in_their_order(cluster):
    assert [summary.term for summary in parts()] == [2 * number + 0.5 for number in range(9)]
    assert cluster.done == list(range(9))
    assert cluster.most == 2


def test_what_nobody_waits_for_any_more_is_cancelled(cluster):
    found = parts()
    next(found)
    found.close()
    assert cluster.cancelled == [0, 1, 2, 3, 4]  # two cores, twice as many ahead, and the one out


def test_what_ends_by_itself_is_not_cancelled(cluster):
    cluster.ending = [1, 2]
    found = parts()
    next(found)
    found.close()
    assert cluster.cancelled == [0, 3, 4]


@pytest.mark.usefixtures("cluster")
def test_a_dataset_tells_its_columns_before_any_block_is_read():
    opened = open_ray_table(Dataset(None, SimpleNamespace(base_schema=BLOCKS[0].schema)))
    assert (opened.kind, opened.names, opened.holds(0)) == ("ray", ("a",), "number")
    assert "no number to go on from" in opened.storage.no_resume


@pytest.mark.usefixtures("cluster")
def test_what_is_no_dataset_is_refused_or_left_to_others():
    with pytest.raises(BadTableError, match="rows of an iterator come once"):
        open_ray_table(sys.modules["ray.data"].DataIterator())
    with pytest.raises(BadTableError, match="the table has no rows"):
        open_ray_table(Dataset([]))
    assert open_ray_table(7) is None


def test_an_empty_table_is_of_the_kind_of_the_blocks():
    types = SimpleNamespace(names=["a", "b"], types=[np.dtype("int32"), pd.CategoricalDtype(["u"])])
    assert ray._no_rows(types).dtypes.tolist() == types.types
    assert ray._no_rows(BLOCKS[0].schema).schema == BLOCKS[0].schema


def test_the_user_s_dataset_keeps_its_settings():
    data = Dataset(BLOCKS)
    assert ray._copy_ordered_dataset(data).context.execution_options.preserve_order
    assert vars(data.context.execution_options) == {}


def failing(error):
    """What becomes of an error while Ray runs."""
    with pytest.raises(RhaleError) as caught, ray._running():
        raise error
    return caught.value


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        ("RayError", ModelStoppedError, "the workers of Ray died"),
        ("RayTaskError", BadTableError, "Ray could not compute it: ValueError: no such day"),
    ],
)
def test_workers_that_died_are_told_from_work_that_failed(kind, error, said):
    found = failing(getattr(sys.modules["ray.exceptions"], kind)("ValueError: no such day"))
    assert type(found) is error
    assert said in str(found)


@pytest.mark.usefixtures("cluster")
def test_blocks_that_make_no_table_are_told_of():
    found = failing(pa.ArrowInvalid("other types"))
    assert isinstance(found, BadTableError)
    assert "do not make one table: other types" in str(found)


@pytest.mark.usefixtures("cluster")
def test_the_log_is_quiet_while_ray_runs_and_as_it_was_afterwards(caplog):
    caplog.set_level(logging.INFO, "ray.data")
    with ray._running():
        assert logging.getLogger("ray.data").level == logging.CRITICAL
    failing(pa.ArrowInvalid())
    assert logging.getLogger("ray.data").level == logging.INFO
