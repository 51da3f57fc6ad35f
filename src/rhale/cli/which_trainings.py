"""`--scheme`, `--n-refits` and the rest that is about trainings: how typed, sent, understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rhale.cli.bins import parse_bins_option
from rhale.cli.which_pairs import pairs_as_typed
from rhale.cli.who_differs import read_typed_regions
from rhale.kernels.splits import Scheme

DRAWN = ("n_refits", "share", "folds")
TRAINING_OPTIONS = ("scheme", *DRAWN, "groups")


def trainings_as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of the arguments that only `rhale.refit` has; those that were given.

    Parameters
    ----------
    given : mapping of str to object
        Values of the command's options, by name.

    Examples
    --------
    >>> trainings_as_typed({"scheme": "folds", "folds": 10, "jobs": 2})
    {'scheme': 'folds', 'folds': 10, 'n_jobs': 2}
    >>> trainings_as_typed({"pairs": "age:sex"})
    {'pairs': [['age', 'sex']]}
    """
    asked = {name: given[name] for name in TRAINING_OPTIONS if given.get(name) is not None}
    if given.get("jobs") is not None:
        asked["n_jobs"] = given["jobs"]
    return {**asked, **pairs_as_typed({"pairs": given.get("pairs")})}


def read_typed_trainings(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Turn plain values into what `rhale.refit` takes.

    Examples
    --------
    >>> found = read_typed_trainings({"bins": "fixed:7", "pairs": [["age", "sex"]]})
    >>> found["bins"].n_bins, found["pairs"]
    (7, [('age', 'sex')])
    """
    found = {
        **plain,
        "bins": parse_bins_option(plain.get("bins")),
        "regions": read_typed_regions(plain.get("regions")),
    }
    if isinstance(found.get("pairs"), list):
        found["pairs"] = [tuple(pair) for pair in found["pairs"]]
    return found


def read_scheme(asked: Mapping[str, Any]) -> Scheme:
    """How rows are drawn; refuse numbers that make no sense together.

    Examples
    --------
    >>> read_scheme({"scheme": "folds", "n_refits": 10}).folds
    5
    """
    drawn = {name: asked[name] for name in DRAWN if name in asked}
    return Scheme(asked.get("scheme", Scheme.name), **drawn)
