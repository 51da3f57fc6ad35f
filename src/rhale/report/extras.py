"""Optional libraries of the report, and what to do where one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rhale.errors import MissingExtraError


def import_report_library(name: str) -> Any:
    """Import a library of the extra `report`, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        msg = f"the report needs {name}, which is not installed: pip install 'rhale[report]'"
        raise MissingExtraError(msg) from error
