"""The shell: parse, call, write. Models are held by a process of their own.

| here | what it holds |
| --- | --- |
| `app` | The commands and their options; each parses, calls and writes |
| `child` | The process that holds the model: reads the files, explains or trains, and answers in plain JSON |
| `compare` | `rhale compare`: saved explanations read, compared and shown |
| `options` | The options that several commands share, with their help |
| `output` | What the commands write: tables, files, progress |
| `parent` | Requests to the process that holds the model: one line of JSON each |
| `pictures` | Pictures in a folder, one a feature |
| `tour` | `rhale demo`: train a small model, explain it, draw pictures, write a page |
| `tour_network` | A small network for the tour, where torch is installed |
| `values` | Values of options as text: bins, sizes of memory, names and units |
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import find_spec
from io import TextIOWrapper
from typing import NoReturn

NEEDED = ("typer", "rich")
ENDING_SIGNALS = ("SIGTERM", "SIGHUP")  # what ends a command from outside, beside Ctrl-C


def main() -> None:
    """Run the command `rhale`."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        needed = " and ".join(missing)
        print(f'the command rhale needs {needed}: pip install "rhale[cli]"', file=sys.stderr)
        sys.exit(1)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_at_once)  # nothing has begun that would have to be ended
    for number in (getattr(signal, name) for name in ENDING_SIGNALS if hasattr(signal, name)):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup, for one, wants it ignored
            signal.signal(number, _leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a name that the terminal cannot write is no error
            stream.reconfigure(errors="backslashreplace")
    from rhale.cli.app import run

    if signal.getsignal(signal.SIGINT) is _exit_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _exit_at_once(number: int, _frame: object) -> NoReturn:
    """End at once, whatever module is being imported."""
    os._exit(128 + number)


def _leave(number: int, _frame: object) -> NoReturn:
    """Leave in order, so that neither the model's process nor half a file stays behind."""
    sys.exit(128 + number)
