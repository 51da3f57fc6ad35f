"""Gradients as local effects, and a check of a given gradient against differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rhale.data import Chunk
from rhale.effects.binning.gaps import NO_PILES, PointMasses
from rhale.effects.local.finite_difference import known_ends, window
from rhale.effects.local.measure import MeasuredChunk, Needs, Questions, Replies
from rhale.effects.local.queries import BatchedModel
from rhale.errors import BadPredictionError, ModelFailedError
from rhale.features.feature import Feature
from rhale.stats.arrays import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Gradient:
    """The derivative of the prediction along one column, in every row."""

    column: int
    needs: ClassVar[Needs] = "slopes"
    n_changes: ClassVar[int] = 0
    is_stepped: ClassVar[bool] = False
    point_masses: ClassVar[PointMasses] = NO_PILES  # a derivative is what it is

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002 - slopes answer for all columns
        """Nothing beyond the slopes of the rows as they are."""
        return Questions()

    def local_effects(
        self,
        rows: MeasuredChunk,  # noqa: ARG002
        asked: Questions,  # noqa: ARG002
        replies: Replies,
    ) -> FloatArray:
        """Slopes of all outputs, shape (n_outputs, n_rows)."""
        return replies.slopes[self.column]


# --- Is a gradient that of the model: slopes beside differences of predictions, in a few rows


CHECKED_ROWS, FEWEST_CHECKED = 32, 16
CHECKED_NUMBERS = 2**26  # of the rows that are asked about: of 1,000 features and more, fewer rows
STEP_SHARE = 0.01  # of the rows in the window of a row ...
STEP_PART = 1 / 8  # ... and the part of it that a step is: wide for single precision, else narrow
FEWEST_CLEAR = 8  # rows with a clear difference, for a verdict
BENT = 0.25  # slopes left and right of a row that differ by less belong to one line
FACTOR = 1.5  # a gradient that is off by less is not called wrong
GRADIENT_CHECK_EPSILON = 2.0**-23  # models that compute in single precision may answer in double
GRADIENT_CHECK_ULPS = 16.0  # units in the last place that a model's own arithmetic may lose
COARSE_BITS = (8, 11)  # of the two forms of half precision


@dataclass(frozen=True)
class Disagreement:
    """A gradient that is not the slope of the predictions along one feature."""

    # feature, output: the feature and the output
    feature: str
    output: str
    # slope, difference: the gradient in one row, and the difference quotient of predictions around
    # it
    slope: float
    difference: float
    row: int
    between: tuple[str, str]  # where these predictions were asked
    # n_wrong, n_clear: rows that disagree, of those in which differences say something
    n_wrong: int
    n_clear: int

    def __str__(self) -> str:
        low, high = self.between
        return (
            f"the gradient of {self.output!r} along {self.feature!r} is {self.slope:.4g} in row "
            f"{self.row}, where predictions change by {self.difference:.4g} per unit (evaluated at "
            f"{low} and {high}); {self.n_wrong} of {self.n_clear} such rows disagree"
        )


@dataclass(frozen=True, eq=False)
class Differences:
    """Predictions around some rows along each of some features."""

    # (n_features, n_rows): where they were asked: left, at the row, right
    places: tuple[FloatArray, FloatArray, FloatArray]
    # (n_features, n_rows, n_outputs): what they are
    answers: tuple[FloatArray, FloatArray, FloatArray]

    @property
    def slope(self) -> FloatArray:
        """Central difference quotients, in the shape of answers; nan where there is no width."""
        (a, _, b), (low, _, high) = self.places, self.answers
        return _short_step_quotient(high - low, b - a)

    def bends(self) -> BoolArray:
        """Where the quotients left and right of a row do not belong to one line, or are not known.

        A kink, a step, a row at the end of the axis, and rounding that is as large as the change.
        """
        (a, x, b), (low, mid, high) = self.places, self.answers
        left, right = (
            _short_step_quotient(mid - low, x - a),
            _short_step_quotient(high - mid, b - x),
        )
        size = np.maximum(np.abs(left), np.abs(right))
        return np.asarray(~(np.abs(right - left) <= BENT * size))

    def noise(self) -> FloatArray:
        """Differences that rounding alone can make, in answers and in places as a model sees them.

        In the shape of answers, per unit of the feature.
        """
        (a, x, b), width = self.places, self.places[2] - self.places[0]
        answers = np.stack(self.answers)
        # relative rounding of the answers about each feature: coarse where all have few digits
        mantissa = np.frexp(answers)[0]
        epsilon = np.full((answers.shape[1], 1, 1), GRADIENT_CHECK_ULPS * GRADIENT_CHECK_EPSILON)
        for bits in sorted(COARSE_BITS, reverse=True):  # the fewest that do count
            scaled = mantissa * 2**bits
            epsilon[np.all(scaled == np.rint(scaled), axis=(0, 2, 3))] = 2.0 * 2.0**-bits
        noise = _short_step_quotient(np.abs(answers).max(axis=0) * epsilon, width)
        far = np.maximum(np.abs(a), np.abs(b))
        lost = ~(width > GRADIENT_CHECK_ULPS * GRADIENT_CHECK_EPSILON * far) | np.isnan(x)
        noise[lost] = np.inf
        return noise


def check_gradient(
    model: BatchedModel,
    probe: Chunk,
    features: Sequence[Feature],
    found: tuple[FloatArray, FloatArray],
) -> tuple[list[Disagreement], int]:
    """Compare slopes with differences of predictions, feature by feature.

    `found` has predictions (n_rows, n_outputs) and slopes (n_rows, n_outputs, n_columns) of the
    probe. Returns one disagreement for each wrong feature, of the output in which most rows
    disagree, and the number of rows predicted.
    """
    # A row says something if the change over its step is more than rounding can make and the slopes
    # on its left and right agree: rows at a kink or a step do not. If those are more than half of
    # the rows that react, the feature is judged, and the gradient is wrong if it has another sign
    # or another size in more than half of them.
    fit = CHECKED_NUMBERS // (2 * max(len(features), 1) * len(model.names))
    n_rows = int(np.clip(fit, FEWEST_CHECKED, CHECKED_ROWS))
    rows = np.arange(min(n_rows, probe.n_rows))
    some, (base, slopes) = probe.take(rows), (found[0][rows], found[1][rows])
    if not features:
        return [], 0
    a, x, b = np.stack([_short_step_points(some, feature) for feature in features], axis=1)
    columns = [feature.column for feature in features]
    changes = [(column, end) for column, *ends in zip(columns, a, b, strict=True) for end in ends]
    try:
        answers = model.ask(some, changes)
    except (ModelFailedError, BadPredictionError):
        if not any(model.reason(some.vary([change]), some.n_rows) for change in changes):
            raise  # it broke by chance
        return [], 0  # it answers for rows as they are, and that is all that it is asked
    low, high = answers[::2], answers[1::2]
    seen = Differences((a, x, b), (low, np.broadcast_to(base, low.shape), high))
    verdicts = judge(seen, np.moveaxis(slopes[:, :, columns], -1, 0))
    wrong = []
    for one in verdicts:  # in numbers of the row in which the two differ most
        feature, difference = features[one.feature], seen.slope[one.feature, :, one.output]
        off = np.where(one.wrong, np.abs(one.slopes - difference), -1.0)
        row = int(np.argmax(off))
        ends = (float(place[one.feature, row]) for place in seen.places[::2])
        first, last = (some.write_value(feature.column, end) for end in ends)
        wrong.append(
            Disagreement(
                feature=feature.name,
                output=model.outputs[one.output],
                slope=float(one.slopes[row]),
                difference=float(difference[row]),
                row=int(some.row_numbers[row]),
                between=(first, last),
                n_wrong=int(one.wrong.sum()),
                n_clear=int(one.clear.sum()),
            )
        )
    return wrong, some.n_rows * len(changes)


@dataclass(frozen=True, eq=False)
class Verdict:
    """Slopes of one feature that are wrong: of which output, in which rows of the clear ones."""

    feature: int
    output: int
    wrong: BoolArray
    clear: BoolArray
    slopes: FloatArray


def judge(seen: Differences, slopes: FloatArray) -> list[Verdict]:
    """Find the features whose slopes most rows contradict, and the output in which most rows do.

    `slopes` (n_features, n_rows, n_outputs) are those of the model.
    """
    size, noise = seen.slope, seen.noise()
    reacts = np.nan_to_num(np.maximum(np.abs(size), np.abs(slopes))) > noise
    clear = reacts & ~seen.bends()
    inside = (slopes * size > 0) & (np.abs(slopes) <= FACTOR * np.abs(size))
    inside &= np.abs(size) <= FACTOR * np.abs(slopes)
    wrong = clear & ~inside
    n_clear, n_wrong = clear.sum(axis=1), wrong.sum(axis=1)
    judged = (n_clear >= FEWEST_CLEAR) & (2 * n_clear > reacts.sum(axis=1))
    share = np.where(judged, n_wrong / np.maximum(n_clear, 1), 0.0)
    return [
        Verdict(k, o, wrong[k, :, o], clear[k, :, o], slopes[k, :, o])
        for k, o in enumerate(share.argmax(axis=1).tolist())
        if share[k, o] > 0.5
    ]


def _short_step_points(rows: Chunk, feature: Feature) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A short step to the left of every row, the row, and as much to its right."""
    x = rows.column(feature.column)
    near = window(feature.axis, STEP_SHARE, whole=feature.whole, at=np.unique(x[~np.isnan(x)]))
    a, b = known_ends(near, x)
    if not feature.whole:
        step = STEP_PART * (b - a)
        a, b = np.maximum(x - step, feature.axis.low), np.minimum(x + step, feature.axis.high)
    a, b = (rows.representable(feature.column, end) for end in (a, b))
    return a, x, b


def _short_step_quotient(change: FloatArray, width: FloatArray) -> FloatArray:
    """Difference quotient; nan where there is no width."""
    wide = np.broadcast_to(width[..., None], change.shape)
    return np.divide(change, wide, out=np.full_like(change, np.nan), where=wide > 0)
