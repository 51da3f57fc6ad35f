"""`--bins` as text: a number, or a name with its numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rhale.effects.binning.choose import PARTITIONS
from rhale.errors import BadSettingError

*FIRST, LAST = (text for kind in PARTITIONS.values() for text in kind.texts)
KNOWN_BINS_TEXT = f"{', '.join(['20', *FIRST])} or {LAST}"


def parse_bins_option(text: str | None) -> Any:
    """Turn `--bins` into what `explain` takes."""
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


# --- Sizes of memory, as people write and read them


BYTE_SIZE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
BYTE_UNIT_EXPONENTS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse_byte_size(text: str) -> int | None:
    """Read a size in bytes; None if it is none."""
    found = BYTE_SIZE_PATTERN.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found[1]) * 2 ** BYTE_UNIT_EXPONENTS[found[2].upper()])


# --- `--name`, `--output-name`, `--unit`: how names for people are typed, and what they say


NAME_ARGUMENTS = {"name": "feature_names", "unit": "units"}


def names_as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `explain` that name features, outputs and units; none that were not given."""
    found: dict[str, Any] = {
        argument: read_equations(f"--{option}", given[option])
        for option, argument in NAME_ARGUMENTS.items()
        if given.get(option)
    }
    output = given.get("output_name") or given.get("target")
    return {**found, "output_names": output} if output else found


def read_equations(option: str, typed: Sequence[str]) -> dict[str, str]:
    """Read texts such as `bmi=Body mass index`; what stands before the first = is the key."""
    found = dict[str, str]()
    for text in typed:
        key, is_one, words = text.partition("=")
        if not is_one or not key.strip() or not words.strip():
            msg = f"{option} {text} names nothing; write {option} 'bmi=Body mass index'"
            raise BadSettingError(msg)
        found[key.strip()] = words.strip()
    return found
