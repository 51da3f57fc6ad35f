"""Start the process that holds the model, listen to it, and end it whatever happens."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from rhale import errors
from rhale.cli.limits import written_size
from rhale.cli.request import Request
from rhale.errors import ModelStoppedError, RhaleError

COMMAND = (sys.executable, "-P", "-m", "rhale.cli.child")  # -P: imports nothing from this folder
LONGEST = 2**31  # bytes of one answer
KEPT = 200  # last lines that the child printed
Hear = Callable[[dict[str, Any]], None]


def run_child(request: Request, hear: Hear, *, debug: bool = False) -> dict[str, Any]:
    """Have a request done by a process of its own.

    Parameters
    ----------
    request : Request
        What to do, and its limits.
    hear : callable
        Gets what the child says on its way: what it is doing, how far, notes.
    debug : bool
        Show what the child and its model print, and tracebacks.

    Returns
    -------
    dict
        The child's answer.
    """
    with started() as child, echoed(child, debug=debug):
        try:
            _stream(child.stdin).write(request.written())
            _stream(child.stdin).flush()
        except BrokenPipeError as error:
            raise stopped(child, request) from error
        for words in heard(child, request):
            if "result" in words:
                return dict(words["result"])
            if "error" in words:
                raise rebuilt(words["error"], debug=debug)
            hear(words)
        raise stopped(child, request)


@contextmanager
def started() -> Iterator[subprocess.Popen[bytes]]:
    """A child in a group of its own: Ctrl-C reaches this process, which ends the whole group."""
    child = subprocess.Popen(  # noqa: S603 - our own module
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        end(child)
        _stream(child.stdin).close()


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it has started, if it has not ended before."""
    if child.returncode is not None:
        return
    if hasattr(os, "killpg"):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            child.kill()
    else:
        child.kill()
    child.wait()


@contextmanager
def echoed(child: subprocess.Popen[bytes], *, debug: bool) -> Iterator[None]:
    """Keep the last lines that a child prints, and show them to those who look for mistakes."""
    last: deque[bytes] = deque(maxlen=KEPT)
    with read_aside(_stream(child.stderr), last.append, lambda: end(child)):
        yield
    if debug and last:
        sys.stderr.write(b"".join(last).decode(errors="replace"))


def heard(child: subprocess.Popen[bytes], request: Request) -> Iterator[dict[str, Any]]:
    """What a child says, until it ends; a life that is too long is an error."""
    lines: queue.Queue[bytes] = queue.Queue(maxsize=16)
    deadline = time.monotonic() + request.max_seconds

    def stop() -> None:
        end(child)
        while not lines.empty():  # so that the reader, who may wait for a place, sees the end
            lines.get_nowait()

    with read_aside(_stream(child.stdout), lines.put, stop):
        while True:
            try:
                line = lines.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty:
                msg = (
                    f"the model took longer than {request.max_seconds:g} seconds and was stopped; "
                    "--max-seconds allows more, --rows uses fewer rows"
                )
                raise ModelStoppedError(msg) from None
            if not line:
                return
            yield _understood(line)


@contextmanager
def read_aside(
    stream: IO[bytes], take: Callable[[bytes], None], stop: Callable[[], None]
) -> Iterator[None]:
    """Read the lines of a stream in a thread of its own; the last one is empty."""

    def read() -> None:
        while line := stream.readline(LONGEST):
            take(line)
        take(b"")

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield
    finally:
        stop()
        reader.join(timeout=1)
        if not reader.is_alive():  # else someone beyond our reach holds the other end
            stream.close()


def _understood(line: bytes) -> dict[str, Any]:
    try:
        words = json.loads(line)
    except ValueError as error:
        msg = "the process of the model answered in a way that rhale does not understand"
        raise ModelStoppedError(msg) from error
    return words if isinstance(words, dict) else {}


def stopped(child: subprocess.Popen[bytes], request: Request) -> ModelStoppedError:
    """Say in one sentence how a child ended without an answer."""
    code = child.wait()
    if code >= 0:
        return ModelStoppedError(f"the model ended its process with exit code {code}")
    name = signal.Signals(-code).name
    if name == "SIGXCPU":
        return ModelStoppedError("the model used up its processor time; --max-seconds allows more")
    size = written_size(request.max_memory)
    msg = (
        f"the model crashed: its process was ended by {name}. It may be damaged, or need more "
        f"than {size} of memory (--max-memory)"
    )
    return ModelStoppedError(msg)


def rebuilt(told: dict[str, str], *, debug: bool) -> RhaleError:
    """The child's error, as an error of this process."""
    kind = getattr(errors, told["kind"], RhaleError)
    known = isinstance(kind, type) and issubclass(kind, RhaleError)
    error: RhaleError = (kind if known else RhaleError)(told["message"])
    if debug:
        error.add_note(told["trace"])
    return error


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 - all three are pipes
    return stream
