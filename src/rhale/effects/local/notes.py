"""Notes: what a reader of a result should know."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from rhale.effects.binning.gaps import PointMasses
from rhale.effects.binning.moments import Moments
from rhale.effects.jumps import JumpCells
from rhale.effects.result import Result
from rhale.features.feature import Feature
from rhale.features.survey import Survey
from rhale.output.number_format import (
    AxisKind,
    format_axis_value,
    write_number,
    write_share,
    write_short,
)
from rhale.output.text import Note, shorten_name
from rhale.stats.arrays import FloatArray, correlate, rank_values

MISSING_POINT = ": they are not part of the curve, and are shown separately as 'missing'"
MAX_MODEL_REASON_LETTERS = 100
EXPLAINED_VARIANCE_NOTE, IMPLAUSIBLE = "explained variance", "implausible"
NOTE_ROUNDING = 1e-9  # of the deviation of the predictions
ENOUGH_EXPLAINED_VARIANCE = (
    0.5  # of the variance of the predictions: curves that explain less deserve a word
)
MAX_NAMED_IN_NOTE = 3  # outputs, or gaps
ACROSS = (
    "is a straight line, whose change is that of the predictions of the nearest rows when they are "
    "moved from one end to the other"
)
OVER_BIN = (
    "comes from the bins: rows of a bin around it are moved from one end of the bin to the other, "
    "and bins without rows are interpolated"
)
BY_JUMPS = "follows the jumps of the trees for the nearest rows"
ON_NEIGHBOURS = "relies on the rows on both sides"
FEW_ROWS_JUMP_NOTE = "few rows jump"
AGREE = 0.5  # correlation of two halves: below it, their noise is larger than what they share


def describe_missing(feature: Feature, survey: Survey, end: str = "") -> tuple[Note, ...]:
    """Say how many rows have no value, if some have none."""
    if not feature.n_missing:
        return ()
    share = f"{100 * feature.missing_share:.2g} %"
    text = f"{feature.n_missing:,} of {survey.n_rows:,} rows ({share}) have no value"
    return (Note("missing", text + end),)


def without_point(why: str) -> str:
    """Say why there is no point for missing values, as the end of a sentence."""
    line = why.strip().split("\n")[0]
    line = (
        line
        if len(line) <= MAX_MODEL_REASON_LETTERS
        else line[: MAX_MODEL_REASON_LETTERS - 1] + "…"
    )
    return (
        " and are not part of the curve; there is no effect of 'missing', because the model fails "
        f"where this value is removed from other rows ({line})"
    )


def describe_implausible(
    effects: Sequence[Result], predictions: FloatArray, weight: FloatArray, values: FloatArray
) -> tuple[Note, ...]:
    """Say which effects on one output cannot be, were their features independent of the others.

    `predictions` and `weight` are (n_rows,), `values` (n_rows, n_effects) the positions of these
    rows on the axes of the effects, nan where they have no value.
    """
    # Where features are independent, the variance of a curve, and that of what rows differ from it,
    # are parts of the variance of the predictions (Hoeffding's decomposition). Two errors beyond it
    # it is not chance; an error beyond it says that nothing is known. A curve of probabilities
    # cannot span more than one.
    share = weight / weight.sum()
    deviation = float(np.sqrt(share @ (predictions - share @ predictions) ** 2))
    is_probability = bool(np.all((predictions >= 0) & (predictions <= 1))) and deviation > 0
    notes = list[Note]()
    for place, effect in enumerate(effects):
        name = shorten_name(effect.captions.feature(effect.name))
        if effect.importance_error > deviation > 0:
            text = (
                f"the importance of {name} is unknown: its error ({write_number(effect.importance_error, 3)}) "
                f"exceeds the standard deviation of all predictions ({write_number(deviation, 3)}); "
                "it may depend on a few rows far from the others"
            )
            notes.append(Note(IMPLAUSIBLE, text))
        sizes = {
            "importance": (effect.importance, effect.importance_error),
            "typical spread": (effect.typical_spread, effect.typical_spread_error),
        }
        for word, (size, error) in sizes.items():
            if size - 2 * np.nan_to_num(error) > deviation * (1 + NOTE_ROUNDING):
                text = (
                    f"the {word} of {name} ({write_number(size, 3)}) exceeds the standard deviation "
                    f"of all predictions ({write_number(deviation, 3)}): this feature is correlated "
                    f"with other features{name_partner(effects, place, values, weight)}, whose "
                    "effects partly cancel its effect, or there are too few rows"
                )
                notes.append(Note(IMPLAUSIBLE, text))
        if not is_probability:
            continue
        heights = effect.height(effect.places())
        span = float(np.nanmax(heights, initial=0.0) - np.nanmin(heights, initial=0.0))
        if span > 1 + NOTE_ROUNDING:
            text = (
                f"the curve of {name} spans {write_number(span, 3)}, although predictions lie between "
                "0 and 1: this feature is correlated with other features"
                f"{name_partner(effects, place, values, weight)}, whose effects partly cancel its effect"
            )
            notes.append(Note(IMPLAUSIBLE, text))
    return tuple(notes)


def name_partner(
    effects: Sequence[Result], place: int, values: FloatArray, weight: FloatArray
) -> str:
    """Name the feature most correlated with the one at `place`, and how closely; "" without others."""
    ranks = [rank_values(column) for column in values.T]
    found = [
        0.0 if k == place else correlate(own, ranks[place], weight) for k, own in enumerate(ranks)
    ]
    if not any(found):
        return ""
    most = int(np.argmax(np.abs(found)))
    partner = shorten_name(effects[most].captions.feature(effects[most].name))
    return f", most with {partner} (rank correlation {found[most]:.2f})"


def describe_curves(survey: Survey, last_key: np.uint64, n_kept: int) -> tuple[Note, ...]:
    """Say that the curves of some rows only are kept, if so."""
    if last_key == np.iinfo(np.uint64).max:
        return ()
    text = f"the curves of {n_kept:,} of {survey.n_rows:,} rows are kept; averages use all rows"
    return (Note("sample", text),)


def describe_explained(
    shares: Mapping[str, float], ways: Collection[str] = ("gradient", "secants")
) -> tuple[Note, ...]:
    """Say what it may mean that curves explain little of some outputs, or less than nothing.

    `shares` are explained shares of the variance by output, `ways` kinds of notes on how effects
    were measured: only causes that apply to these are named.
    """
    low = {output: share for output, share in shares.items() if share < ENOUGH_EXPLAINED_VARIANCE}
    if not low:
        return ()
    percents = list(map(write_share, low.values()))
    found = percents[0]
    if len(shares) > 1:
        named = [f"{p} for {o!r}" for o, p in zip(low, percents, strict=True)]
        found = ", ".join(named[:MAX_NAMED_IN_NOTE])
        found += (
            f" (and little for {len(low) - MAX_NAMED_IN_NOTE} more)"
            if len(low) > MAX_NAMED_IN_NOTE
            else ""
        )
    causes = ["interactions (then the spread is large)"]
    if "gradient" in ways:
        causes.append("jumps that the gradient cannot see (try local='secant')")
    if not {"gradient", "secants", "secants over bins"}.isdisjoint(ways):
        causes.append("oscillation finer than the windows or bins")
    reasons = "reason is" if len(causes) == 1 else "reasons are"
    text = (
        f"the sum of the curves explains {found} of the variance of the predictions. The usual "
        f"{reasons} " + " and ".join(filter(None, [", ".join(causes[:-1]), causes[-1]]))
    )
    if round(100 * min(low.values())) < 0:
        text += (
            ". A share below zero means that curves of correlated features add up to more than the "
            "model, or that curves are wrong"
        )
    return (Note(EXPLAINED_VARIANCE_NOTE, text),)


def describe_outside(n_rows: int, cells: Moments, kind: AxisKind = "number") -> tuple[Note, ...]:
    """Say how many rows lie outside the cells, if some do."""
    n_outside = n_rows - int(cells.count.sum())
    if not n_outside:
        return ()
    low, high = (format_axis_value(v, kind) for v in cells.grid.edges[[0, -1]])
    text = f"{n_outside:,} of {n_rows:,} rows lie outside [{low}, {high}] and are left out"
    return (Note("outside", text),)


def describe_ends(
    n_outside: int, n_rows: int, ends: tuple[float, float], kind: AxisKind
) -> tuple[Note, ...]:
    """Say how many rows lie beyond the points of a profile, if some do."""
    if not n_outside:
        return ()
    low, high = (format_axis_value(v, kind) for v in ends)
    text = (
        f"{n_outside:,} of {n_rows:,} rows lie outside [{low}, {high}]; the model is evaluated on "
        "them, too, and they count at the nearest end when the curve is centred"
    )
    return (Note("outside", text),)


def describe_gaps(feature: Feature, how: str = ON_NEIGHBOURS) -> tuple[Note, ...]:
    """Say where the axis has no rows although there are rows on both sides."""
    gaps, kind = feature.axis.empty, feature.axis_kind
    if not gaps.size:
        return ()
    widest = np.sort(np.argsort(gaps[:, 0] - gaps[:, 1], kind="stable")[:MAX_NAMED_IN_NOTE])
    shown = ", ".join(f"{write_short(a, kind)} and {write_short(b, kind)}" for a, b in gaps[widest])
    more = len(gaps) - widest.size
    shown += f", and in {more} narrower gaps" if more else ""
    return (Note("gap", f"there are no rows between {shown}: the curve there {how}"),)


def describe_point_masses(feature: Feature, point_masses: PointMasses) -> str:
    """Say which values have windows of their own beside them."""
    if not point_masses.values.size:
        return ""
    shown = ", ".join(write_short(value, feature.axis_kind) for value in point_masses.values)
    common = "a very common value" if point_masses.values.size == 1 else "very common values"
    return f"; never across {shown}, {common}"


def describe_places(places: JumpCells, n_cuts: int, share: float) -> tuple[Note, ...]:
    """Say over which rows jumps are averaged, and whether close ones are taken together."""
    text = f"exact tree jumps, averaged over the nearest {100 * share:.2g} % of rows"
    if not places.is_merged:
        return (Note("jumps", text),)
    merged = (
        f"{n_cuts:,} thresholds are too many: close ones are merged to {places.n_cells:,} places"
    )
    return Note("jumps", text), Note("merged jumps", merged)


def describe_noisy_jumps(correlation: float) -> tuple[Note, ...]:
    """Say that single jumps are noise, by the correlation of two halves (see `halves_agree`)."""
    if correlation >= AGREE:
        return ()
    text = (
        "single jumps of this curve are noise: most come from three rows or fewer, and two halves "
        "of the rows disagree about them. The trees are too deep for so few rows, or few rows react "
        "to this feature; smooth=True smooths such jumps out"
    )
    return (Note(FEW_ROWS_JUMP_NOTE, text),)
