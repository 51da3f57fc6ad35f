"""Have a request of the command done by the process that holds the model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rhale._contained import ChildLimits, Hear, open_for, run_child
from rhale.cli.request import Request
from rhale.models.files.load import is_named_object


def ask_child(request: Request, hear: Hear, *, debug: bool = False) -> dict[str, Any]:
    """Have a request done by a process of its own, which may read what the request names.

    Parameters
    ----------
    request : Request
        What to do, and its limits. Named objects, and what is trained, are the user's own code,
        which may do all that the user may.
    hear : callable
        Gets what the child says on its way: what it is doing, how far, notes.
    debug : bool
        Show what the child and its model print, and tracebacks.

    Returns
    -------
    dict
        The child's answer.
    """
    is_own = request.task == "refit" or is_named_object(request.model)
    opened = open_for([request.model], request.data, request.asked.get("checkpoint"))
    return run_child(
        "rhale.cli.child",
        asdict(request),
        limits_of(request),
        hear,
        opened=None if is_own else opened,
        keeps=request.task == "refit",
        compiles=(Path(request.model).suffix.lower(), request.task.replace("check", "explain")),
        debug=debug,
    )


def limits_of(request: Request) -> ChildLimits:
    """What the child may use, and how to allow more."""
    less = "--checkpoint keeps trainings" if request.task == "refit" else "--rows uses fewer rows"
    more = f"--max-seconds allows more, {less}"
    return ChildLimits(request.max_memory, request.max_seconds, "--max-memory", more)
