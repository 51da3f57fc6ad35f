"""Models with faults, made inside functions: workers open them without this module."""

import signal
import sys
import threading
import time
from types import ModuleType

import numpy as np


def dying(folder, times):
    """A model that kills its process so many times, wherever it is not the one that made it."""
    import os

    home = os.getpid()

    def model(rows):
        if os.getpid() != home:
            for number in range(times):
                try:
                    (folder / f"death {number}").touch(exist_ok=False)
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)
        return np.sin(rows["a"].to_numpy()) * rows["b"].to_numpy()

    return model


def failing(folder):
    """A model that fails on every worker, and counts how often it was asked there."""
    import os
    import uuid

    home = os.getpid()

    def model(rows):
        if os.getpid() != home:
            (folder / uuid.uuid4().hex).touch()
            msg = "no answer today"
            raise ValueError(msg)
        return rows["a"].to_numpy() ** 2

    return model


def slow(seconds):
    """A model that takes its time on workers."""
    import os
    import time

    home = os.getpid()

    def model(rows):
        if os.getpid() != home:
            time.sleep(seconds)
        return rows["a"].to_numpy() ** 2

    return model


def square(rows):
    return rows["a"].to_numpy() ** 2


def known_here_only(name, monkeypatch, function=square):
    """A function of a module that no other process can import."""
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    alone = type(function)(function.__code__, function.__globals__, "alone")
    alone.__module__, alone.__qualname__, alone.__kwdefaults__ = name, "alone", None
    module.alone = alone
    return alone


class interrupt_in_second_pass:  # noqa: N801 - reads as a sentence at its call
    """Progress that has the main thread interrupted while it waits for the second pass."""

    def __init__(self, n_rows):
        self.n_rows, self.when = n_rows, 0.0

    def __call__(self, done, _):
        if done == self.n_rows and not self.when:
            self.when = time.monotonic() + 2
            main = threading.main_thread().ident
            threading.Timer(2, signal.pthread_kill, (main, signal.SIGINT)).start()


def same_bits(one, other):
    """Whether two explanations are the same to the last bit, but for when they were made."""
    assert one.effects == other.effects
    assert np.array_equal(one.sample_x, other.sample_x, equal_nan=True)
    return one.notes == other.notes
