"""What a page of the reference lists of a class: methods and properties, its own and inherited."""

from __future__ import annotations

import inspect
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

from sphinx.application import Sphinx

from rhale.effects.binning import choose

BUILT = ("rhale.regions.settings", "rhale.models")


class Default(NamedTuple):
    """An attribute that stands in a class until another replaces it, and what it is."""

    name: str
    text: str


class Members(NamedTuple):
    """Names, in the order of the source: those of the class first, then those of its bases."""

    methods: list[str]
    properties: list[str]
    defaults: list[Default]


def list_members(module: str, qualname: str) -> Members:
    """List what the library itself wrote; what Python adds to a tuple or a text is no news."""
    found = Members([], [], [])
    told: set[str] = set()
    for base in getattr(import_module(module), qualname).__mro__:
        if not base.__module__.startswith("rhale"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in told:
                continue
            told.add(name)
            _add(found, name, value)
    return found


def _add(found: Members, name: str, value: Any) -> None:
    if inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
        found.methods.append(name)
    elif isinstance(value, property | cached_property):
        found.properties.append(name)
    elif type(value).__name__ == "default":  # of rhale.models.adapter
        found.defaults.append(Default(name, inspect.cleandoc(value.__doc__)))


def is_built_by_users(cls: type) -> bool:
    """Tell settings, which users make, from results and protocols."""
    is_protocol = getattr(cls, "_is_protocol", False)
    return not is_protocol and (cls.__module__.startswith(BUILT) or cls.__name__ in choose.__all__)


def hide_signature(
    _app: Sphinx, what: str, _name: str, obj: Any, *_said: Any
) -> tuple[str, str] | None:
    """Leave out how a result is made: thirty fields in a row, which nobody ever types."""
    return ("", "") if what == "class" and not is_built_by_users(obj) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Join the build."""
    app.connect("autodoc-process-signature", hide_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
