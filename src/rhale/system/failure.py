"""An error on its way from another process: its kind, one sentence, and where it came from."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from rhale import errors
from rhale.errors import RhaleError


@dataclass(frozen=True)
class ErrorRecord:
    """An error as plain text: others wrap exceptions, try again what cannot succeed, or run code.

    Attributes
    ----------
    kind : str
        Name of its class, one of ours.
    message : str
        One sentence.
    trace : str
        Where it came from, for those who look for mistakes.
    """

    kind: str
    message: str
    trace: str = ""

    @staticmethod
    def of(error: RhaleError) -> ErrorRecord:
        """What to tell of an error."""
        trace = "".join(traceback.format_exception(error))
        return ErrorRecord(type(error).__name__, str(error), trace)

    @staticmethod
    def read(told: dict[str, Any]) -> ErrorRecord:
        """What another process has told, whatever that is."""
        return ErrorRecord(*(str(told.get(name)) for name in ("kind", "message", "trace")))

    def error(self) -> RhaleError:
        """The error, to be raised in this process; a kind that is not known here is still ours."""
        kind = getattr(errors, self.kind, RhaleError)
        is_ours = isinstance(kind, type) and issubclass(kind, RhaleError)
        return (kind if is_ours else RhaleError)(self.message)
