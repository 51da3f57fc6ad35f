"""Readers that misbehave on purpose, to prove that the suite notices."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import numpy as np
from tests.fuzz.mutations import BITE, BYTES
from tests.fuzz.readers import Reader

from rhale.errors import BadFileError


def make_words(folder):
    for name in MISBEHAVIOUR:
        (folder / name).mkdir(parents=True)
        (folder / name / "word.txt").write_text("hello, hello")


def misbehave(path, **_):
    """Do what the folder is named after."""
    MISBEHAVIOUR[path.parent.name](path)


def use_nothing(found, variant):
    """Nothing is left to do."""


def raising(message):
    def refuse(path):
        raise BadFileError(message.format(path))

    return refuse


def raise_raw(path):
    raise KeyError(path)


def take_memory(_):
    return bytearray(2**33)


def fill_memory(_):
    return b"x" * (2**30 + 2**28)


def refuse_for_memory(path):
    try:
        take_memory(path)
    except MemoryError as error:
        msg = f"{path} is too large"
        raise BadFileError(msg) from error


def refuse_for_absurd_memory(path):
    try:
        np.zeros(2**55)
    except MemoryError as error:
        msg = f"{path} announces too many numbers"
        raise BadFileError(msg) from error


def turn_for_ever(_):
    while True:
        pass


def write_elsewhere(path):
    (path.parents[2] / BITE).write_text("")


def write_here(path):
    (path.parent / "part").write_text("")


def remove_elsewhere(path):
    (path.parents[2] / BITE).unlink(missing_ok=True)


def start_process(_):
    subprocess.run([sys.executable, "-c", ""], check=False)


def run_text(_):
    eval(f"'{BITE}'.upper()")  # noqa: S307 - what must be noticed


def print_much(_):
    os.write(1, b"x" * 2**20)
    print("x" * 2**20)


MISBEHAVIOUR = {
    "answers": lambda _: None,
    "prints": print_much,
    "writes beside the file": write_here,
    "refuses": raising("{} is damaged; save it again"),
    "refuses without the name": raising("it is damaged"),
    "refuses in two lines": raising("{} is damaged\nsave it again"),
    "refuses at length": raising("{} is damaged" + "!" * 10**6),
    "raises": raise_raw,
    "exits": lambda _: sys.exit(3),
    "leaves": lambda _: os._exit(0),
    "aborts": lambda _: os.abort(),
    "reads nowhere": lambda _: ctypes.string_at(0),
    "is killed": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "takes memory": take_memory,
    "fills memory": fill_memory,
    "refuses for memory": refuse_for_memory,
    "refuses for absurd memory": refuse_for_absurd_memory,
    "turns for ever": turn_for_ever,
    "waits for ever": lambda _: time.sleep(10_000),
    "writes": write_elsewhere,
    "removes": remove_elsewhere,
    "starts a process": start_process,
    "runs a command": lambda _: os.system("true"),  # noqa: S605, S607 - what must be noticed
    "runs text": run_text,
}


def make_contained(folder):
    for name in ("noticed", "unnoticed"):
        (folder / name).mkdir(parents=True)
        (folder / name / "word.txt").write_text("hello, hello")


def crash_without_child(path, *, contained):
    """End the process, unless a child was told to read the file."""
    if contained or path.parent.name == "unnoticed":
        os.abort()
    raise BadFileError(str(path))


READERS = {
    "stand-in": Reader(
        make_words, ".txt", BYTES, misbehave, use_nothing, cold=tuple(MISBEHAVIOUR)
    ),
    "contained": Reader(
        make_contained, ".txt", BYTES, crash_without_child, use_nothing, has_child=True,
        cold=("noticed", "unnoticed"),
    ),
}  # fmt: skip
