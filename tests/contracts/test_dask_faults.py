"""A cluster of Dask on a bad day: dead workers, failing models, a user who has enough."""

import os
import signal
import threading

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from tests.contracts.conftest import PATIENCE, until

import rhale
from rhale.errors import BadTableError, ModelFailedError, ModelStoppedError

N_PARTS = 6
TABLE = pd.DataFrame(np.random.default_rng(5).normal(size=(300, 2)), columns=["a", "b"])
PARTS = np.array_split(np.arange(300), N_PARTS)


def spread(table=TABLE):
    return dd.from_map(lambda rows: table.iloc[rows], PARTS, meta=table.iloc[:0])


def note(path):
    with path.open("a") as file:
        file.write("once\n")


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def curved(rows):
    return np.sin(rows["a"].to_numpy()) * rows["b"].to_numpy()


def elsewhere(act):
    """A model that does something first, on workers only."""
    home = os.getpid()

    def model(rows):
        if os.getpid() != home:
            act(rows)
        return np.sin(rows["a"].to_numpy()) * rows["b"].to_numpy()

    return model


def killing(folder, others):
    """The first worker that is asked kills others, and then itself."""

    def kill(_):
        try:
            (folder / "first").touch(exist_ok=False)
        except FileExistsError:
            return
        for victim in (*set(others) - {os.getpid()}, os.getpid()):
            (folder / f"{victim} killed").touch()
            os.kill(victim, signal.SIGKILL)

    return kill


@pytest.mark.parametrize("n_deaths", [1, 2])
def test_workers_that_are_killed_leave_no_trace_in_the_result(client, tmp_path, n_deaths):
    undisturbed = rhale.explain(elsewhere(len), spread(), local="secant")
    others = client.run(os.getpid).values() if n_deaths == 2 else ()  # all that get the model
    found = rhale.explain(elsewhere(killing(tmp_path, list(others))), spread(), local="secant")
    assert len(list(tmp_path.glob("* killed"))) == n_deaths
    assert found.effects == undisturbed.effects
    assert np.array_equal(found.predictions, undisturbed.predictions)


@pytest.mark.usefixtures("client")
def test_a_model_that_kills_every_worker_is_given_up(cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    model = elsewhere(lambda _: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(ModelStoppedError, match=r"^partition 0: the workers that had it died"):
        rhale.explain(model, dd.from_pandas(TABLE, npartitions=1), method="mplot")


@pytest.mark.usefixtures("client")
def test_a_model_that_fails_in_one_partition_is_quoted_with_its_number():
    wrong = TABLE.iloc[PARTS[3][4], 0]

    def fail(rows):
        if (rows["a"] == wrong).any():
            msg = "the oven is cold"
            raise RuntimeError(msg)

    with pytest.raises(ModelFailedError, match=r"^partition 3: .*RuntimeError: the oven is cold"):
        rhale.explain(elsewhere(fail), spread(), method="mplot")


@pytest.mark.usefixtures("client")
def test_a_partition_that_cannot_be_made_is_named():
    def load(index):
        if index == 2:
            msg = "no such disk"
            raise OSError(msg)
        return TABLE.iloc[PARTS[index]]

    table = dd.from_map(load, range(N_PARTS), meta=TABLE.iloc[:0])
    with pytest.raises(BadTableError, match=r"^partition 2: .* OSError: no such disk"):
        rhale.explain(curved, table)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_run_leaves_no_work_behind(client, tmp_path):
    loaded, held = tmp_path / "loaded", tmp_path / "held"
    stop, go_on = tmp_path / "stop", tmp_path / "go on"

    def load(_):
        note(loaded)
        if stop.exists():
            note(held)
            until(go_on.exists)
        return TABLE

    def interrupt():
        until(held.exists)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def watch(*_):  # partitions come in: those that are loaded from now on have to wait
        if not stop.exists():
            stop.touch()
            sender.start()

    def n_at_work():
        return sum(client.run(lambda dask_worker: dask_worker.state.executing_count).values())

    def n_to_do():
        return sum(client.run(lambda dask_worker: len(dask_worker.state.ready)).values())

    sender = threading.Thread(target=interrupt)
    table = dd.from_map(load, range(40), meta=TABLE.iloc[:0])
    with pytest.raises(KeyboardInterrupt) as caught:  # kept, as by a notebook
        rhale.explain(curved, table, progress=watch)
    sender.join()
    until(lambda: not any(client.processing().values()) and n_to_do() == 0)
    until(lambda: n_at_work() == len(lines(held)))
    n_loaded = len(lines(loaded))
    go_on.touch()
    for worker in client.scheduler_info()["workers"]:  # each has one thread: ours comes last
        client.submit(len, (), workers=[worker], pure=False).result(timeout=PATIENCE)
    assert len(lines(loaded)) == n_loaded < 2 * 40
    assert caught.traceback


class Heavy:
    """A model of twelve megabytes that notes where it is opened."""

    def __init__(self, path):
        self.path, self.weights = path, np.zeros(1_500_000)

    def __call__(self, rows):
        return rows["a"].to_numpy() + self.weights[: len(rows)]

    def __setstate__(self, state):
        self.__dict__.update(state)
        with self.path.open("a") as file:
            file.write(f"{os.getpid()}\n")


def test_a_large_model_goes_once_to_each_worker(client, tmp_path):
    table = dd.from_pandas(pd.concat([TABLE] * 4, ignore_index=True), npartitions=24, sort=False)
    rhale.explain(Heavy(tmp_path / "opened"), table, method="mplot", features="a")
    opened = lines(tmp_path / "opened")
    assert 1 <= len(opened) == len(set(opened)) <= 2
    logs = client.run(lambda dask_worker: list(dask_worker.transfer_incoming_log))
    for log in logs.values():  # a worker made it, or fetched it from the other
        sizes = [size for sent in log for size in sent["keys"].values()]
        assert sum(size > 10_000_000 for size in sizes) <= 1


@pytest.mark.parametrize("where", ["cluster", "threads"])
def test_what_partitions_share_is_computed_once_a_pass(request, tmp_path, where):
    if where == "cluster":
        request.getfixturevalue("client")
    path = tmp_path / "made"

    def whole():
        note(path)
        return TABLE

    shared = dask.delayed(whole)()
    parts = [dask.delayed(lambda table, rows: table.iloc[rows])(shared, rows) for rows in PARTS]
    rhale.explain(curved, dd.from_delayed(parts, meta=TABLE.iloc[:0], verify_meta=False))
    assert len(lines(path)) == 2
