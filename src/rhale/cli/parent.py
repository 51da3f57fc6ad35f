"""Have a request done by the process that holds the model, and tell how it ended."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from subprocess import Popen
from typing import Any

from rhale.cli.request import Request
from rhale.cli.sizes import written_size
from rhale.errors import ModelStoppedError, RhaleError
from rhale.system.processes import (
    ExitedError,
    NotUnderstoodError,
    SilentError,
    TooLongError,
    heard,
    last_words,
    rebuilt,
    send,
    started,
)

COMMAND = (sys.executable, "-P", "-m", "rhale.cli.child")  # -P: imports nothing from this folder
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # what a terminal does not take for text
INTERRUPTED = "interrupted; trainings that are done are kept, Ctrl-C again ends at once"
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
    with started(COMMAND) as child, echoed(child, debug=debug):
        send(child, request.written())
        if request.task != "refit":
            return listen(child, request, hear, debug=debug)
        with passing_on(child, hear) as interrupts:
            try:
                return listen(child, request, hear, debug=debug)
            except RhaleError as error:
                if interrupts:  # it had nothing to give yet
                    raise KeyboardInterrupt from error
                raise


def listen(
    child: Popen[bytes], request: Request, hear: Hear, *, debug: bool = False
) -> dict[str, Any]:
    """Hear a child until it answers, fails or ends."""
    try:
        for words in heard(child, request.max_seconds):
            if isinstance(words.get("result"), dict):
                return dict(words["result"])
            if isinstance(words.get("error"), dict):
                raise retold(words["error"], debug=debug)
            hear(words)
    except (SilentError, TooLongError, NotUnderstoodError) as error:
        raise stopped(error, request) from error
    raise AssertionError  # a child is heard until it answers or ends


@contextmanager
def passing_on(child: Popen[bytes], hear: Hear) -> Iterator[list[int]]:
    """Let the child, which keeps what is done, have the first Ctrl-C; the next one ends all.

    Gives a list of the signals that came.
    """
    came, former = list[int](), signal.getsignal(signal.SIGINT)

    def pass_on(number: int, _frame: object) -> None:
        came.append(number)
        signal.signal(signal.SIGINT, former)
        if sys.platform != "win32":  # where the console tells both
            child.send_signal(signal.SIGINT)
        with suppress(RuntimeError):  # of a stream that was being written to
            hear({"note": INTERRUPTED})

    if former in (signal.SIG_IGN, None):  # of nohup, for one, or of a program around Python
        yield came
        return
    signal.signal(signal.SIGINT, pass_on)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, former)


@contextmanager
def echoed(child: Popen[bytes], *, debug: bool) -> Iterator[None]:
    """Show the last words of a child, once it has ended, to those who look for mistakes."""
    printed = bytearray()
    try:
        with last_words(child) as printed:
            yield
    finally:
        if debug:
            sys.stderr.write(STEERING.sub("", bytes(printed).decode(errors="replace")))


def stopped(error: Exception, request: Request) -> ModelStoppedError:
    """Say in one sentence how a child ended without an answer."""
    if isinstance(error, TooLongError):
        less = (
            "--checkpoint keeps trainings" if request.task == "refit" else "--rows uses fewer rows"
        )
        msg = (
            f"the model took longer than {request.max_seconds:g} seconds and was stopped; "
            f"--max-seconds allows more, {less}"
        )
    elif isinstance(error, NotUnderstoodError):
        msg = "the process of the model answered in a way that rhale does not understand"
    elif not (how := str(error)):
        msg = "the model closed the pipe to rhale, so its answers cannot be heard; it was stopped"
    elif isinstance(error, ExitedError):
        msg = f"the model ended its process with {how}"
    elif how == "SIGXCPU":
        msg = "the model used up its processor time; --max-seconds allows more"
    else:
        msg = (
            f"the model crashed: its process was ended by {how}. It may be damaged, or need more "
            f"than {written_size(request.max_memory)} of memory (--max-memory)"
        )
    return ModelStoppedError(msg)


def retold(told: dict[str, Any], *, debug: bool) -> RhaleError:
    """The child's error, with its traceback for those who look for mistakes."""
    error = rebuilt(told)
    if debug:
        error.add_note(str(told.get("trace")))
    return error
