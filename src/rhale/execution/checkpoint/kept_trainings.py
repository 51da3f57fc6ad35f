"""Finished trainings in a folder, one file each, and what makes a call the same call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.effects import store
from rhale.errors import BadFileError
from rhale.execution.checkpoint.folder import Checkpoint, digest_of, identify, make_plain_setting
from rhale.models.training import TrainingSet
from rhale.stats.arrays import IntArray

KEPT_EFFECTS_KEY, KEPT_PAIRS_KEY = "explanation", "pairs"


@dataclass(frozen=True, eq=False)
class KeptTraining:
    """What was kept of a training: the fields of its explanation, and of its pairs if asked for."""

    explanation: dict[str, Any]
    pairs: dict[str, Any] | None


@dataclass(frozen=True, eq=False)
class KeptTrainings:
    """Finished trainings of one call; models are not among them."""

    memory: Checkpoint  # the folder

    def save(self, number: int, explanation: Any, pairs: Any = None) -> None:
        """Keep a training; a file that is there is whole, whatever happens."""
        content = {
            KEPT_EFFECTS_KEY: _written(store.pack_explanation(explanation)),
            KEPT_PAIRS_KEY: None if pairs is None else _written(store.pack_interactions(pairs)),
        }
        text = json.dumps(content, allow_nan=False)
        self.memory.save(name_training(number), 1, text.encode(), is_last=True)

    def load(self, number: int) -> KeptTraining | None:
        """What was kept of a training; None if nothing was.

        Raise `CheckpointError` if the file is damaged.
        """
        name = name_training(number)
        found = self.memory.load(name)
        if found is None:
            return None
        try:
            content = store.parsed(found.folded.decode())
            pairs = content[KEPT_PAIRS_KEY]
            return KeptTraining(
                store.unpack_explanation(content[KEPT_EFFECTS_KEY], KEPT_EFFECTS_KEY),
                None if pairs is None else store.unpack_any(pairs, KEPT_PAIRS_KEY)[1],
            )
        except (
            AttributeError,
            BadFileError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ) as error:
            raise self.memory.damaged(name, f"{error}"[:200]) from error


def _written(content: dict[str, Any]) -> dict[str, Any]:
    return {store.VERSION: store.FORMAT, **content}


def name_training(number: int) -> str:
    """Name of the file of a training, which counts from 1."""
    return f"training-{number + 1}"


def identify_trainings(
    lesson: TrainingSet, parts: Sequence[IntArray], said: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe a call by plain values that differ from those of any other call."""
    # An estimator is known by its class and parameters, a function by its name alone.
    rows = b"".join(np.asarray(part, dtype="<i8").tobytes() for part in parts)
    sizes = np.array([part.size for part in parts], dtype="<i8").tobytes()
    trainer = lesson.trainer
    learner = trainer.learner
    ask = getattr(learner, "get_params", None)
    params = ask(deep=True) if callable(ask) else {}
    kind = learner if trainer.renew is None else type(learner)
    where = getattr(kind, "__module__", "")
    found = {name: fingerprint_value(held) for name, held in sorted(params.items())}
    own = {
        "learner": {"name": f"{where}.{trainer.name}", "parameters": found},
        "target": fingerprint_value(lesson.target),
        "fit_params": {
            name: fingerprint_value(held) for name, held in (lesson.params or {}).items()
        },
        "trainings": len(parts),
        "rows of trainings": digest_of(sizes + rows),
    }
    return identify(lesson.table, {**said, **own})


def fingerprint_value(value: Any) -> Any:
    """A plain value that is the same in another process: arrays by what is in them.

    Examples
    --------
    >>> fingerprint_value(len), fingerprint_value(2.0), fingerprint_value([1, "a"])
    ('builtins.len', 2.0, [1, 'a'])
    """
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        return type(value).__name__  # its parameters are listed, too
    if isinstance(value, Mapping):
        return {str(key): fingerprint_value(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [fingerprint_value(held) for held in value] if len(value) < 100 else _digest(value)
    return (
        _digest(value)
        if hasattr(value, "__array__") or hasattr(value, "to_numpy")
        else make_plain_setting(value)
    )


def _digest(values: Any) -> str:
    """A short name of the entries of an array, a column or a list."""
    array = np.asarray(values)
    if array.dtype.kind in "biufc":
        return digest_of(f"{array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return digest_of(f"{array.shape} {array.tolist()!r}".encode())
