"""What other libraries say when they fail, in short."""

from __future__ import annotations

import re

SOURCE_LINE = re.compile(r"^(\[[\d:]+\] )?\S+\.(cc|cpp|cu|h):\d+: ")
MAX_LIBRARY_MESSAGE = 200  # letters


def first_line(error: BaseException) -> str:
    r"""The first words of a long message, without the line of source that raised it.

    Examples
    --------
    >>> first_line(ValueError("[12:00:00] src/tree.cc:7: Check failed\nStack trace: ..."))
    'Check failed'
    """
    lines = SOURCE_LINE.sub("", str(error).strip()).splitlines()
    return lines[0][:MAX_LIBRARY_MESSAGE] if lines else type(error).__name__
