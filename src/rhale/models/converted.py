"""A model in people's units: rows are turned into its own before it is asked, answers after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels import FloatArray
from rhale.models.adapter import Adapter, Walker
from rhale.models.answers import check_answer
from rhale.models.conversions import Conversions, Outputs
from rhale.models.output_words import Answer
from rhale.models.trees.model import BLACK_BOX, WHAT_IS_LOST
from rhale.models.trees.walker import RAW, TreeWalker
from rhale.models.unit_maps import compute_column_scale
from rhale.results.note import Note

SHARED_SUMS = ("softmax",)  # links whose answers depend on the sums of all outputs
WHY_ASKED = (
    "transform= of an output needs answers that each have a sum of leaves of their own, and these "
    "share them; leave it out, or take response='margin'"
)


@dataclass(frozen=True, eq=False)
class ConvertedModel(Adapter):
    """A model of any kind, asked and answering in people's units.

    Attributes
    ----------
    inner : Adapter
        The model, in units of its own.
    ways : Conversions
        The way to these, and from its answers to people's.
    scale : ndarray of shape (n_outputs,) or float
        Size of its answers, by which steps of differences are measured.
    walker : Walker or None
        Walks the trees of the model behind the way to its units; None where that is not possible.
    """

    inner: Adapter
    ways: Conversions
    scale: FloatArray | float = 1.0
    walker: Walker | None = None

    @property
    def kind(self) -> str:
        """What the model is, for people."""
        return self.inner.kind

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of all outputs, where the model has names for them."""
        return self.inner.labels

    @property
    def usual_outputs(self) -> tuple[int, ...] | None:
        """Outputs to explain when the user names none."""
        return self.inner.usual_outputs

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns that the model takes, in its order."""
        return self.inner.columns

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the model says, and that its trees are not walked, where they could have been."""
        if self.walker is not None or self.inner.walker is None:
            return self.inner.notes
        return (*self.inner.notes, Note(BLACK_BOX, f"{WHAT_IS_LOST}: {WHY_ASKED}"))

    @property
    def answers(self) -> Answer:
        """What the numbers are, for people; a margin that is mapped is none any more."""
        is_mapped = bool(self.ways.outputs) and self.inner.answers != "probability"
        return "prediction" if is_mapped else self.inner.answers

    @property
    def is_differentiable(self) -> bool:
        """Whether the model is: units change by the chain rule."""
        return self.inner.is_differentiable

    @property
    def checked_rows(self) -> int:
        """Rows that were asked to see whether the walker gives the model's own answers."""
        return self.inner.checked_rows

    @property
    def n_threads(self) -> int:
        """How many chunks may be answered at a time."""
        return 1 if self.walker is None else self.inner.n_threads

    @property
    def device(self) -> Any:
        """Where the model computes."""
        return self.inner.device

    @property
    def is_placed(self) -> bool:
        """Whether it computes there and nowhere else."""
        return self.inner.is_placed

    def move_to(self, device: Any) -> Adapter:
        """The same with the model on a device; rows and slopes come from the host."""
        return replace(self, inner=self.inner.move_to(device))

    def session(self) -> AbstractContextManager[None]:
        """Prepare the model, and leave it afterwards as it was."""
        return self.inner.session()

    @contextmanager
    def answer_alone(self) -> Iterator[Adapter]:
        """Answer in the thread that asks, for a while."""
        with self.inner.answer_alone() as alone:
            yield replace(self, inner=alone)

    def predict(self, rows: Any) -> Any:
        """Ask about rows in the model's units, and give answers in people's."""
        answer = self.inner.predict(self.ways.model_rows(rows))
        if not self.ways.outputs:
            return answer
        own = check_answer(answer, len(rows))
        mapped = self.ways.people_answers(Outputs.of(self.inner, own.shape[1]), own)
        _require_finite(own, mapped)
        return mapped

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """Answers, and slopes of people's answers along people's numbers, by the chain rule."""
        numbers = self.ways.model_numbers(rows)
        answer, found = self.inner.gradient(self.ways.model_rows(rows, numbers), outputs)
        slopes = np.array(found, dtype=np.float64)
        for (places, one), own in zip(self.ways.columns, numbers, strict=True):
            with np.errstate(divide="ignore"):
                stretch = 1 / one.slope(own)
            # a row without a value has a slope all the same, which counts for nothing
            slopes[:, :, list(places)] *= np.where(np.isnan(own), 1.0, stretch)[:, None]
        if not self.ways.outputs:
            return answer, slopes
        own = check_answer(answer, len(rows))
        steepness = self._steepness(own)[:, list(outputs), None]
        return self.ways.people_answers(
            Outputs.of(self.inner, own.shape[1]), own
        ), slopes * steepness

    def recognise(self, rows: Any, answer: Any) -> Adapter:  # noqa: ARG002
        """Let the model see an answer of its own, and learn how large its answers are."""
        seen = self.ways.model_rows(rows)
        own = self.inner.predict(seen)
        inner = self.inner.recognise(seen, own)
        answers = check_answer(own, len(rows))
        made = replace(self, inner=inner, scale=compute_column_scale(answers))
        if not isinstance(inner.walker, TreeWalker):
            return made
        return replace(made, walker=self._walk_between(inner.walker, rows, answers.shape[1]))

    def _walk_between(self, walker: TreeWalker, rows: Any, n_outputs: int) -> Walker | None:
        """The walker of the model between the ways to its units and from them."""
        reading, after = walker.reading, None
        if self.ways.outputs:
            if walker.response not in RAW and reading.link in SHARED_SUMS:
                return None
            after = partial(self.ways.people_answers, Outputs.of(self.inner, n_outputs))
        if not self.ways.columns:
            return replace(walker, after=after)
        columns = np.arange(np.shape(rows)[1]) if reading.columns is None else reading.columns
        transform = partial(_in_turn, self.ways, reading.transform)
        reading = replace(reading, columns=columns, transform=transform)
        return replace(walker, reading=reading, after=after)

    def _steepness(self, answers: FloatArray) -> FloatArray:
        """How steeply people's answers follow the model's, shape (n_rows, n_outputs)."""
        found, scale = np.ones_like(answers), np.broadcast_to(self.scale, answers.shape[1:])
        for place, one in self.ways.find_outputs(Outputs.of(self.inner, answers.shape[1])).items():
            own = replace(one, scale=float(scale[place]))
            with np.errstate(all="ignore"):  # what is not finite is refused, with its row
                found[:, place] = own.slope(answers[:, place])
        return found


def _in_turn(ways: Conversions, transform: Any, rows: Any) -> Any:
    """Rows as the trees see them: in the model's units, and through its own steps."""
    seen = ways.model_rows(rows)
    return seen if transform is None else transform(seen)


def _require_finite(own: FloatArray, mapped: FloatArray) -> None:
    """Refuse maps that lose answers of the model, which is not to blame for that."""
    lost = np.isfinite(own) & ~np.isfinite(mapped)
    if lost.any():
        msg = (
            f"transform= of an output turns the model's answer {own[lost][0]:.6g} into "
            f"{mapped[lost][0]}; it goes from the model's units to people's: np.exp for log(y)"
        )
        raise BadSettingError(msg)
