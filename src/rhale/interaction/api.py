"""interactions(): the steps from a model and a table to Interactions, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from rhale.effects.binning.partition import Fixed
from rhale.effects.explanation import Explanation
from rhale.effects.local.choose import choose_measures
from rhale.effects.local.queries import BatchedModel
from rhale.errors import BadSettingError
from rhale.execution.fold import SECOND_LOOK, Progress
from rhale.features.feature import Columns, Feature, FirstPass, require_rows_in_limits
from rhale.interaction.estimate import (
    PairSums,
    PairTask,
    conclude_pairs,
    correlate_sampled,
    importances,
    mark_correlated,
)
from rhale.interaction.partial_dependence import PairTracing, conclude_profiles, profile_importances
from rhale.interaction.plan import (
    MAX_PAIRED_FEATURES,
    MAX_PREDICTED_ROWS,
    ON_PROBABILITIES,
    ON_THE_MARGIN,
    PairEstimation,
    PairPlan,
    choose_pair_estimation,
    compute_pair_strengths,
    count_pair_queries,
    count_strength_queries,
    count_whole_rows,
    describe_rows,
    describe_screen,
    every_pair,
    has_too_many_pairs,
    limit_pairs,
    list_requested_pairs,
    make_sides,
    require_two,
    screen_pairs,
    warn_of_cost,
)
from rhale.interaction.result import Interactions
from rhale.interaction.settings import MeasuredPairMethod, PairSettings
from rhale.interaction.strength import Reading
from rhale.models.files.sandbox import containing
from rhale.models.margins import gives_probabilities, has_margin
from rhale.models.wrap import read_model, unbind
from rhale.naming import answering_unknown, list_asked, read_word
from rhale.output.text import Note
from rhale.pipeline import Run, conclude, describe_run, open_run, sign
from rhale.settings import Response, Settings, describe_bins
from rhale.stats.arrays import IntArray
from rhale.system import LOG

MANY_QUERIES = 10**7  # rows: a warning comes first
AFTER_EFFECTS_PASS = SECOND_LOOK + 2  # effects by which pairs are chosen take one pass, or two


@answering_unknown()
@containing
def interactions(
    model: Any,
    data: Any,
    *,
    pairs: str | int | Sequence[tuple[str | int, str | int]] | None = None,
    features: str | int | Sequence[str | int] | None = None,
    explanation: Explanation | None = None,
    method: MeasuredPairMethod = "ale",
    output: str | int | Sequence[str | int] | None = None,
    response: Response = "auto",
    transform: Any = None,
    output_transform: Any = None,
    categorical: Any = None,
    weights: npt.ArrayLike | str | None = None,
    columns: Sequence[str] | None = None,
    feature_names: Sequence[str] | Mapping[str | int, str] | None = None,
    output_names: str | Sequence[str] | Mapping[str | int, str] | None = None,
    units: Mapping[str, str] | None = None,
    cells: Any = None,
    reading: Reading = "rows",
    smooth: bool = False,
    gradient: Callable[[Any], Any] | None = None,
    seed: int = 0,
    n_rows: int | None = None,
    batch_size: int | None = None,
    n_jobs: int | None = None,
    device: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Progress | None = None,
) -> Interactions:
    """Measure which pairs of features interact, how strongly, and their joint effect (interaction only).

    Parameters
    ----------
    model, data
        As in `rhale.explain`.
    pairs : None, "all", int or sequence of pairs, optional
        Pairs to measure. By default all pairs of trees that are read exactly and of models with a
        gradient (beyond 500, those of the 30 features with the largest spread); of any other model
        ten pairs, chosen by the spread of the effects. A number: the strongest so many; of any other
        model so many, chosen by the spread. "all": every pair, at four predictions for each row and
        pair where nothing better is known.
    features : str, int or sequence of these, optional
        Features that may make pairs; all by default.
    explanation : Explanation, optional
        Effects of the same model and table, by which pairs are chosen; computed first where they
        are needed and not given.
    method : {"ale", "h", "greenwell", "pdp"}
        "ale": accumulated local effects of second order, near the data. For comparison, and over
        rows that do not exist: "h", Friedman's and Popescu's H statistic (unnormalised as the
        strength, squared and normalised as `h2`); "greenwell", the variance of partial
        dependences; "pdp", two-way partial dependence, of pairs that are named, since it evaluates
        the model at every point of a grid for each row and pair.
    output, response, transform, output_transform, categorical, weights
        As in `rhale.explain`; but of tree ensembles that classify, "auto" takes the margin.
    columns, feature_names, output_names, units
        As in `rhale.explain`.
    cells : int, Quantile, Fixed, Edges, a pair of these or a mapping, optional
        Cells of numerical features. By default 20 of equal counts along each feature, fewer below
        2,000 rows (not for "pdp").
    reading : {"rows", "cells"}
        Where the surface is averaged: at the values of the rows, or, as in R's ALEPlot and iml, in
        the middle of their cells.
    smooth : bool
        Smooth the slopes of neighbouring cells; helps with trees, but makes p-values too small.
    gradient, seed, n_rows, batch_size, n_jobs, device, checkpoint, progress
        As in `rhale.explain`.

    Returns
    -------
    Interactions

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).normal(size=(2000, 3))
    >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
    >>> round(ix["x0", "x1"].strength, 1), ix["x0", "x2"].strength
    (0.9, 0.0)
    """
    is_kept = checkpoint is not None
    signed = sign(explanation) if is_kept and isinstance(explanation, Explanation) else ""
    pairing = PairSettings(pairs, method, cells, reading, smooth, signed)
    model, response = read_model_and_response(model, response)
    response, told = choose_pair_response(model, response)
    asked = Settings(
        features=list_features_of_pairs(features, pairing),
        bins=pairing.bins,
        output=output,
        response=response,
        gradient=gradient,
        transform=transform,
        output_transform=output_transform,
        columns=columns,
        weights=weights,
        categorical=categorical,
        n_rows=n_rows,
        seed=seed,
        batch_size=batch_size,
        n_jobs=n_jobs,
        device=device,
        checkpoint=checkpoint,
        progress=progress,
        feature_names=feature_names,
        output_names=output_names,
        units=units,
        pairing=pairing,
    )
    if method == "pdp":
        return trace_pairs(model, data, asked, told)
    with open_run(model, data, asked) as run:
        first = FirstPass.plan(run.table, run.asked)
        found = first.resolve_columns(run.survey(first.task))
        require_two(found.features)
        asker = run.probe_model(found)
        manner = choose_pair_estimation(found, asker, run.asked)
        choice = choose_pairs(run, found, asker, manner, explanation)
        choice = replace(choice, notes=(*run.notes, *told, *manner.notes, *choice.notes))
        if pairing.method in ("h", "greenwell"):
            return measure_pair_strengths(run, found, asker, choice)
        plan = plan_pairs(found, run.asked, manner, choice.pairs)
        task = PairTask(asker, plan, seed)
        sums = run.measure_pairs(task, found, choice.next_pass)
    return assemble_interactions(run, found, task, sums, choice)


def read_model_and_response(model: Any, response: str) -> tuple[Any, Response]:
    """The model, from its file or its method, and which of its answers is meant."""
    word = cast(Response, read_word("response", response, get_args(Response)))
    return unbind(read_model(model), word)


def choose_pair_response(model: Any, response: Response) -> tuple[Response, tuple[Note, ...]]:
    """Choose the margin of classifying tree ensembles unless the user names a response; with a note."""
    if response == "auto" and has_margin(model):
        return "margin", (ON_THE_MARGIN,)
    return response, (ON_PROBABILITIES,) if gives_probabilities(model, response) else ()


def list_features_of_pairs(features: Any, pairing: PairSettings) -> Any:
    """Features that are looked at: those of the pairs that were named, if the user names pairs."""
    if not isinstance(pairing.pairs, tuple):
        return features
    named = list(dict.fromkeys(name for pair in pairing.pairs for name in pair))
    if features is None:
        return named
    asked = list_asked(features, "features")
    beyond = [name for name in named if name not in asked]
    if beyond:
        msg = f"pairs= names {beyond[0]!r}, which is not among features={features!r}; leave features= out"
        raise BadSettingError(msg)
    return named


def explain_pairs(model: Any, data: Any, asked: Settings) -> Interactions | None:
    """What `explain` gives where its features are pairs: their partial dependence; else None."""
    pairs = pairs_among(asked.features)
    if pairs is None:
        return None
    if asked.method != "pdp":
        msg = (
            f"features= names pairs, and method={asked.method!r} explains one feature at a time; use "
            f"rhale.interactions(model, data, pairs={pairs!r:.60}), or method='pdp' here"
        )
        raise BadSettingError(msg)
    for name in ("local", "limits", "window"):
        if getattr(asked, name) != getattr(Settings, name):
            msg = f"{name}={getattr(asked, name)!r} is not for pairs; leave it out, bins= says where the grid is"
            raise BadSettingError(msg)
    pairing = PairSettings(pairs, "pdp", convert_bins_to_cells(asked.bins))
    named, (model, response) = (
        list_features_of_pairs(None, pairing),
        read_model_and_response(model, asked.response),
    )
    paired = replace(asked, method="rhale", features=named, bins=pairing.bins, pairing=pairing)
    paired = replace(paired, response=response)
    if response == "auto" and has_margin(model):  # as for one feature; said in the record
        paired = replace(paired, response="predict_proba")
    return trace_pairs(model, data, paired, choose_pair_response(model, paired.response)[1])


def convert_bins_to_cells(bins: Any) -> Any:
    """Convert bins of `explain` to cells of pairs: a number means equal widths."""
    if isinstance(bins, Mapping):
        return {feature: convert_bins_to_cells(asked) for feature, asked in bins.items()}
    is_number = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
    return Fixed(int(bins)) if is_number else bins


def pairs_among(features: Any) -> list[Any] | None:
    """Pairs among the named features; None where there is none."""
    if isinstance(features, str) or not isinstance(features, Sequence):
        return None
    pairs = [one for one in features if isinstance(one, tuple | list)]
    if pairs and len(pairs) < len(features):
        alone = next(one for one in features if one not in pairs)
        msg = f"features= names pairs, {pairs[0]!r}, and features alone, {alone!r}; make two calls"
        raise BadSettingError(msg)
    return pairs or None


@dataclass(frozen=True, eq=False)
class PairChoice:
    """Pairs that are measured, by the places of their features; and how they were chosen."""

    pairs: IntArray  # (n_pairs, 2): places among the features
    # Effects by which they were chosen, where that was needed
    explanation: Explanation | None = None
    asked: int = 0  # rows that were predicted to choose them
    next_pass: int = SECOND_LOOK  # number of the pass in which they are measured
    notes: tuple[Note, ...] = ()  # what was left out


def choose_pairs(
    run: Run,
    columns: Columns,
    asker: BatchedModel,
    manner: PairEstimation,
    explanation: Explanation | None,
) -> PairChoice:
    """Choose the pairs to measure: the requested ones, all, or those that the screen ranks first."""
    pairing = require_pairing(run.asked.pairing)
    names, n_rows = [f.name for f in columns.features], columns.survey.n_rows
    named, n_pairs = list_requested_pairs(names, pairing), len(names) * (len(names) - 1) // 2
    few = describe_rows(n_rows, pairing)
    if named is not None:
        warn_of_cost(manner, len(named), n_rows, pairing)
        return PairChoice(named, explanation, notes=few)
    most, is_wide = (
        limit_pairs(len(names), manner, pairing),
        has_too_many_pairs(len(names), pairing),
    )
    if most is None and not is_wide:
        return PairChoice(every_pair(len(names)), explanation, notes=few)
    asked, passed = 0, SECOND_LOOK
    if explanation is None:
        # effects of all features, by which pairs are chosen
        alone = replace(run, asked=replace(run.asked, pairing=None, bins=None))
        choice = choose_measures(columns, asker, alone.asked)
        measured = alone.measure(asker, columns, choice.measures)
        explanation = conclude(alone, columns, asker, choice, measured)
        asked, passed = measured.asked + choice.asked, AFTER_EFFECTS_PASS
    given: Any = explanation
    if not isinstance(given, Explanation):
        msg = f"explanation={explanation!r:.60} is not an Explanation; pass what rhale.explain returned"
        raise BadSettingError(msg)
    missing = [name for name in names if name not in explanation]
    if missing:
        msg = (
            f"explanation= has no effect of {missing[0]!r}; explain all features that may make "
            "pairs, or name features="
        )
        raise BadSettingError(msg)
    if most is None:  # all pairs of the features whose effects are most heterogeneous
        spread = dict.fromkeys(names, 0.0)
        for effect in explanation.values():
            if effect.name in spread:
                spread[effect.name] = max(
                    spread[effect.name], float(np.nan_to_num(effect.typical_spread))
                )
        order = sorted(range(len(names)), key=lambda i: -spread[names[i]])
        kept = np.array(sorted(order[:MAX_PAIRED_FEATURES]), dtype=np.int64)
        text = (
            f"only pairs of the {len(kept)} of {len(names)} features with the largest spread were "
            "measured; pairs='all' measures every pair"
        )
        notes = (*few, Note("screen", text))
        return PairChoice(kept[every_pair(kept.size)], explanation, asked, passed, notes)
    ranking = [(a, b) for a, b, _ in screen_pairs(explanation) if a in names and b in names]
    pairs = np.array([sorted((names.index(a), names.index(b))) for a, b in ranking[:most]])
    price = count_pair_queries(manner, n_pairs, n_rows, pairing)
    notes = (*describe_screen(len(pairs), n_pairs, price), *few)
    return PairChoice(pairs.reshape(-1, 2), explanation, asked, passed, notes)


def order_pairs(columns: Columns, pairs: IntArray) -> tuple[list[Feature], IntArray]:
    """Features that are in some pair, in the order of the table; and pairs by places among them."""
    used = sorted(set(pairs.ravel().tolist()), key=lambda place: columns.features[place].column)
    ordered = np.array([sorted(used.index(place) for place in pair) for pair in pairs.tolist()])
    return [columns.features[place] for place in used], ordered


def plan_pairs(
    columns: Columns, asked: Settings, manner: PairEstimation, pairs: IntArray
) -> PairPlan:
    """Choose the cells of the features that are in some pair, and how each pair is found."""
    features, ordered = order_pairs(columns, pairs)
    sides = make_sides(features, asked, require_pairing(asked.pairing), columns.survey.n_rows)
    return PairPlan(sides, ordered, manner.ways(sides, ordered))


def describe_pair_run(
    run: Run, columns: Columns, asker: BatchedModel, n_pairs: int
) -> dict[str, Any]:
    """Record what was measured, and how."""
    pairing, n_features = require_pairing(run.asked.pairing), len(columns.features)
    record = describe_run(run, columns, asker.predictor) | {
        "method": pairing.method,
        "cells": "usual" if pairing.cells is None else describe_bins(pairing.cells),
        "pairs": n_pairs,
        "pairs_possible": n_features * (n_features - 1) // 2,
    }
    del record["bins"]  # which pairs do not have
    return record


def measure_pair_strengths(
    run: Run, columns: Columns, asker: BatchedModel, choice: PairChoice
) -> Interactions:
    """Measure pairs by another definition, on some whole rows."""
    method = require_pairing(run.asked.pairing).method
    features, pairs = order_pairs(columns, choice.pairs)
    n_rows = count_whole_rows(asker, columns.probe, features, method)
    if n_rows == MAX_PREDICTED_ROWS:
        price = count_strength_queries(features, pairs, min(n_rows, columns.survey.n_rows), method)
        if price >= MANY_QUERIES:
            LOG.warning("method=%r evaluates the model on %s rows", method, f"{price:,}")
    rows = run.keep_rows(columns, n_rows, choice.next_pass)
    found, made, notes = compute_pair_strengths(asker, rows, features, pairs, method)
    asked = asker.n_probed + choice.asked + found.n_asked
    record = describe_pair_run(run, columns, asker, len(pairs))
    return Interactions(
        features=tuple(feature.name for feature in features),
        outputs=asker.outputs,
        pairs=made,
        importance=found.importance,
        variance=found.variance,
        provenance=record | {"sample_rows": found.n_rows, "rows_asked": asked},
        notes=(*choice.notes, *notes),
    )


def trace_pairs(
    model: Any, data: Any, asked: Settings, told: tuple[Note, ...] = ()
) -> Interactions:
    """Two-way partial dependence of the pairs that the user names, or of all."""
    with open_run(model, data, asked) as run:
        first = FirstPass.plan(run.table, run.asked)
        found = first.resolve_columns(run.survey(first.task))
        require_two(found.features)
        asker, pairing, n_rows = (
            run.probe_model(found),
            require_pairing(run.asked.pairing),
            found.survey.n_rows,
        )
        pairs = list_requested_pairs([feature.name for feature in found.features], pairing)
        assert pairs is not None  # noqa: S101 - our own mistake: settings refuse all else
        plan = plan_pairs(found, run.asked, PairEstimation("corners"), pairs)
        task = PairTracing(asker, plan, asked.seed)
        if pairing.pairs == "all":
            text = "pairs='all' evaluates the model on %s points of grids x %s rows = %s rows"
            price = task.n_points * n_rows
            LOG.warning(text, f"{task.n_points:,}", f"{n_rows:,}", f"{price:,}")
        sums = run.measure_pairs(task, found, SECOND_LOOK)
    asked_rows = asker.n_probed + sums.asked
    record = describe_pair_run(run, found, asker, len(plan.pairs))
    return Interactions(
        features=tuple(side.feature.name for side in plan.sides),
        outputs=asker.outputs,
        pairs=conclude_profiles(plan, sums, asker.outputs, n_rows),
        importance=profile_importances(sums, len(asker.outputs)),
        variance=sums.answers.variance,
        provenance=record | {"ways": {"profile": len(plan.pairs)}, "rows_asked": asked_rows},
        notes=(*run.notes, *told),
    )


def assemble_interactions(
    run: Run, columns: Columns, task: PairTask, sums: PairSums, choice: PairChoice
) -> Interactions:
    """Put what was measured together with the record of how it was made."""
    for side, main in zip(task.plan.sides, sums.mains, strict=True):
        if main is not None and not main.weight.any():  # cells= of the user, beside all rows
            ends = (float(side.axis.nodes[0]), float(side.axis.nodes[-1]))
            require_rows_in_limits(side.feature, 0, ends, columns.survey)
    pairing, plan, asker = require_pairing(run.asked.pairing), task.plan, task.model
    n_rows, n_outputs, predictor = columns.survey.n_rows, len(asker.outputs), asker.predictor
    still = bool(np.all(sums.answers.variance == 0))
    same = (Note("constant", "all predictions are the same"),) if still else ()
    asked = asker.n_probed + choice.asked + sums.asked
    walked = asker.n_probed + predictor.checked_rows
    told = {
        "ways": {way: plan.ways.count(way) for way in dict.fromkeys(plan.ways)},
        "rows_asked": walked if predictor.walks else asked,
    }
    pairs = conclude_pairs(plan, sums, asker.outputs, pairing, n_rows)
    correlations = {frozenset(pair.names): pair.rank_correlation for pair in pairs[::n_outputs]}
    fx = choice.explanation
    if fx is not None:  # not all pairs are measured
        sampled = correlate_sampled(pairs, fx.features, fx.sample_x, fx.sample_weight)
        correlations = sampled | correlations
    pairs, alike = mark_correlated(pairs, correlations)
    found = Interactions(
        features=tuple(side.feature.name for side in plan.sides),
        outputs=asker.outputs,
        pairs=pairs,
        importance=importances(plan, sums, n_outputs),
        variance=sums.answers.variance,
        provenance=describe_pair_run(run, columns, asker, len(plan.pairs)) | told,
        notes=(*choice.notes, *same, *alike),
    )
    return keep_strongest(found, pairing.pairs) if isinstance(pairing.pairs, int) else found


def keep_strongest(ix: Interactions, most: int) -> Interactions:
    """Keep so many pairs, by their strength on any output, and the features in them."""
    n_outputs = len(ix.outputs)
    groups = [ix.pairs[i : i + n_outputs] for i in range(0, len(ix.pairs), n_outputs)]
    if most >= len(groups):
        return ix
    order = sorted(range(len(groups)), key=lambda i: -max(pair.strength for pair in groups[i]))
    kept = [groups[i] for i in sorted(order[:most])]
    used = {name for group in kept for name in group[0].names}
    places = [i for i, name in enumerate(ix.features) if name in used]
    text = f"the strongest {most} of {len(groups):,} measured pairs are kept"
    return replace(
        ix,
        features=tuple(ix.features[i] for i in places),
        pairs=tuple(pair for group in kept for pair in group),
        importance=ix.importance[places],
        notes=(*ix.notes, Note("screen", text)),
    )


def require_pairing(pairing: PairSettings | None) -> PairSettings:
    """Settings of pairs, which every run here has."""
    assert pairing is not None  # noqa: S101 - our own mistake
    return pairing
