"""Children that misbehave, each a few lines of Python."""

import json
import os
import subprocess
import sys
import threading

import pytest
from tests.children import PATIENCE, is_running, wait_until

from rhale.errors import BadTableError, ModelFailedError, RhaleError
from rhale.system import processes
from rhale.system.processes import (
    KEPT_OUTPUT_BYTES,
    NotUnderstoodError,
    SilentError,
    TooLongError,
    can_limit,
    is_about_memory,
    keep_last_output,
    read_messages,
    rebuilt,
    start_child,
    usual_memory,
    write_child_request,
)

HUNGRY = """
from rhale.system.processes import limit_this_process
limit_this_process({size}, 100)
try:
    kept = bytearray(2**30)
except MemoryError:
    print("refused")
else:
    print("given")
"""
SAYS = "import json, os, signal, sys, time; say = lambda w: print(json.dumps(w), flush=True)\n"


def child(code):
    return start_child([sys.executable, "-c", SAYS + code])


def listen(code, seconds=PATIENCE):
    """All that a child says, and the error that ends it."""
    found = []
    with child(code) as process, keep_last_output(process):
        try:
            for words in read_messages(process, seconds):
                found.append(words)  # noqa: PERF402 - an error ends it
        except (SilentError, TooLongError, NotUnderstoodError) as error:
            return found, error
    return found, None


def test_what_a_child_says_is_heard_in_order_until_it_ends():
    found, ended = listen("for i in range(50): say({'i': i})")
    assert found == [{"i": i} for i in range(50)]
    assert isinstance(ended, SilentError)
    assert str(ended) == "exit code 0"


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_child_that_is_killed_is_known_by_its_own_signal():
    _, ended = listen("os.kill(os.getpid(), signal.SIGSEGV)")
    assert str(ended) == "SIGSEGV"


def test_a_child_that_closes_its_pipe_is_not_said_to_be_killed(monkeypatch):
    """It lives on in silence; the signal that ends it then is our own and tells nothing."""
    monkeypatch.setattr(processes, "FAREWELL", 0.2)
    _, ended = listen("os.close(1); time.sleep(600)")
    assert isinstance(ended, SilentError)
    assert str(ended) == ""


def test_a_child_that_takes_too_long_is_ended():
    with (
        child("time.sleep(600)") as process,
        keep_last_output(process),
        pytest.raises(TooLongError),
    ):
        next(read_messages(process, 0.2))
    assert process.returncode is not None


@pytest.mark.parametrize("line", ["no json", "[" * 100_000])
def test_a_child_that_talks_nonsense_is_not_understood(line):
    _, ended = listen(f"print('{line}', flush=True)")
    assert isinstance(ended, NotUnderstoodError)


def test_an_answer_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(processes, "MAX_CHILD_REPLY_BYTES", 2**16)
    _, ended = listen("sys.stdout.write('1' * 2**22); sys.stdout.flush(); time.sleep(600)")
    assert isinstance(ended, NotUnderstoodError)


def test_of_what_a_child_prints_only_the_end_is_kept():
    """Sixteen times as much as is kept, without a single new line."""
    code = f"sys.stderr.write('x' * {16 * KEPT_OUTPUT_BYTES} + 'the end'); sys.stderr.flush(); say({{}})"
    with child(code) as process, keep_last_output(process) as printed:
        next(read_messages(process, PATIENCE))
    assert len(printed) == KEPT_OUTPUT_BYTES
    assert printed.endswith(b"xxxthe end")


@pytest.mark.skipif(os.name != "posix", reason="groups of processes are those of POSIX")
def test_what_a_child_has_started_ends_with_it():
    code = (
        "import subprocess\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "say({'pid': inner.pid})\ntime.sleep(600)"
    )
    with child(code) as process, keep_last_output(process):
        pid = next(read_messages(process, PATIENCE))["pid"]
    wait_until(lambda: not is_running(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux ends children with their parents")
def test_a_child_ends_with_its_parent_even_if_python_cannot_run_in_it():
    """The model sleeps in C and holds the lock of Python; the parent is killed."""
    inner = (
        "import ctypes, sys; from rhale.system.processes import end_with_parent; end_with_parent();"
        "print(1, flush=True); ctypes.PyDLL(None).sleep(600)"
    )
    outer = (
        "import subprocess, sys, time\n"
        f"inner = subprocess.Popen([sys.executable, '-c', {inner!r}], stdin=subprocess.PIPE, "
        "stdout=subprocess.PIPE)\n"
        "inner.stdout.readline()\nsay({'pid': inner.pid})\ntime.sleep(600)"
    )
    command = [sys.executable, "-c", SAYS + outer]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603 - our own interpreter
    pid = json.loads(parent.stdout.readline())["pid"]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not is_running(pid))


def test_a_child_that_ended_already_takes_what_is_sent_without_an_error():
    with child("") as process, keep_last_output(process):
        process.wait()
        write_child_request(process, b"x" * 2**20)
        with pytest.raises(SilentError, match="exit code 0"):
            next(read_messages(process, PATIENCE))


def test_an_interrupt_while_a_reader_starts_leaves_no_pipe_open(monkeypatch):
    """Ctrl-C came while the thread that reads the pipe was beginning, and the pipe stayed open."""
    usual, released = threading.Thread.start, threading.Event()

    def interrupted(thread):
        reads = thread.run
        thread.run = lambda: (reads(), released.wait(PATIENCE))  # outlives what clears up
        usual(thread)
        raise KeyboardInterrupt

    def listened(process):
        monkeypatch.setattr(threading.Thread, "start", interrupted)
        next(read_messages(process, PATIENCE))

    with child("time.sleep(600)") as process, pytest.raises(KeyboardInterrupt):
        listened(process)
    is_closed = process.stdout.closed
    released.set()
    assert is_closed
    assert process.stderr.closed


def test_a_reader_that_waits_for_a_place_ends_however_often_it_waits():
    """Its pipe has more lines than are taken, so that it waits again after each."""
    with child("for i in range(9): say({'i': i})\ntime.sleep(600)") as process:
        assert next(read_messages(process, PATIENCE)) == {"i": 0}
    assert process.stdout.closed


def test_errors_of_a_child_keep_their_kind():
    assert type(rebuilt({"kind": "BadTableError", "message": "m"})) is BadTableError
    assert type(rebuilt({"kind": "ModelFailedError", "message": "m"})) is ModelFailedError
    assert type(rebuilt({"kind": "annotations", "message": "m"})) is RhaleError
    assert str(rebuilt({"kind": 3})) == "None"


def test_lack_of_memory_is_seen_behind_other_errors():
    outer = RhaleError("x")
    outer.__cause__ = MemoryError()
    assert is_about_memory(outer)
    assert is_about_memory(RuntimeError("std::bad_alloc"))
    assert not is_about_memory(RhaleError("x"))


def test_the_usual_limit_leaves_the_machine_alive():
    assert usual_memory() >= 2**31


@pytest.mark.skipif(not can_limit(), reason="this system has no limits")
@pytest.mark.parametrize(("size", "answer"), [(2**29, "refused"), (2**32, "given")])
def test_memory_beyond_the_limit_is_refused(size, answer):
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", HUNGRY.format(size=size)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == answer
