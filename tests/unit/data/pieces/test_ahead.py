import queue
import threading

import pytest

from rhale.data import pieces as table
from rhale.data.pieces import CHUNKS_READ_AHEAD, read_ahead

PATIENCE = 120  # seconds: they bound a hang, and nothing else


@pytest.fixture
def reading_threads(monkeypatch):
    """Those threads of this test that still read, when asked."""
    started = []

    class Noted(threading.Thread):
        def start(self):
            started.append(self)
            super().start()

    monkeypatch.setattr(table, "Thread", Noted)

    def still_reading():
        assert started
        return [thread for thread in started if thread.is_alive()]

    return still_reading


def test_items_come_in_order_and_the_thread_ends(reading_threads):
    assert list(read_ahead(iter(range(100)))) == list(range(100))
    assert reading_threads() == []


def test_a_few_items_are_fetched_while_one_is_worked_on_and_no_more(monkeypatch):
    fetched, is_used, is_full = [], threading.Event(), threading.Event()

    class Told(queue.Queue):
        def put(self, item, **settings):
            if self.full() and item == ("item", 1 + CHUNKS_READ_AHEAD):
                is_full.set()
            super().put(item, **settings)

    def items():
        for number in range(100):
            assert number == 0 or is_used.wait(PATIENCE)
            fetched.append(number)
            yield number

    monkeypatch.setattr(table, "Queue", Told)
    found = read_ahead(items())
    assert next(found) == 0
    is_used.set()
    assert is_full.wait(PATIENCE)
    assert (
        len(fetched) == 2 + CHUNKS_READ_AHEAD
    )  # one in use, the queue, one that waits for a place
    found.close()


def test_an_error_comes_where_the_items_are_used_after_those_before_it(reading_threads):
    def items():
        yield 1
        msg = "damaged"
        raise OSError(msg)

    found = read_ahead(items())
    assert next(found) == 1
    with pytest.raises(OSError, match="damaged"):
        next(found)
    assert reading_threads() == []


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
def test_an_early_stop_ends_the_thread_and_closes_what_it_reads(stop, reading_threads):
    closed = []

    def items():
        try:
            yield from range(1_000)
        finally:
            closed.append(True)

    def use():
        for number in read_ahead(items()):
            if number == 3:
                raise stop

    with pytest.raises(stop):
        use()
    assert reading_threads() == []
    assert closed == [True]


def test_items_are_closed_even_if_someone_else_holds_them():
    closed = []

    def items():
        try:
            yield from range(1_000)
        finally:
            closed.append(True)

    held = items()
    found = read_ahead(held)
    next(found)
    found.close()
    assert closed == [True]
    assert list(held) == []
