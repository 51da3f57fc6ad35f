import threading
import time

import pytest

from rhale.tables.ahead import AHEAD, read_ahead


def reading_threads():
    return [t for t in threading.enumerate() if t.name == "rhale reading"]


def test_items_come_in_order_and_the_thread_ends():
    assert list(read_ahead(iter(range(100)))) == list(range(100))
    assert reading_threads() == []


def test_a_few_items_are_fetched_while_one_is_worked_on_and_no_more():
    fetched = []

    def items():
        for number in range(100):
            fetched.append(number)
            yield number

    found = read_ahead(items())
    assert next(found) == 0
    deadline = time.monotonic() + 5
    while len(fetched) < 2 + AHEAD and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)
    assert len(fetched) == 2 + AHEAD  # one in use, the queue, one that waits for a place
    found.close()


def test_an_error_comes_where_the_items_are_used_after_those_before_it():
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
def test_an_early_stop_ends_the_thread_and_closes_what_it_reads(stop):
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
