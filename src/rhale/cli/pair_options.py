"""`--pairs`, `--top`, `--cells` and the rest that is about pairs: how typed, sent, understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rhale.cli.values import parse_bins_option
from rhale.errors import BadSettingError
from rhale.interaction.settings import PairSettings

ALL = "all"


def pairs_as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of the arguments that only `rhale.interactions` has; those that were given."""
    names = [field.name for field in fields(PairSettings)]
    asked = {name: given[name] for name in names if given.get(name) is not None}
    if asked.get("smooth") is False:
        del asked["smooth"]
    pairs, top = given.get("pairs"), given.get("top")
    if pairs is not None and top is not None:
        msg = f"--pairs {pairs} names pairs and --top {top} has them chosen; use one of the two"
        raise BadSettingError(msg)
    if top is not None:
        return {"pairs": top, **asked}
    if pairs is not None:
        asked["pairs"] = ALL if pairs == ALL else [_pair(text) for text in pairs.split(",")]
    return asked


def _pair(text: str) -> list[str]:
    names = [name.strip() for name in text.split(":")]
    if len(names) != 2 or not all(names):
        msg = f"--pairs {text.strip()!r} is no pair; write a:b, pairs between commas, or all"
        raise BadSettingError(msg)
    return names


def read_typed_pairs(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Turn plain values into what `rhale.interactions` takes."""
    found = dict(plain)
    if isinstance(found.get("pairs"), list):
        found["pairs"] = [tuple(pair) for pair in found["pairs"]]
    if "cells" in found:
        try:
            found["cells"] = parse_bins_option(found["cells"])
        except BadSettingError as error:
            msg = f"--cells {found['cells']} is not understood; use 20, quantile:20 or fixed:20"
            raise BadSettingError(msg) from error
    return found
