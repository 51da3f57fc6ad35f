"""What every test may count on, wherever the tests were started."""

import signal

import pytest


@pytest.fixture
def interrupts():
    """Interrupts as in a terminal; what a script starts in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
