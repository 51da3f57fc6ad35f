"""What every test may count on, wherever and however the tests were started."""

import multiprocessing
import os
import signal
import sys

import numpy as np
import pytest

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # tests of engines have an environment without it
    pass
else:  # how many examples are tried; a run can be repeated, however slow the machine is
    QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    REPEATABLE = {"max_examples": 60, "derandomize": True, "database": None}
    settings.register_profile("repeatable", **REPEATABLE, **QUIET)
    settings.register_profile("explore", max_examples=500, **QUIET)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def begin_anew():
    """Models that take no seed draw from these: the same numbers whatever ran before."""
    np.random.seed(0)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def pytest_collectstart():
    begin_anew()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    begin_anew()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Close what a test drew: Matplotlib warns of many open figures, and warnings are errors."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def shared_locks():
    """Skip where processes cannot share locks: Linux keeps them in /dev/shm."""
    try:
        multiprocessing.Lock()
    except OSError as error:
        pytest.skip(f"processes cannot share locks here: {error}")


@pytest.fixture
def interrupts():
    """Signals as in a terminal; what a script or nohup starts ignores some of them."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
