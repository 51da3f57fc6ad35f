"""What an adapter offers: one kind of model, asked in its own way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rhale.data.table import Change, Chunk
from rhale.effects.jumps import JumpQuestion, JumpReply, JumpRows
from rhale.errors import BadSettingError, NotDifferentiableError
from rhale.models.libraries import Answer
from rhale.models.questions import (
    DependenceQuestion,
    Dependences,
    HeldPoints,
    PairQuestion,
    PairReply,
)
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray


@runtime_checkable
class GivesSlopes(Protocol):
    """A model whose slopes may cost less without its answers; other adapters need not know of it."""

    def slopes_alone(self, rows: Any, outputs: Sequence[int], n_outputs: int) -> Any:
        """Slopes as of `Adapter.gradient`, for the chosen ones of so many outputs."""


class Walker(Protocol):
    """A model that can be read: it answers for many changed columns at once."""

    def walk(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Answers of all outputs, shape (n_changes, n_rows, n_outputs)."""

    def walk_curves(self, chunk: Chunk, held: Sequence[HeldPoints]) -> list[FloatArray]:
        """Answers of all outputs with one column held in all rows, (n_points, n_rows, n_outputs).

        One array for each question; each is about another column that it `sees`.
        """

    def sees(self, column: int) -> bool:
        """Whether changes of a column can be walked."""

    def partial_dependences(
        self, chunk: Chunk, question: DependenceQuestion, chosen: tuple[int, ...]
    ) -> Dependences | None:
        """Partial dependences of the chosen outputs at the rows; None if the model is to be asked."""

    def places(self, column: int, chunk: Chunk, values: FloatArray) -> FloatArray | None:
        """Where a column makes the answers jump: never falling, values at or above are behind.

        Of some rows and increasing values of the column; None where that cannot be said.
        """

    def walk_jumps(
        self,
        chunk: Chunk,
        questions: Sequence[JumpQuestion],
        rows: JumpRows,
        chosen: tuple[int, ...],
    ) -> list[JumpReply]:
        """Sums of the jumps of the chosen outputs, and slopes of each row's own staircase."""

    def walk_pairs(
        self, chunk: Chunk, question: PairQuestion, chosen: tuple[int, ...]
    ) -> PairReply:
        """Mixed differences of all pairs and differences along each side, of the chosen outputs.

        Of columns that it `sees`. A walker that does not have this is not asked for pairs.
        """


if TYPE_CHECKING:
    default = property
else:

    class default:  # noqa: N801 - stands where `property` would
        """A property that an attribute of the same name replaces: of a class, or of one object."""

        def __init__(self, value: Callable[[Any], Any]) -> None:
            self.value, self.__doc__ = value, value.__doc__

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            return self.value(instance)


@runtime_checkable
class Adapter(Protocol):
    """One kind of model, asked in its own way.

    What has all these members is taken for an adapter, whoever wrote it. A class that inherits
    them writes `kind` and `predict`, and of the others what it knows better: as an attribute, a
    field or a property.

    Examples
    --------
    >>> class Doubled(Adapter):
    ...     kind = "a function of mine"
    ...
    ...     def predict(self, rows):
    ...         return 2 * rows[:, 0]
    >>> isinstance(Doubled(), Adapter), Doubled().is_differentiable
    (True, False)
    """

    @property
    @abstractmethod
    def kind(self) -> str:
        """What the model is, for people."""

    @abstractmethod
    def predict(self, rows: Any) -> Any:
        """Answer for rows of the user's kind of table.

        Parameters
        ----------
        rows : table
            Rows, as the user's own kind of table: an array, a data frame.

        Returns
        -------
        array-like of shape (n_rows,) or (n_rows, n_outputs)

        Examples
        --------
        >>> import numpy as np
        >>> class Doubled(Adapter):
        ...     kind = "a function of mine"
        ...
        ...     def predict(self, rows):
        ...         return 2 * rows[:, 0]
        >>> Doubled().predict(np.array([[3.0, 1.0]]))
        array([6.])
        """

    # --- what it answers, and about what

    @default
    def labels(self) -> tuple[str, ...] | None:
        """Names of all outputs, where the model has names for them."""
        return None

    @default
    def answers(self) -> Answer:
        """What the numbers are, for people."""
        return "prediction"

    @default
    def usual_outputs(self) -> tuple[int, ...] | None:
        """Outputs to explain when the user names none; None for all."""
        return None

    @default
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns that the model takes, in its order; None if it does not say."""
        return None

    @default
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know about how the model is asked."""
        return ()

    def recognise(self, rows: Any, answer: Any) -> Adapter:  # noqa: ARG002
        """Give a better adapter, now that an answer has been seen; or this one.

        Parameters
        ----------
        rows : table
            Rows, as the user's own kind of table: an array, a data frame.
        answer : array-like
            What `predict` answered for them.

        Returns
        -------
        Adapter

        Examples
        --------
        >>> class Doubled(Adapter):
        ...     kind = "a function of mine"
        ...
        ...     def predict(self, rows):
        ...         return 2 * rows[:, 0]
        >>> adapter = Doubled()
        >>> adapter.recognise([[1.0]], [2.0]) is adapter
        True
        """
        return self

    # --- slopes

    @default
    def is_differentiable(self) -> bool:
        """Whether `gradient` may be called."""
        return False

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:  # noqa: ARG002
        """Answers of all outputs, and slopes (n_rows, n_chosen, n_columns) of the chosen ones.

        Parameters
        ----------
        rows : table
            Rows, as the user's own kind of table: an array, a data frame.
        outputs : sequence of int
            Which outputs are chosen.

        Returns
        -------
        answers : ndarray of shape (n_rows, n_all_outputs)
        slopes : ndarray of shape (n_rows, n_chosen, n_columns)

        Raises
        ------
        NotDifferentiableError
            If the adapter does not write it.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> class Doubled(Adapter):
        ...     kind, is_differentiable = "a function of mine", True
        ...
        ...     def predict(self, rows):
        ...         return 2 * rows[:, 0]
        ...
        ...     def gradient(self, rows, outputs):
        ...         slopes = np.zeros((len(rows), len(outputs), rows.shape[1]))
        ...         slopes[:, :, 0] = 2.0
        ...         return self.predict(rows), slopes
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> rhale.explain(Doubled(), x)["x0"].mean
        array([2.])
        """
        msg = f"this {self.kind} has no derivative; pass gradient=, or use local='secant'"
        raise NotDifferentiableError(msg)

    # --- many changed columns at once

    @default
    def walker(self) -> Walker | None:
        """What answers for changed rows of all features at once; None if the model is asked."""
        return None

    @default
    def checked_rows(self) -> int:
        """Rows that were asked to see whether the walker gives the model's own answers."""
        return 0

    @default
    def n_threads(self) -> int:
        """How many chunks may be answered at a time."""
        return 1

    # --- where it computes

    def session(self) -> AbstractContextManager[None]:
        """Prepare the model, and leave it afterwards as it was.

        Returns
        -------
        context manager

        Examples
        --------
        >>> class Doubled(Adapter):
        ...     kind = "a function of mine"
        ...
        ...     def predict(self, rows):
        ...         return 2 * rows[:, 0]
        >>> with Doubled().session():
        ...     pass
        """
        return nullcontext()

    def answer_alone(self) -> AbstractContextManager[Adapter]:
        """Give the model to ask where every answer is to come from the thread that asks.

        Returns
        -------
        context manager that gives an Adapter

        Examples
        --------
        >>> class Doubled(Adapter):
        ...     kind = "a function of mine"
        ...
        ...     def predict(self, rows):
        ...         return 2 * rows[:, 0]
        >>> with Doubled().answer_alone() as alone:
        ...     alone.kind
        'a function of mine'
        """
        return nullcontext(self)

    @default
    def device(self) -> Any:
        """Where the model computes; None if it does not say."""
        return None

    @default
    def is_placed(self) -> bool:
        """Whether it computes there and nowhere else."""
        return True

    def move_to(self, device: Any) -> Adapter:
        """The model, or a copy of it, on a device.

        Parameters
        ----------
        device : str, torch.device or JAX device
            Where to.

        Returns
        -------
        Adapter

        Raises
        ------
        BadSettingError
            If the adapter does not write it.

        Examples
        --------
        >>> class Doubled(Adapter):
        ...     kind = "a function of mine"
        ...
        ...     def predict(self, rows):
        ...         return 2 * rows[:, 0]
        >>> try:
        ...     Doubled().move_to("cuda")
        ... except BadSettingError as error:
        ...     print(str(error)[:13])
        device='cuda'
        """
        msg = f"device={device!r} is for torch modules and JAX functions; this is a {self.kind}"
        raise BadSettingError(msg)

    @default
    def gives_tensors(self) -> bool:
        """Whether `differentiate` may be called: `device` is one of torch."""
        return False

    def differentiate(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """As `gradient`, in tensors that stay where the model computes.

        Parameters
        ----------
        rows : table
            Rows, as the user's own kind of table: an array, a data frame.
        outputs : sequence of int
            Which outputs are chosen.

        Returns
        -------
        answers : tensor of shape (n_rows, n_all_outputs)
        slopes : tensor of shape (n_rows, n_chosen, n_columns)

        Examples
        --------
        >>> class Doubled(Adapter):
        ...     kind = "a function of mine"
        ...
        ...     def predict(self, rows):
        ...         return 2 * rows[:, 0]
        >>> Doubled().gives_tensors
        False
        >>> try:
        ...     Doubled().differentiate([[1.0]], [0])
        ... except NotDifferentiableError:
        ...     print("no derivative")
        no derivative
        """
        return self.gradient(rows, outputs)
