"""Notes: what a reader of a result should know."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from rhale.effects.binning.moments import Moments
from rhale.effects.binning.point_masses import PointMasses
from rhale.effects.jumps import JumpCells
from rhale.effects.result import Result
from rhale.features.feature import Feature
from rhale.features.survey import Survey
from rhale.output.note import Note
from rhale.output.number_format import write_number, write_share
from rhale.output.text import shorten_name
from rhale.output.times import AxisKind, format_axis_value, write_short
from rhale.stats.arrays import FloatArray, correlate, rank_values

MISSING_POINT = ": they are no part of the curve, 'missing' is a point of its own"
MAX_MODEL_REASON_LETTERS = 100
EXPLAINED_VARIANCE_NOTE, IMPLAUSIBLE = "explained variance", "implausible"
NOTE_ROUNDING = 1e-9  # of the deviation of the predictions
ENOUGH_EXPLAINED_VARIANCE = (
    0.5  # of the variance of the predictions: curves that explain less deserve a word
)
MAX_NAMED_IN_NOTE = 3  # outputs, or gaps
ACROSS = (
    "is straight, and rises or falls as the predictions of the nearest rows do when they are moved "
    "from one end to the other"
)
OVER_BIN = (
    "is that of the bins: rows of one around it are moved from end to end, and bins without rows "
    "are interpolated"
)
BY_JUMPS = "has the jumps of the trees, as they are for the nearest rows"
ON_NEIGHBOURS = "rests on its neighbours"
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
        f" and are no part of the curve; without its value the model answers no other row ({line})"
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
                f"importance of {name} is not known: its error ({write_number(effect.importance_error, 3)}) "
                f"exceeds the deviation of all predictions ({write_number(deviation, 3)}); a few "
                "rows far from the others may be all that tells it"
            )
            notes.append(Note(IMPLAUSIBLE, text))
        sizes = {
            "importance": (effect.importance, effect.importance_error),
            "typical spread": (effect.typical_spread, effect.typical_spread_error),
        }
        for word, (size, error) in sizes.items():
            if size - 2 * np.nan_to_num(error) > deviation * (1 + NOTE_ROUNDING):
                text = (
                    f"{word} of {name} ({write_number(size, 3)}) exceeds the deviation of all "
                    f"predictions ({write_number(deviation, 3)}): it moves together with other "
                    f"features{name_partner(effects, place, values, weight)}, whose effects take "
                    "some of it back, or the rows are too few there"
                )
                notes.append(Note(IMPLAUSIBLE, text))
        if not is_probability:
            continue
        heights = effect.height(effect.places())
        span = float(np.nanmax(heights, initial=0.0) - np.nanmin(heights, initial=0.0))
        if span > 1 + NOTE_ROUNDING:
            text = (
                f"the curve of {name} spans {write_number(span, 3)}, and predictions lie between 0 "
                "and 1: it moves together with other features"
                f"{name_partner(effects, place, values, weight)}, whose effects take some of it back"
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
    text = f"single curves of {n_kept:,} of {survey.n_rows:,} rows are kept; averages use all"
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
    causes = ["interactions (large spread)"]
    if "gradient" in ways:
        causes.append('jumps the gradient cannot see (try local="secant")')
    if not {"gradient", "secants", "secants over bins"}.isdisjoint(ways):
        causes.append("very fine oscillation")
    text = (
        f"the sum of the curves explains {found} of the variance of the predictions: the curves miss "
        f"a lot. Usual reasons: {', '.join(causes)}"
    )
    if round(100 * min(low.values())) < 0:
        text += (
            ". Below zero, the curves of correlated features may add up to more than the model, or "
            "curves may be wrong"
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
        f"{n_outside:,} of {n_rows:,} rows lie outside [{low}, {high}]; they are asked about, too, "
        "and count at the nearest end where the curve is centred"
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
    shown += f", and in {more} narrower stretches" if more else ""
    return (Note("gap", f"no rows between {shown}: the curve there {how}"),)


def describe_point_masses(feature: Feature, point_masses: PointMasses) -> str:
    """Say which values have windows of their own beside them."""
    if not point_masses.values.size:
        return ""
    shown = ", ".join(write_short(value, feature.axis_kind) for value in point_masses.values)
    return f", none of them across {shown}, where many rows stand"


def describe_places(places: JumpCells, n_cuts: int, share: float) -> tuple[Note, ...]:
    """Say over which rows jumps are averaged, and whether close ones are taken together."""
    text = f"jumps at the thresholds of the trees, each the mean over {share:.2g} of the rows"
    if not places.is_merged:
        return (Note("jumps", text),)
    merged = f"{n_cuts:,} thresholds are too many: close ones are taken together at "
    return Note("jumps", text), Note("merged jumps", f"{merged}{places.n_cells:,} places")


def describe_noisy_jumps(correlation: float) -> tuple[Note, ...]:
    """Say that single jumps are noise, by the correlation of two halves (see `halves_agree`)."""
    if correlation >= AGREE:
        return ()
    text = (
        "single jumps of this curve are noise: most are made by three rows or fewer, and two halves "
        "of the rows do not agree about them. The trees are deeper than the rows can carry, or few "
        "rows react to this feature; smooth=True evens such jumps out"
    )
    return (Note(FEW_ROWS_JUMP_NOTE, text),)
