"""Decisions before the model is asked about all rows: what is measured of each feature, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from rhale.data import Chunk
from rhale.effects.binning.fixed import Edges
from rhale.effects.binning.point_masses import PointMasses
from rhale.effects.jumps import MAX_JUMP_CELLS, N_JUMP_GROUPS, find_jump_cells, near_share
from rhale.effects.local.binned import (
    BinnedEffects,
    CellChoice,
    Source,
    WholeBin,
    choose_cells,
    choose_point_masses,
    separate_point_masses,
)
from rhale.effects.local.category_steps import LevelDifferences, find_empty_combinations
from rhale.effects.local.finite_difference import (
    OwnBin,
    Secant,
    Window,
    even_window,
    known_ends,
    window,
)
from rhale.effects.local.gradient import Disagreement, Gradient, check_gradient
from rhale.effects.local.measure import Measure
from rhale.effects.local.missing import Of, Removal, refuse_missing
from rhale.effects.local.nearby import Nearby
from rhale.effects.local.notes import (
    MISSING_POINT,
    describe_missing,
    describe_places,
    describe_point_masses,
    without_point,
)
from rhale.effects.local.profiles import (
    Marginal,
    TracedMethod,
    Tracing,
    choose_marginal_bins,
    choose_points,
)
from rhale.effects.local.queries import BatchedModel
from rhale.effects.local.tree_steps import JumpEffects
from rhale.effects.local.unmeasured import Constant, SplitterColumn
from rhale.errors import BadEffectsError, NotDifferentiableError
from rhale.features.feature import Columns, Feature
from rhale.output.note import Note
from rhale.settings import Settings
from rhale.stats.arrays import BoolArray, FloatArray

# --- First questions: is the model smooth along a feature, and does it react at all


# Smooth curves reach .28 (fast waves) and exponentials .03, forests and neighbours .39.
ROUGH = 1 / 3
PROBE_ROUNDING = (
    1e-6  # of the predictions: smaller changes are digits, of single precision at least
)


def probe_smoothness(
    model: BatchedModel, probe: Chunk, columns: Sequence[int], windows: Sequence[Window]
) -> tuple[BoolArray, int]:
    """Tell along which features the model is smooth.

    Returns `smooth` (n_features,); `asked`: rows that were predicted.
    """
    # Compares the slopes l and r left and right of each row: |r - l| / (|l| + |r|), the mean over
    # the rows that react. Along a smooth curve they nearly agree, also where it bends fast; a
    # staircase has its step on one side (1), and many small ones at random. Each row counts alike:
    # mean squares were those of the few rows in the tail of an exponential, whose windows are wide.
    # A feature without any reaction counts as stepped: its steps may lie elsewhere, and wide
    # windows find them.
    base = model.predictor.predict(probe.rows, probe.n_rows)
    changes, places = [], []
    for column, around in zip(columns, windows, strict=True):
        x = probe.column(column)
        a, b = (probe.representable(column, end) for end in known_ends(around, x))
        changes += [(column, a), (column, b)]
        places.append((a, x, b))
    answers = model.ask(probe, changes)
    smooth = np.zeros(len(columns), dtype=np.bool_)
    for i, (a, x, b) in enumerate(places):
        inner = (x > a) & (x < b)
        if not inner.any():
            smooth[i] = True  # two values: the secant is the whole effect
            continue
        low, mid, high = answers[2 * i][inner], base[inner], answers[2 * i + 1][inner]
        left = (mid - low) / (x - a)[inner, None]
        right = (high - mid) / (b - x)[inner, None]
        smooth[i] = _mostly_agree(
            left, right, PROBE_ROUNDING * np.abs(mid).max() / (b - a)[inner, None]
        )
    return smooth, probe.n_rows * (1 + len(changes))


def probe_reactions(
    model: BatchedModel, probe: Chunk, columns: Sequence[int], windows: Sequence[Window]
) -> tuple[BoolArray, int]:
    """Tell whether predictions differ between the ends of wide windows, feature by feature."""
    changes = [
        (column, probe.representable(column, end))
        for column, around in zip(columns, windows, strict=True)
        for end in known_ends(around, probe.column(column))
    ]
    answers = model.ask(probe, changes)
    moved = np.any(answers[0::2] != answers[1::2], axis=(1, 2))
    return moved, probe.n_rows * len(changes)


def _mostly_agree(left: FloatArray, right: FloatArray, digits: FloatArray) -> bool:
    """Whether slopes on both sides of rows are alike on average, on every output that reacts."""
    with np.errstate(over="ignore", invalid="ignore"):  # infinite is refused later with its reason
        size = np.abs(left) + np.abs(right)
        reacts = size > digits
        share = np.divide(np.abs(right - left), size, out=np.zeros_like(size), where=reacts)
    n_rows = reacts.sum(axis=0)
    return bool(np.any(n_rows > 0) and np.all(share.sum(axis=0) <= ROUGH * n_rows))


SMOOTH_SHARE, MEAN_SHARE, WIDE_SHARE = 0.01, 0.1, 0.3
ROWS_PER_WINDOW, WIDEST_SHARE = 45, 0.15  # of few rows a window takes a larger share
MEAN_LEAST, WIDE_LEAST = 1 / 5, 1 / 2  # of the share, at the ends of the axis
STEPPED_LIMITS = 100  # bins of steps hold a twentieth of the rows: more limits are of no use
MOST_SUMS, MIN_CELLS_PER_FEATURE = (
    2**22,
    100,
)  # numbers that are added up; cells that a feature has at least
BY_GRADIENT = Note("gradient", "local effects by gradient")
OVER_BINS = Note("secants over bins", "secants over the row's own bin")
BY_STEPS = Note("steps", "steps between neighbouring levels")
USUAL_WAYS = (BY_GRADIENT, OVER_BINS)  # not worth a note
FLAT_GRADIENT = Note(
    "gradient",
    "local effects by gradient, which is zero although predictions change with this "
    "feature (steps?): local='secant' measures that",
)


@dataclass(frozen=True, eq=False)
class Choice:
    """What is to be measured."""

    measures: tuple[Measure, ...]  # in the order of the features
    ways: dict[str, Note]  # how the local effects of each feature are found
    asked: int  # rows that the model was asked about to decide


def choose_measures(columns: Columns, model: BatchedModel, settings: Settings) -> Choice:
    """Decide what to measure of every feature."""
    probe = columns.probe
    refused, asked = _ask_without_values(columns, model, settings)
    if settings.is_profile:
        traced = [_choose_profile(settings, f, model.outputs[0]) for f in columns.features]
        of: Of = "own" if settings.method == "mplot" else "prediction"
        gone = _removals(columns.features, refused, of)
        return Choice((*traced, *gone), {}, asked)
    missing = {f.name: _about_missing(f, columns, refused) for f in columns.features}
    binned = [f for f in columns.features if not f.is_constant and f.levels is None]

    def find_nearby(feature: Feature, *, is_stepped: bool) -> Nearby:
        """Places near; where regions of a model with steps are searched, for all rows there are."""
        every = is_stepped and settings.regions is not None
        return Nearby.of(feature, columns, len(model.outputs), every=every)

    jumping = choose_jumps(settings, model, probe, binned, missing, find_nearby)
    measured: dict[str, Measure] = {m.feature.name: m for m in jumping}
    how = {m.feature.name: m.how[0] for m in jumping}
    binned = [f for f in binned if f.name not in measured]
    cells = [choose_cells(settings, f, model.outputs) for f in binned]
    sources, ways, more = choose_sources(settings, model, probe, binned, cells)
    for f, source, own, way in zip(binned, sources, cells, ways, strict=True):
        told = () if way in USUAL_WAYS else (way,)
        offered, how[f.name] = separate_point_masses(own, source.point_masses), way
        near = find_nearby(f, is_stepped=source.is_stepped)
        measured[f.name] = BinnedEffects(f, source, offered, near, told, missing[f.name])
    for feature in columns.features:
        if feature.is_constant:
            measured[feature.name] = Constant(feature, missing[feature.name])
        elif feature.levels is not None:
            near = find_nearby(feature, is_stepped=False)
            empty = find_empty_combinations(feature, columns)
            measured[feature.name] = LevelDifferences(feature, near, missing[feature.name], empty)
            how[feature.name] = BY_STEPS
    gone = _removals(columns.features, refused, "change")
    explained = [measured[f.name] for f in columns.features]
    known = {m.feature.column for m in explained if not isinstance(m, Constant)}
    beside = [SplitterColumn(f) for f in columns.splitters if f.column not in known]
    return Choice((*explained, *gone, *beside), how, asked + more)


def postpone_bins(choice: Choice) -> Choice:
    """Leave bins for later where cells allow it: one bin, since a search would be for nothing."""
    return replace(choice, measures=tuple(map(_in_one_bin, choice.measures)))


def _in_one_bin(measure: Measure) -> Measure:
    if not isinstance(measure, BinnedEffects | JumpEffects) or not measure.cells.can_change:
        return measure
    grid, n_outputs = measure.cells.grid, len(measure.cells.partitions)
    whole = Edges((float(grid.edges[0]), float(grid.edges[-1])), grid.closed)
    return replace(measure, cells=replace(measure.cells, partitions=(whole,) * n_outputs))


def _choose_profile(settings: Settings, feature: Feature, output: str) -> Tracing | Marginal:
    """Points along which predictions are traced, or bins in which they are averaged."""
    if settings.method == "mplot":
        return Marginal(feature, choose_marginal_bins(settings, feature, output))
    points = choose_points(settings, feature, output)
    return Tracing(feature, cast(TracedMethod, settings.method), points)


def _ask_without_values(
    columns: Columns, model: BatchedModel, settings: Settings
) -> tuple[dict[str, str | None], int]:
    """Why the model cannot do without features with missing values (None: it can); rows asked."""
    some = [f for f in columns.features if f.n_missing]
    if settings.method == "mplot":  # it asks about no other rows than there are
        return dict.fromkeys((f.name for f in some), None), 0
    found = {f.name: refuse_missing(model, columns.probe, f.column) for f in some}
    return found, columns.probe.n_rows * len(some)


def _removals(features: Sequence[Feature], refused: dict[str, str | None], of: Of) -> list[Removal]:
    """One for each feature whose values can be removed."""
    return [Removal(f, of) for f in features if f.n_missing and refused[f.name] is None]


def _about_missing(
    feature: Feature, columns: Columns, refused: dict[str, str | None]
) -> tuple[Note, ...]:
    why = refused.get(feature.name)
    end = MISSING_POINT if why is None else without_point(why)
    return describe_missing(feature, columns.survey, end)


def choose_jumps(
    settings: Settings,
    model: BatchedModel,
    probe: Chunk,
    features: Sequence[Feature],
    missing: dict[str, tuple[Note, ...]],
    find_nearby: Callable[..., Nearby],
) -> list[JumpEffects]:
    """Features along which a model that is walked jumps at known places."""
    walker = model.predictor.walker
    if walker is None or settings.method != "rhale" or settings.wants_gradient:
        return []
    numbers = [f for f in features if f.axis_kind == "number"]
    known = [(f, walker.places(f.column, probe, f.axis.values)) for f in numbers]
    some = [(f, cuts) for f, cuts in known if cuts is not None]
    n_cuts, n_sums = sum(cuts.size for _, cuts in some), N_JUMP_GROUPS * len(model.outputs)
    most = MAX_JUMP_CELLS if n_cuts * n_sums <= MOST_SUMS else MOST_SUMS // (n_sums * len(some))
    most = min(max(most, MIN_CELLS_PER_FEATURE), MAX_JUMP_CELLS)
    return [
        JumpEffects(
            feature=f,
            places=(
                places := find_jump_cells(
                    f.axis,
                    cuts,
                    _near_share(settings, f),
                    most,
                    inner=settings.window is None,  # a share that the user gives stays what it is
                )
            ),
            window=_even_feature_window(f, settings.window or _mean_share(f.axis.rows), MEAN_LEAST),
            cells=choose_cells(settings, f, model.outputs, STEPPED_LIMITS),
            nearby=find_nearby(f, is_stepped=True),
            share=settings.window,
            how=describe_places(places, cuts.size, _near_share(settings, f)),
            missing=missing[f.name],
        )
        for f, cuts in some
    ]


def _near_share(settings: Settings, feature: Feature) -> float:
    """Share of the rows whose jumps are averaged."""
    return settings.window or near_share(feature.axis.rows)


def _even_feature_window(feature: Feature, share: float, least: float) -> Window:
    """Even windows of a feature."""
    return even_window(feature.axis, share, least * share, whole=feature.whole)


def choose_sources(
    settings: Settings,
    model: BatchedModel,
    probe: Chunk,
    features: Sequence[Feature],
    cells: Sequence[CellChoice],
) -> tuple[Sequence[Source], Sequence[Note], int]:
    """Decide for every feature: gradient, or secants over which windows.

    Returns `sources`: one for each feature; `ways`: what was decided, one for each feature;
    `asked`: rows that were predicted to decide.
    """
    if settings.method == "ale":
        pairs = zip(features, cells, strict=True)
        own = [Secant(feature.column, _own_bin(feature, c)) for feature, c in pairs]
        return own, [OVER_BINS] * len(features), 0
    adapter = model.predictor.adapter
    if settings.wants_gradient and not adapter.is_differentiable:
        msg = (
            f"a gradient was asked for, but this {adapter.kind} has none; pass "
            "gradient=, or use local='auto' or 'secant' (method='rhale' or 'ale')"
        )
        raise NotDifferentiableError(msg)
    slopes = [Gradient(f.column) for f in features]
    why, asked = "", 0
    if adapter.is_differentiable and settings.local != "secant":
        why, ways, asked = judge_gradient(settings, model, probe, features)
        if not why:
            return slopes, ways, asked
    point_masses = [choose_point_masses(*pair) for pair in zip(features, cells, strict=True)]
    windows, ways, more = _choose_windows(settings, model, probe, features, point_masses)
    return windows, [Note(way.kind, why + way) for way in ways], asked + more


def _own_bin(feature: Feature, cells: CellChoice) -> OwnBin | WholeBin:
    """The bin of each row, as it can be asked about."""
    if feature.whole:
        return WholeBin(cells.grid, feature.axis.low, feature.axis.high)
    return OwnBin(cells.grid)


def judge_gradient(
    settings: Settings, model: BatchedModel, probe: Chunk, features: Sequence[Feature]
) -> tuple[str, list[Note], int]:
    """Say why the gradient is of no use ("" if it is), and what to note about each feature."""
    try:
        found = model.differentiate(probe)
    except NotDifferentiableError as error:
        if settings.wants_gradient:
            raise
        return f"no gradient ({error}): ", [], probe.n_rows
    why, flat, asked = "", set[str](), probe.n_rows
    if not settings.wants_gradient:
        why, flat, more = _find_flat(model, probe, features, found[1])
        asked += more
    if why:
        return why, [], asked
    wrong, more = check_gradient(model, probe, features, found)
    if wrong and settings.local != "gradient":
        way = "leave it out (local='secant'), or insist with local='gradient'"
        if settings.pairing is not None:  # which have no local=
            way = "or leave it out: a function that gives predictions alone will do"
        msg = f"{wrong[0]}; correct the gradient, {way}"
        raise BadEffectsError(msg)
    told = dict.fromkeys(flat, FLAT_GRADIENT) | {one.feature: _insisted(one) for one in wrong}
    return "", [told.get(f.name, BY_GRADIENT) for f in features], asked + more


def _find_flat(
    model: BatchedModel, probe: Chunk, features: Sequence[Feature], slopes: FloatArray
) -> tuple[str, set[str], int]:
    """Features without slopes along which predictions move; why, if no slope is of any use."""
    flat = [f for f in features if not np.any(slopes[:, :, f.column])]
    if not flat:
        return "", set(), 0
    wide = [window(f.axis, WIDE_SHARE, whole=f.whole) for f in flat]
    moved, asked = probe_reactions(model, probe, [f.column for f in flat], wide)
    if not np.any(slopes) and moved.any():
        return "the gradient is zero everywhere although predictions differ: ", set(), asked
    return "", {f.name for f, moves in zip(flat, moved, strict=True) if moves}, asked


def _insisted(wrong: Disagreement) -> Note:
    """What is said of a gradient that the user wants although it is wrong."""
    return Note("gradient", f"local effects by gradient, as was asked for, although {wrong}")


def _choose_windows(
    settings: Settings,
    model: BatchedModel,
    probe: Chunk,
    features: Sequence[Feature],
    point_masses: Sequence[PointMasses],
) -> tuple[list[Secant], list[Note], int]:
    """Probe where the model is smooth, and choose the windows of the secants."""
    pairs = zip(features, point_masses, strict=True)
    narrow = [window(f.axis, SMOOTH_SHARE, whole=f.whole, point_masses=own) for f, own in pairs]
    smooth, asked = probe_smoothness(model, probe, [f.column for f in features], narrow)
    secants, ways = [], []
    for feature, own, is_smooth in zip(features, point_masses, smooth, strict=True):
        share = settings.window or (SMOOTH_SHARE if is_smooth else _mean_share(feature.axis.rows))
        secants.append(_secant(feature, own, share, is_smooth=bool(is_smooth)))
        kind = "smooth" if is_smooth else "stepped"
        whole = ", and end at whole numbers" if feature.whole else ""
        text = f"secants ({kind}): windows hold {share:.3g} of the rows{whole}"
        ways.append(Note("secants", text + describe_point_masses(feature, own)))
    return secants, ways, asked


def _mean_share(n_rows: float) -> float:
    """Share of the rows in the windows of a stepped model."""
    return float(np.clip(ROWS_PER_WINDOW / n_rows, MEAN_SHARE, WIDEST_SHARE))


def _secant(
    feature: Feature, point_masses: PointMasses, share: float, *, is_smooth: bool
) -> Secant:
    axis, whole = feature.axis, feature.whole
    if is_smooth:
        return Secant(
            feature.column,
            window(axis, share, whole=whole, point_masses=point_masses),
            point_masses=point_masses,
        )
    own = even_window(axis, share, MEAN_LEAST * share, whole=whole, point_masses=point_masses)
    wide = even_window(
        axis, WIDE_SHARE, WIDE_LEAST * WIDE_SHARE, whole=whole, point_masses=point_masses
    )
    return Secant(feature.column, own, wide, point_masses)
