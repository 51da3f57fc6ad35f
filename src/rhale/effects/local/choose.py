"""Choose how each feature is measured, from first questions to the model (is it smooth, does it react?)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from rhale.data import Chunk
from rhale.effects.binning.partition import Edges
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
from rhale.effects.local.gradient import Gradient, check_gradient
from rhale.effects.local.measure import Constant, Measure, SplitterColumn
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
    Of,
    Removal,
    TracedMethod,
    Tracing,
    choose_marginal_bins,
    choose_points,
    refuse_missing,
)
from rhale.effects.local.queries import BatchedModel
from rhale.effects.local.tree_steps import JumpEffects
from rhale.errors import BadEffectsError, NotDifferentiableError
from rhale.features.feature import Columns, Feature
from rhale.output.text import Note
from rhale.settings import Settings
from rhale.stats.arrays import BoolArray

# --- First questions: is the model smooth along a feature, and does it react at all


# Smooth curves reach .28 (fast waves) and exponentials .03, forests and neighbours .39.
ROUGH = 1 / 3
PROBE_ROUNDING = 1e-6  # of the predictions: smaller changes are digits of single precision


def probe_smoothness(
    model: BatchedModel, probe: Chunk, columns: Sequence[int], windows: Sequence[Window]
) -> tuple[BoolArray, int]:
    """Find the features along which the model is smooth: (n_features,), and the rows predicted."""
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
        digits = PROBE_ROUNDING * np.abs(mid).max() / (b - a)[inner, None]
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # infinite is refused later with its reason
            size = np.abs(left) + np.abs(right)
            reacts = size > digits
            share = np.divide(np.abs(right - left), size, out=np.zeros_like(size), where=reacts)
        n_rows = reacts.sum(axis=0)
        # alike on average, on every output that reacts
        smooth[i] = bool(np.any(n_rows > 0) and np.all(share.sum(axis=0) <= ROUGH * n_rows))
    return smooth, probe.n_rows * (1 + len(changes))


def probe_reactions(
    model: BatchedModel, probe: Chunk, columns: Sequence[int], windows: Sequence[Window]
) -> tuple[BoolArray, int]:
    """Say whether predictions differ between the ends of wide windows, feature by feature."""
    changes = [
        (column, probe.representable(column, end))
        for column, around in zip(columns, windows, strict=True)
        for end in known_ends(around, probe.column(column))
    ]
    answers = model.ask(probe, changes)
    moved = np.any(answers[0::2] != answers[1::2], axis=(1, 2))
    return moved, probe.n_rows * len(changes)


SMOOTH_SHARE, MEAN_SHARE, WIDE_SHARE = 0.01, 0.1, 0.3
ROWS_PER_WINDOW, WIDEST_SHARE = 45, 0.15  # of few rows a window takes a larger share
MEAN_LEAST, WIDE_LEAST = 1 / 5, 1 / 2  # of the share, at the ends of the axis
STEPPED_LIMITS = 100  # bins of steps hold a twentieth of the rows: more limits are of no use
MOST_SUMS = 2**22  # numbers that are added up
MIN_CELLS_PER_FEATURE = 100
BY_GRADIENT = Note("gradient", "effects measured by the gradient")
OVER_BINS = Note(
    "secants over bins", "effects measured by finite differences over the bin of each row"
)
BY_STEPS = Note("steps", "effects measured by steps between neighbouring levels")
USUAL_WAYS = (BY_GRADIENT, OVER_BINS)  # not worth a note
FLAT_GRADIENT = Note(
    "gradient",
    "effects measured by the gradient, which is zero although predictions change with this "
    "feature (probably in steps): try local='secant'",
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
    # Why the model cannot do without features with missing values; None where it can.
    with_missing = [f for f in columns.features if f.n_missing]
    if settings.method == "mplot":  # it queries no other rows than there are
        refused, asked = dict.fromkeys((f.name for f in with_missing), None), 0
    else:
        refused = {f.name: refuse_missing(model, probe, f.column) for f in with_missing}
        asked = probe.n_rows * len(with_missing)
    removable = [f for f in with_missing if refused[f.name] is None]
    if settings.is_profile:
        profiles = list[Tracing | Marginal]()
        for f in columns.features:
            if settings.method == "mplot":
                bins = choose_marginal_bins(settings, f, model.outputs[0])
                profiles.append(Marginal(f, bins))
            else:
                points = choose_points(settings, f, model.outputs[0])
                profiles.append(Tracing(f, cast(TracedMethod, settings.method), points))
        of: Of = "own" if settings.method == "mplot" else "prediction"
        return Choice((*profiles, *(Removal(f, of) for f in removable)), {}, asked)
    missing = dict[str, tuple[Note, ...]]()
    for f in columns.features:
        why = refused.get(f.name)
        end = MISSING_POINT if why is None else without_point(why)
        missing[f.name] = describe_missing(f, columns.survey, end)
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
        notes = () if way in USUAL_WAYS else (way,)
        offered, how[f.name] = separate_point_masses(own, source.point_masses), way
        near = find_nearby(f, is_stepped=source.is_stepped)
        measured[f.name] = BinnedEffects(f, source, offered, near, notes, missing[f.name])
    for feature in columns.features:
        if feature.is_constant:
            measured[feature.name] = Constant(feature, missing[feature.name])
        elif feature.levels is not None:
            near = find_nearby(feature, is_stepped=False)
            empty = find_empty_combinations(feature, columns)
            measured[feature.name] = LevelDifferences(feature, near, missing[feature.name], empty)
            how[feature.name] = BY_STEPS
    removals = [Removal(f, "change") for f in removable]
    explained = [measured[f.name] for f in columns.features]
    known = {m.feature.column for m in explained if not isinstance(m, Constant)}
    splitters = [SplitterColumn(f) for f in columns.splitters if f.column not in known]
    return Choice((*explained, *removals, *splitters), how, asked + more)


def postpone_bins(choice: Choice) -> Choice:
    """Leave bins for later where cells allow it: one bin, since a search would be for nothing."""
    measures = list[Measure]()
    for measure in choice.measures:
        if isinstance(measure, BinnedEffects | JumpEffects) and measure.cells.can_change:
            grid, n_outputs = measure.cells.grid, len(measure.cells.partitions)
            whole = Edges((float(grid.edges[0]), float(grid.edges[-1])), grid.closed)
            cells = replace(measure.cells, partitions=(whole,) * n_outputs)
            measures.append(replace(measure, cells=cells))
        else:
            measures.append(measure)
    return replace(choice, measures=tuple(measures))


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
    chosen = list[JumpEffects]()
    for f, cuts in some:
        near = settings.window or near_share(f.axis.rows)  # rows whose jumps are averaged
        # a share that the user gives stays what it is, so that there is no inner neighbourhood
        places = find_jump_cells(f.axis, cuts, near, most, inner=settings.window is None)
        share = settings.window or _mean_share(f.axis.rows)
        chosen.append(
            JumpEffects(
                feature=f,
                places=places,
                window=even_window(f.axis, share, MEAN_LEAST * share, whole=f.whole),
                cells=choose_cells(settings, f, model.outputs, STEPPED_LIMITS),
                nearby=find_nearby(f, is_stepped=True),
                share=settings.window,
                how=describe_places(places, cuts.size, near),
                missing=missing[f.name],
            )
        )
    return chosen


def choose_sources(
    settings: Settings,
    model: BatchedModel,
    probe: Chunk,
    features: Sequence[Feature],
    cells: Sequence[CellChoice],
) -> tuple[Sequence[Source], Sequence[Note], int]:
    """Decide for every feature: gradient, or secants over which windows.

    Returns the sources and notes on them, one for each feature, and the number of rows predicted.
    """
    if settings.method == "ale":
        # over the bin of each row; of whole numbers as far as these can be queried
        bins = [
            WholeBin(c.grid, f.axis.low, f.axis.high) if f.whole else OwnBin(c.grid)
            for f, c in zip(features, cells, strict=True)
        ]
        own = [Secant(f.column, b) for f, b in zip(features, bins, strict=True)]
        return own, [OVER_BINS] * len(features), 0
    adapter = model.predictor.adapter
    if settings.wants_gradient and not adapter.is_differentiable:
        msg = (
            f"a gradient was requested, but this {adapter.kind} has none; pass "
            "gradient=, or use local='auto' or 'secant' (method='rhale' or 'ale')"
        )
        raise NotDifferentiableError(msg)
    slopes = [Gradient(f.column) for f in features]
    why, asked = "", 0
    if adapter.is_differentiable and settings.local != "secant":
        why, ways, asked = judge_gradient(settings, model, probe, features)
        if not why:
            return slopes, ways, asked
    # Secants: narrow windows where the model is smooth; where it has steps wide ones, and a second
    # wider one to correct for curvature.
    point_masses = [choose_point_masses(*pair) for pair in zip(features, cells, strict=True)]
    pairs = list(zip(features, point_masses, strict=True))
    narrow = [window(f.axis, SMOOTH_SHARE, whole=f.whole, point_masses=own) for f, own in pairs]
    smooth, more = probe_smoothness(model, probe, [f.column for f in features], narrow)
    secants, ways = [], []
    for (f, masses), is_smooth in zip(pairs, smooth, strict=True):
        share = settings.window or (SMOOTH_SHARE if is_smooth else _mean_share(f.axis.rows))
        if is_smooth:
            narrow_one = window(f.axis, share, whole=f.whole, point_masses=masses)
            secant = Secant(f.column, narrow_one, point_masses=masses)
        else:
            secant = Secant(
                f.column,
                even_window(f.axis, share, MEAN_LEAST * share, whole=f.whole, point_masses=masses),
                even_window(
                    f.axis, WIDE_SHARE, WIDE_LEAST * WIDE_SHARE, whole=f.whole, point_masses=masses
                ),
                masses,
            )
        secants.append(secant)
        whole = ", between whole numbers" if f.whole else ""
        stepped = ", because predictions seem to change in steps"
        reason = "" if is_smooth or settings.window else stepped
        text = (
            f"{why}effects measured by finite differences over the nearest {100 * share:.3g} % of "
            f"rows{whole}{reason}"
        )
        ways.append(Note("secants", text + describe_point_masses(f, masses)))
    return secants, ways, asked + more


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
    flat, asked = set[str](), probe.n_rows
    if not settings.wants_gradient:
        # Features without slopes along which predictions move all the same have steps.
        slopes = found[1]
        without = [f for f in features if not np.any(slopes[:, :, f.column])]
        if without:
            wide = [window(f.axis, WIDE_SHARE, whole=f.whole) for f in without]
            moved, more = probe_reactions(model, probe, [f.column for f in without], wide)
            asked += more
            if not np.any(slopes) and moved.any():
                why = "the gradient is zero everywhere although predictions differ: "
                return why, [], asked
            flat = {f.name for f, moves in zip(without, moved, strict=True) if moves}
    wrong, more = check_gradient(model, probe, features, found)
    if wrong and settings.local != "gradient":
        way = "leave it out (local='secant'), or insist with local='gradient'"
        if settings.pairing is not None:  # which have no local=
            way = "or leave it out: a function that gives predictions alone will do"
        msg = f"{wrong[0]}; correct the gradient, {way}"
        raise BadEffectsError(msg)
    notes = dict.fromkeys(flat, FLAT_GRADIENT)
    for one in wrong:  # which the user wants all the same
        text = f"effects measured by the gradient, as requested, although {one}"
        notes[one.feature] = Note("gradient", text)
    return "", [notes.get(f.name, BY_GRADIENT) for f in features], asked + more


def _mean_share(n_rows: float) -> float:
    """Share of the rows in the windows of a stepped model."""
    return float(np.clip(ROWS_PER_WINDOW / n_rows, MEAN_SHARE, WIDEST_SHARE))
