"""Chunks in threads: in order, errors passed on, never many in memory."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn

from rhale.data import open_table
from rhale.errors import BadSettingError
from rhale.execution import map_in_threads
from rhale.execution.threads import count_jobs, once
from rhale.models import Predictor, wrap
from rhale.models.predictor import STOP

PATIENCE = 120  # seconds: they bound a hang, and nothing else


def test_results_come_in_the_order_of_the_chunks():
    assert list(map_in_threads(lambda n: n * n, range(20), 3)) == [n * n for n in range(20)]


def test_few_more_chunks_than_threads_are_read_ahead():
    read = []

    def chunks():
        for n in range(50):
            read.append(n)
            yield n

    results = map_in_threads(lambda n: n, chunks(), 2)
    assert next(results) == 0
    assert len(read) <= 4
    results.close()


def test_an_error_in_a_task_is_raised_where_the_result_is_taken():
    def task(n):
        return {0: 0, 1: 1, 2: 2}[n]

    results = map_in_threads(task, range(9), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="3"):
        next(results)


def test_tasks_run_at_the_same_time():
    together = threading.Barrier(2, timeout=PATIENCE)
    assert list(map_in_threads(lambda _: together.wait() >= 0, range(4), 2)) == [True] * 4


class Questions:
    """A model that notes who asks, and tasks that ask once more after they were stopped."""

    def __init__(self):
        self.asked, self.is_asked = [], threading.Event()
        self.predictor = Predictor(wrap(self.answer), ("y0",), (0,), 1)

    def answer(self, rows):
        self.asked.append(int(rows[0, 0]))
        self.is_asked.set()
        return rows[:, 0]

    def ask_before_and_after_the_stop(self, n):
        self.predictor.predict(np.full((1, 1), float(n)), 1)
        STOP.get().wait(PATIENCE)
        self.predictor.predict(np.full((1, 1), float(n)), 1)


def test_after_an_error_no_task_begins_and_those_at_work_ask_no_more():
    questions, begun = Questions(), []

    def task(n):
        begun.append(n)
        if n == 0:
            questions.is_asked.wait(PATIENCE)
            msg = "broken"
            raise ValueError(msg)
        questions.ask_before_and_after_the_stop(n)

    with pytest.raises(ValueError, match="broken"):
        list(map_in_threads(task, range(50), 2))
    assert questions.asked in ([1], [1, 2])  # the third may begin before the error is seen
    assert max(begun) <= 2


def test_results_that_nobody_wants_any_more_are_not_worked_for():
    questions = Questions()
    task = questions.ask_before_and_after_the_stop
    results = map_in_threads(lambda n: task(n) if n else n, range(50), 2)
    assert next(results) == 0
    assert questions.is_asked.wait(PATIENCE)
    results.close()
    assert sorted(questions.asked) in ([1], [2], [1, 2])


def test_a_stopped_thread_asks_a_model_nothing_more():
    predictor = Predictor(wrap(pytest.fail, gradient=pytest.fail), ("y0",), (0,), 1)
    walker = SimpleNamespace(walk=lambda *_: pytest.fail("it walked"))
    chunk = open_table(np.ones((3, 1))).chunk(0, 3)
    stop = threading.Event()
    stop.set()
    context = copy_context()
    context.run(STOP.set, stop)
    for question in (
        lambda: predictor.predict(chunk.rows, 3),
        lambda: predictor.gradient(chunk),
        lambda: predictor.walk(walker, chunk, [(0, np.ones(3))], ""),
    ):
        with pytest.raises(CancelledError):
            context.run(question)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_the_work_before_the_next_question():
    code = """
import os, signal, threading
import numpy as np
from rhale.execution import map_in_threads
from rhale.models import Predictor, wrap
from rhale.models.predictor import STOP
asked, both = [], threading.Barrier(2, timeout=120)
def answer(rows):
    asked.append(1)
    return rows[:, 0]
predictor = Predictor(wrap(answer), ("y0",), (0,), 1)
def task(n):
    predictor.predict(np.ones((1, 1)), 1)
    if both.wait() == 0:
        os.kill(os.getpid(), signal.SIGINT)
    STOP.get().wait(120)
    predictor.predict(np.ones((1, 1)), 1)
try:
    list(map_in_threads(task, range(9), 2))
except KeyboardInterrupt:
    print("interrupted after", len(asked))
"""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == "interrupted after 2\n"  # one question of each thread


def test_threads_have_the_settings_of_the_caller():
    with np.errstate(divide="raise"), sklearn.config_context(transform_output="pandas"):
        found = list(map_in_threads(lambda _: (np.geterr(), sklearn.get_config()), range(4), 2))
    assert all(numbers["divide"] == "raise" for numbers, _ in found)
    assert all(settings["transform_output"] == "pandas" for _, settings in found)


def test_what_a_task_sets_for_itself_does_not_reach_the_next():
    name = ContextVar("name", default="")

    def task(n):
        before = name.get()
        name.set(str(n))
        return before

    assert list(map_in_threads(task, range(6), 2)) == [""] * 6


def test_a_number_of_jobs_is_read_as_users_write_it():
    assert [count_jobs(n) for n in (None, 1, np.int64(3))] == [None, 1, 3]
    assert 1 <= count_jobs(-1) <= os.cpu_count()


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, True, "two"])
def test_other_numbers_of_jobs_are_refused(n_jobs):
    with pytest.raises(
        BadSettingError, match=r"n_jobs=.* is not a number of threads; use 1 or more"
    ):
        count_jobs(n_jobs)


def test_what_all_threads_need_is_found_once_by_the_first_that_asks():
    finders = []

    def find():
        time.sleep(0.01)  # the others come meanwhile, and wait
        finders.append(threading.get_ident())
        return object()

    get = once(find)
    assert finders == []  # whoever makes it does not look
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: get(), range(8)))
    assert len(set(map(id, found))) == len(finders) == 1
    assert finders[0] != threading.get_ident()
