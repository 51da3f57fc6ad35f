"""A task with its model on its way to other processes: packed once, opened once in each of them."""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from rhale.errors import ModelFailedError, RhaleError
from rhale.models import Predictor

MAX_OPEN_TASKS = 2  # tasks that a process keeps open: two passes take turns, and old models must go
_open_tasks: OrderedDict[str, Any] = OrderedDict()  # by digest; the one used last is last
_opening = Lock()


@runtime_checkable
class AsksModel(Protocol):
    """A task that asks a model."""

    @property
    def predictor(self) -> Predictor | None:
        """The model, if there is one."""


@dataclass(frozen=True)
class Parcel:
    """A task as bytes, opened once in every process that gets it.

    Attributes
    ----------
    content : bytes
        The pickled task.
    digest : str
        Name of exactly these bytes.
    what : str
        What is inside, for messages.
    """

    content: bytes = field(repr=False)
    digest: str
    what: str = "task"

    def open(self) -> Any:
        """Give the task; a process unpickles it at the first call and keeps the last two."""
        with _opening:  # others wait: they need the same model, and it must not be made twice
            if self.digest not in _open_tasks:
                while len(_open_tasks) >= MAX_OPEN_TASKS:  # before the next one takes its room
                    _open_tasks.popitem(last=False)
                _open_tasks[self.digest] = self._unpickle()
            _open_tasks.move_to_end(self.digest)
            return _open_tasks[self.digest]

    def _unpickle(self) -> Any:
        try:
            return pickle.loads(self.content)  # noqa: S301 - our own bytes, from our own process
        except RhaleError:
            raise
        except Exception as error:
            msg = (
                f"a worker cannot open the {self.what}: {type(error).__name__}: {error}. Workers "
                "need the libraries and modules behind the model, in the same versions; install "
                "them there"
            )
            raise ModelFailedError(msg) from error


def pack(task: Any, dumps: Callable[[Any], bytes]) -> Parcel:
    """Pickle a task for other processes, inside the session of its model.

    Parameters
    ----------
    task : callable
        What workers are to do; `AsksModel` tells whether there is a model in it.
    dumps : callable
        Pickles an object: `cloudpickle.dumps` of the engine at hand.

    Returns
    -------
    Parcel

    Examples
    --------
    >>> parcel = pack(len, pickle.dumps)
    >>> parcel.open()("abc")
    3
    """
    predictor = task.predictor if isinstance(task, AsksModel) else None
    what = "task" if predictor is None else f"model ({predictor.adapter.kind})"
    try:
        content = dumps(task)
    except RhaleError:
        raise
    except Exception as error:
        msg = (
            f"the {what} cannot be sent to workers: pickling it gives {type(error).__name__}: "
            f"{error}. Leave out what belongs to this process (open files, locks, connections, "
            "sessions), or pass a function that loads the model from a file when it is first called"
        )
        raise ModelFailedError(msg) from error
    return Parcel(content, hashlib.sha256(content).hexdigest(), what)
