"""Chunks in threads: in order, errors passed on, never many in memory."""

import threading

import pytest

from rhale.engines import map_in_threads


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
    together = threading.Barrier(2, timeout=10)
    assert list(map_in_threads(lambda _: together.wait() >= 0, range(4), 2)) == [True] * 4
