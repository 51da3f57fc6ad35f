"""`--name`, `--output-name`, `--unit`: how names for people are typed, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rhale.errors import BadSettingError

NAME_ARGUMENTS = {"name": "feature_names", "unit": "units"}


def names_as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `explain` that name features, outputs and units; none that were not given.

    Parameters
    ----------
    given : mapping of str to object
        Values of the command's options, by name.

    Examples
    --------
    >>> names_as_typed({"name": ["bmi=Body mass index"], "output_name": "churn", "unit": []})
    {'feature_names': {'bmi': 'Body mass index'}, 'output_names': 'churn'}
    """
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
