"""`--regions`, `--depth`, `--splitters`, `--by`, `--cuts`: how they are typed, sent, understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rhale.errors import BadSettingError
from rhale.regions.settings import By, Regions


def regions_as_typed(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Plain values that say which regions were asked for; None where none were."""
    by, searched, cuts = given.get("by"), bool(given.get("regions")), given.get("cuts")
    further = {name: given[name] for name in ("depth", "splitters") if given.get(name) is not None}
    if cuts is not None and by is None:
        msg = f"--cuts {cuts} divides a column into groups; name it with --by"
        raise BadSettingError(msg)
    if searched and by is not None:
        msg = f"--regions searches for groups and --by {by} names them; use one of the two"
        raise BadSettingError(msg)
    if further and not searched:
        name, value = next(iter(further.items()))
        msg = f"--{name} {value} says how to search for regions; add --regions"
        raise BadSettingError(msg)
    if by is not None:
        return (
            {"by": by} if cuts is None else {"by": by, "cuts": [_cut(c) for c in cuts.split(",")]}
        )
    if not searched:
        return None
    if "splitters" in further:
        further["splitters"] = [name.strip() for name in further["splitters"].split(",")]
    return further


def _cut(text: str) -> float | str:
    """A number; or the text of a date, which `explain` reads."""
    try:
        return float(text)
    except ValueError:
        return text.strip()


def read_typed_regions(plain: Mapping[str, Any] | None) -> Regions | By | None:
    """Turn the plain values into what `explain` takes."""
    if plain is None:
        return None
    return By(plain["by"], plain.get("cuts")) if "by" in plain else Regions(**plain)
