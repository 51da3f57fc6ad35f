"""Parcels: packed once, opened once in a process, the last two kept, failures in words."""

import pickle
import threading
import time
from functools import partial
from types import SimpleNamespace

import cloudpickle
import pytest

from rhale.errors import BadTableError, ModelFailedError
from rhale.execution import worker
from rhale.execution.worker import Parcel, pack

MADE = []
PATIENCE = 120  # seconds: they bound a hang, and nothing else


class Task:
    """Counts how often it is unpickled; what it holds may refuse to travel."""

    def __init__(self, number, error=None, predictor=None):
        self.number, self.error, self.predictor = number, error, predictor

    def __reduce__(self):
        if self.error is not None:
            raise self.error
        return made, (self.number,)


def made(number):
    if number < 0:
        msg = "no module named 'shop'"
        raise ModuleNotFoundError(msg)
    time.sleep(0.01)  # as a large model: others come meanwhile
    MADE.append(number)
    return Task(number)


@pytest.fixture(autouse=True)
def nothing_open(monkeypatch):
    monkeypatch.setattr(worker, "_open_tasks", type(worker._open_tasks)())
    MADE.clear()


def test_a_parcel_is_opened_once_however_often_it_arrives():
    parcel = pack(Task(1), pickle.dumps)
    arrived = pickle.loads(pickle.dumps(parcel))  # noqa: S301 - our own
    assert arrived == parcel
    assert arrived.open() is parcel.open() is arrived.open()
    assert MADE == [1]


def test_the_two_parcels_used_last_stay_open():
    first, second, third = (pack(Task(n), pickle.dumps) for n in (1, 2, 3))
    for parcel in (first, second, first, third, first):
        parcel.open()
    assert MADE == [1, 2, 3]
    second.open()
    assert MADE == [1, 2, 3, 2]


def test_an_old_task_is_let_go_before_the_next_one_is_made(monkeypatch):
    parcels = [pack(Task(n), pickle.dumps) for n in range(3)]
    held = []
    loads = pickle.loads
    monkeypatch.setattr(
        worker.pickle,
        "loads",
        lambda content: held.append(len(worker._open_tasks)) or loads(content),
    )
    for parcel in parcels:
        parcel.open()
    assert held == [0, 1, 1]


def test_threads_that_open_a_parcel_together_make_it_once():
    parcel, found = pack(Task(7), pickle.dumps), []
    together = threading.Barrier(8, timeout=PATIENCE)

    def opened():
        together.wait()
        found.append(parcel.open())

    threads = [threading.Thread(target=opened) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert MADE == [7]
    assert len(set(map(id, found))) == 1


def test_a_parcel_that_cannot_be_opened_says_so_and_may_be_opened_later():
    parcel = pack(Task(-1), pickle.dumps)
    for _ in range(2):
        with pytest.raises(ModelFailedError, match="a worker cannot open the task") as caught:
            parcel.open()
        assert "no module named 'shop'" in str(caught.value)
        assert "install" in str(caught.value)
    assert pack(Task(1), pickle.dumps).open().number == 1


def test_a_model_that_cannot_be_pickled_is_named_with_the_reason_and_a_way_out():
    predictor = SimpleNamespace(adapter=SimpleNamespace(kind="sklearn Pipeline, predict"))
    task = Task(1, TypeError("cannot pickle '_thread.lock' object"), predictor)
    with pytest.raises(ModelFailedError) as caught:
        pack(task, cloudpickle.dumps)
    said = str(caught.value)
    assert "the model (sklearn Pipeline, predict) cannot be sent to workers" in said
    assert "cannot pickle '_thread.lock' object" in said
    assert "loads the model from a file" in said
    assert isinstance(caught.value.__cause__, TypeError)


def test_an_error_of_rhale_s_own_stays_as_it_is():
    with pytest.raises(BadTableError, match="as it is"):
        pack(Task(1, BadTableError("as it is")), pickle.dumps)


def test_a_task_without_a_model_travels_too():
    parcel = pack(partial(int, base=2), pickle.dumps)
    assert parcel.open()("101") == 5


def test_a_parcel_is_shown_without_its_content():
    assert repr(Parcel(b"\0" * 10**6, "abc")) == "Parcel(digest='abc', what='task')"
