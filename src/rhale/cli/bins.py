"""`--bins` as text: a number, or a name with its numbers."""

from __future__ import annotations

from typing import Any

from rhale.errors import BadSettingError
from rhale.kernels.partitions import PARTITIONS

*FIRST, LAST = (text for kind in PARTITIONS.values() for text in kind.texts)
KNOWN_BINS_TEXT = f"{', '.join(['20', *FIRST])} or {LAST}"


def parse_bins_option(text: str | None) -> Any:
    """Turn `--bins` into what `explain` takes.

    Examples
    --------
    >>> parse_bins_option("quantile:10")
    Quantile(n_bins=10, closed='left')
    """
    if text is None:
        return None
    name, _, numbers = text.strip().lower().partition(":")
    try:
        found = [float(n) for n in numbers.split(",")] if numbers else []
        return int(name) if name.isdigit() else PARTITIONS[name].make(found)
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, BadSettingError):
            raise
        msg = f"--bins {text} is not understood; use {KNOWN_BINS_TEXT}"
        raise BadSettingError(msg) from error
