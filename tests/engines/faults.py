"""Models with faults, made inside functions: workers open them without this module."""

import signal
import sys
import threading
import time
from contextlib import contextmanager
from types import ModuleType

import numpy as np

PATIENCE = 300  # seconds: they bound a hang, and nothing else


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


def endless(folder):
    """A model that notes that a worker asks it, and does not answer before someone ends that."""
    import os
    import time

    home, patience = os.getpid(), PATIENCE

    def model(rows):
        if os.getpid() != home:
            (folder / "asked").touch()
            end = time.monotonic() + patience
            while time.monotonic() < end:
                time.sleep(0.05)
            (folder / "waited in vain").touch()
        return rows["a"].to_numpy() ** 2

    return model


def square(rows):
    return rows["a"].to_numpy() ** 2


def product(rows):
    return rows["a"].to_numpy() * rows["b"].to_numpy()


def known_here_only(name, monkeypatch, function=square):
    """A function of a module that no other process can import."""
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    alone = type(function)(function.__code__, function.__globals__, "alone")
    alone.__module__, alone.__qualname__, alone.__kwdefaults__ = name, "alone", None
    module.alone = alone
    return alone


@contextmanager
def interrupt_when_asked(folder):
    """Have the main thread interrupted while it waits for a worker that asks an endless model."""

    def send():
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if (folder / "asked").exists():
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                return
            time.sleep(0.05)

    sender = threading.Thread(target=send)
    sender.start()
    yield
    sender.join()


def same_bits(one, other):
    """Whether two explanations are the same to the last bit, but for when they were made."""
    assert one.effects == other.effects
    assert np.array_equal(one.sample_x, other.sample_x, equal_nan=True)
    return one.notes == other.notes
