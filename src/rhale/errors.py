"""Every exception and warning, and what they quote of others."""

from __future__ import annotations

import os
import sys
import warnings

EXCERPT = 300  # letters of what a library says


class RhaleError(Exception):
    """Base of every error that rhale raises on purpose.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> fx = rhale.explain(lambda rows: rows[:, 0], np.random.default_rng(0).normal(size=(100, 1)))
    >>> try:
    ...     fx["x9"]
    ... except rhale.RhaleError as error:
    ...     print(type(error).__name__, isinstance(error, KeyError))
    UnknownFeatureError True
    """


class UnknownNameError(RhaleError, KeyError):
    """A feature or output was requested that does not exist."""

    def __str__(self) -> str:  # KeyError shows the repr of its argument
        return str(self.args[0]) if self.args else ""


class UnknownFeatureError(UnknownNameError):
    """A feature was requested that the table or the explanation does not have."""


class UnknownOutputError(UnknownNameError):
    """An output was requested that the model does not have."""


class UnknownModelError(RhaleError, TypeError):
    """The object is not a model that rhale can use."""


class NotDifferentiableError(RhaleError, TypeError):
    """Derivatives were requested, and the model has none."""


class BadTableError(RhaleError, ValueError):
    """The table, one of its columns or its weights cannot be explained."""


class BadSettingError(RhaleError, ValueError):
    """An argument has a value that makes no sense."""


class UnknownArgumentError(BadSettingError, TypeError):
    """A call was given an argument that it does not have."""


class BadFileError(RhaleError, ValueError):
    """A file is missing, damaged, or of a kind that rhale does not read."""


class MissingFolderError(BadFileError, FileNotFoundError):
    """A file was to be written into a folder that is not there."""

    def __init__(self, message: str, filename: str | None = None) -> None:
        super().__init__(message)
        self.filename = filename

    def __str__(self) -> str:  # OSError shows its number
        return str(self.args[0])


class UnsafeFileError(BadFileError):
    """Reading the file could run code that came with it."""


class ModelStoppedError(RhaleError, RuntimeError):
    """The process that held the model crashed, or was stopped at its limits."""


class BadEffectsError(RhaleError, ValueError):
    """Local effects are not finite, too large or small for their squares, or not the model's."""


class WrongShapeError(RhaleError, ValueError):
    """The predictions of a model do not have one row per input row."""


class BadPredictionError(RhaleError, ValueError):
    """A model returned something other than finite, repeatable numbers."""


class ModelFailedError(RhaleError, RuntimeError):
    """The model raised an error of its own; it is the cause of this one."""


class MissingExtraError(RhaleError, ImportError):
    """An optional library is needed and not installed."""


class ReadOnlyError(RhaleError, TypeError):
    """Something that is finished was to be changed."""


class CheckpointError(RhaleError, OSError):
    """A checkpoint cannot be written or read, or belongs to something else."""


class RepairedDataWarning(UserWarning):
    """Data was changed before use; the result's notes say how."""


def excerpt(said: object, length: int = EXCERPT) -> str:
    """One line of what a library says: it may quote rows, which are long or have several lines."""
    text = "".join(sign if sign.isprintable() else " " for sign in str(said)[: 4 * length])
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 1]} ..."


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of rhale that made the call."""
    ours = os.path.dirname(__file__), "<string>"  # noqa: PTH120 - the latter is of dataclasses
    level, frame = 2, sys._getframe(1)  # noqa: SLF001 - as `warnings` does
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
