"""What it means that an engine gave up on a part of a table."""

from __future__ import annotations

import re

from rhale.errors import BadSettingError, BadTableError, ModelStoppedError, RhaleError

ERROR_LINE_PATTERN = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception): .+)$", re.MULTILINE)


def describe_loss(engine: str, trace: str, *, is_dead: bool) -> RhaleError:
    """The error to raise for one of an engine, which has done what it could by then.

    Parameters
    ----------
    engine : str
        Its name.
    trace : str
        Its words, often pages of them.
    is_dead : bool
        Whether workers died; else they found something that they could not do.
    """
    if "No module named 'rhale" in trace:
        msg = f"the workers of {engine} do not have rhale; install the version that is used here"
        return BadSettingError(msg)
    if is_dead:
        msg = (
            f"the workers of {engine} died, one after the other. Out of memory? Smaller "
            "partitions, fewer tasks at a time or a smaller batch_size= need less"
        )
        return ModelStoppedError(msg)
    msg = f"{engine} could not compute it: {find_error_line(trace)}"
    return BadTableError(msg)


def find_error_line(trace: str) -> str:
    r"""The line of a trace that says what went wrong first.

    Examples
    --------
    >>> find_error_line("Traceback ...\n  line 3\nValueError: no such day\n\nStage 4 failed")
    'ValueError: no such day'
    """
    said = ERROR_LINE_PATTERN.search(trace)
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    return said.group(1).strip() if said else (lines or ["no reason was given"])[-1]
