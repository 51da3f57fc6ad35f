"""Estimators of scikit-learn that combine tree ensembles: averages, stacks, calibrated ones.

Each answer is a function of sums of leaves. The trees of all parts become one forest, in which every
part has outputs of its own, and a `Combination` turns their sums into the answer. Where the answer is
a weighted sum of the parts' sums, the weights go into the leaves, and nothing is left to combine.

| estimator | its answer |
| --- | --- |
| `VotingRegressor`, `BaggingRegressor` | weighted mean of the parts |
| `VotingClassifier` (soft), `BaggingClassifier` | weighted mean of probabilities |
| `StackingRegressor`, `StackingClassifier` | that of the last step, about those of the parts |
| `CalibratedClassifierCV` | mean of calibrated probabilities |
| `AdaBoostClassifier` | votes of the trees, which become their leaves |
| `TransformedTargetRegressor` | inverse of the transformation |
| `MultiOutputRegressor`, `MultiOutputClassifier` | answers side by side |
| `IsolationForest` | a power of the mean depth, which becomes a leaf |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rhale.models.libraries import classes_of
from rhale.models.trees.forest import (
    CATEGORY,
    NUMBER,
    Forest,
    Tree,
    build_forest,
    just_above,
    split_forest,
    undo_single,
)
from rhale.models.trees.links import LINKS, identity
from rhale.models.trees.reading import CannotReadError, Reading
from rhale.stats.arrays import FloatArray

Combine = Callable[[list[FloatArray]], FloatArray]
RAW_RESPONSES = ("decision_function", "margin")


@dataclass(frozen=True, eq=False)
class PartAnswer:
    """How the sums of one part become its answer."""

    outputs: slice  # its sums, among those of all parts
    # link, alpha, raw_factor, combine: as in `Reading`
    link: str
    alpha: float
    raw_factor: float
    combine: Callable[[FloatArray], FloatArray] | None
    response: str

    def __call__(self, sums: FloatArray) -> FloatArray:
        """Turn sums (n, n_sums) of all parts into the answer of this one (n, n_outputs)."""
        own = sums[:, self.outputs]
        if self.combine is not None:
            return self.combine(own)
        if self.response in RAW_RESPONSES:
            return own * self.raw_factor
        found = LINKS[self.link](own, self.alpha)
        if self.response == "predict_proba" and found.shape[1] == 1:
            return np.concatenate([1 - found, found], axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Combination:
    """From the sums of all parts to the answer of the estimator."""

    parts: tuple[PartAnswer, ...]
    combine: Combine

    def __call__(self, sums: FloatArray) -> FloatArray:
        """Turn sums (..., n_sums) into answers (..., n_outputs)."""
        flat = sums.reshape(-1, sums.shape[-1])
        found = np.asarray(self.combine([part(flat) for part in self.parts]), dtype=np.float64)
        return found.reshape(*sums.shape[:-1], -1)


def combine_parts(
    readings: Sequence[Reading], responses: Sequence[str], combine: Combine
) -> Reading:
    """One forest of the trees of all parts, each with outputs of its own, and how to combine them."""
    sizes = [reading.forest.n_outputs for reading in readings]
    starts = np.cumsum([0, *sizes[:-1]])
    answers = [
        PartAnswer(
            slice(int(start), int(start) + one.forest.n_outputs),
            *(one.link, one.alpha, one.raw_factor, one.combine),
            response,
        )
        for one, response, start in zip(readings, responses, starts, strict=True)
    ]
    forest = join_forests(readings, np.ones(len(readings)), starts)
    base = np.zeros(forest.n_outputs)
    base[: sum(sizes)] = np.concatenate([reading.base for reading in readings])
    joined = Combination(tuple(answers), combine)
    return replace(
        _alike(readings),
        forest=forest,
        base=base,
        link="combined",
        combine=joined,
        adds_in_single=any(reading.adds_in_single for reading in readings),
    )


def average_parts(
    readings: Sequence[Reading], response: str, weights: Sequence[float] | None
) -> Reading:
    """The weighted mean of the answers of all parts: a forest without a link where they have none."""
    share = np.ones(len(readings)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = share / share.sum()
    if not _are_sums(readings) or len({one.forest.n_outputs for one in readings}) > 1:
        combine = partial(_weighted_mean, share)
        return combine_parts(readings, [response] * len(readings), combine)
    return _weighted_sum(readings, share)


def _are_sums(readings: Sequence[Reading]) -> bool:
    """Whether answers are sums of leaves, without a link."""
    return all(LINKS.get(one.link) is identity and one.combine is None for one in readings)


def _weighted_sum(
    readings: Sequence[Reading], weights: FloatArray, intercept: float = 0.0
) -> Reading:
    """A forest whose leaves have the weights in them."""
    forest = join_forests(readings, weights, np.zeros(len(readings), dtype=np.int64))
    base = np.asarray(sum(w * one.base for w, one in zip(weights, readings, strict=True)))
    single = any(reading.adds_in_single for reading in readings)
    return replace(_alike(readings), forest=forest, base=base + intercept, adds_in_single=single)


def _weighted_mean(share: FloatArray, answers: list[FloatArray]) -> FloatArray:
    return np.asarray(sum(s * one for s, one in zip(share, answers, strict=True)))


def join_forests(
    readings: Sequence[Reading], factors: Sequence[float] | FloatArray, starts: Any
) -> Forest:
    """One forest of the trees of several, their leaves times a factor, their outputs from a start on."""
    is_single = all(reading.forest.is_single for reading in readings)
    trees, kinds = list[Tree](), {NUMBER}
    for reading, factor, start in zip(readings, factors, starts, strict=True):
        forest = reading.forest
        kinds |= {int(kind) for kind in forest.kinds if kind != CATEGORY}
        for tree in split_forest(forest):
            threshold = tree.threshold
            if forest.is_single and not is_single:  # where float64 crosses what float32 compares
                threshold = undo_single(threshold)
            value = tree.value if factor == 1 else tree.value * factor
            target = tree.target + int(start)
            trees.append(replace(tree, threshold=threshold, value=value, target=target))
    width = max((tree.value.shape[1] for tree in trees), default=1)
    trees = [
        replace(one, value=np.pad(one.value, [(0, 0), (0, width - one.value.shape[1])]))
        for one in trees
    ]
    ends = [int(s) + one.forest.n_outputs for s, one in zip(starts, readings, strict=True)]
    room = max((tree.target + width for tree in trees), default=0)  # for what was padded
    return build_forest(
        trees,
        readings[0].forest.n_features,
        n_outputs=max([*ends, room]),
        is_single=is_single,
        kind=max(kinds),  # LightGBM takes tiny numbers for zero
    )


def _alike(readings: Sequence[Reading]) -> Reading:
    """What all parts have in common, besides trees and links; or CannotReadError."""
    first, *others = readings
    if others and any(reading.transform is not None for reading in readings):
        msg = "its parts prepare the columns, each in its own way"
        raise CannotReadError(msg)
    if any(not np.array_equal(one.missing, first.missing, equal_nan=True) for one in others):
        msg = "its parts take different values for missing ones"
        raise CannotReadError(msg)
    return replace(first, link="identity", alpha=1.0, raw_factor=1.0, combine=None)


# --- The estimators


ReadPart = Callable[[Any, str], Reading]


def read_voting(model: Any, response: str, read: ReadPart) -> Reading:
    """Means of the parts; of classifiers only where they vote with their probabilities."""
    if getattr(model, "voting", "soft") != "soft":
        msg = "its parts vote for classes (voting='hard')"
        raise CannotReadError(msg)
    readings = [read(part, response) for part in model.estimators_]
    return average_parts(readings, response, model._weights_not_none)  # noqa: SLF001


def read_bagging(model: Any, response: str, read: ReadPart) -> Reading:
    """Means of parts that may see some of the columns only."""
    readings = []
    for part, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        reading, places = read(part, response), np.asarray(columns)
        if not np.array_equal(places, np.arange(model.n_features_in_)):
            if reading.transform is not None:
                msg = "its parts prepare the columns, each in its own way"
                raise CannotReadError(msg)
            reading = replace(
                reading, forest=with_features(reading.forest, places, model.n_features_in_)
            )
        readings.append(replace(reading, names=None))
    return average_parts(readings, response, None)


def read_multi_output(model: Any, response: str, read: ReadPart) -> Reading:
    """The answers of the parts, one target each, side by side."""
    readings = [read(part, response) for part in model.estimators_]
    return combine_parts(readings, [response] * len(readings), partial(np.concatenate, axis=-1))


def read_transformed_target(model: Any, response: str, read: ReadPart) -> Reading:
    """The inverse of the target's transformation, of what the regressor inside says."""
    reading = read(model.regressor_, response)
    if reading.forest.n_outputs > 1:
        msg = "it transforms several targets together"
        raise CannotReadError(msg)
    return combine_parts([reading], [response], partial(_undo_transform, model.transformer_))


def _undo_transform(transformer: Any, answers: list[FloatArray]) -> FloatArray:
    with np.errstate(all="ignore"):  # infinite answers are refused, with the reason
        return np.asarray(transformer.inverse_transform(answers[0]))


def read_stacking(model: Any, response: str, read: ReadPart) -> Reading:
    """The last step's answer about the answers of the parts; a linear one of sums is a sum."""
    last = model.final_estimator_
    response = "decision_function" if response in RAW_RESPONSES else response
    if model.passthrough:
        msg = "its last step sees the columns themselves (passthrough=True)"
        raise CannotReadError(msg)
    if not hasattr(last, response):
        msg = f"its last step has no {response}"
        raise CannotReadError(msg)
    parts = [part for part in model.estimators_ if part != "drop"]
    responses = list(model.stack_method_)
    readings = [read(part, own) for part, own in zip(parts, responses, strict=True)]
    is_binary = len(getattr(model, "classes_", ())) == 2
    if not hasattr(model, "classes_") and hasattr(last, "coef_") and np.ndim(last.coef_) == 1:
        weights, intercept = np.asarray(last.coef_), float(last.intercept_)
        if _are_sums(readings) and len(readings) == weights.size:
            return _weighted_sum(readings, weights, intercept)
    drops = [is_binary and own == "predict_proba" for own in responses]
    combine = partial(_answer_of_last, getattr(last, response), drops)
    return combine_parts(readings, responses, combine)


def _answer_of_last(
    ask: Callable[[Any], Any], drops: Sequence[bool], answers: list[FloatArray]
) -> FloatArray:
    columns = [one[:, 1:] if drop else one for one, drop in zip(answers, drops, strict=True)]
    found = np.asarray(ask(np.hstack(columns)), dtype=np.float64)
    return found.reshape(len(columns[0]), -1)


def read_calibrated(model: Any, response: str, read: ReadPart) -> Reading:
    """Means of probabilities that were calibrated, each from the answer of an estimator."""
    if response != "predict_proba":
        msg = f"a calibrated classifier has no {response}"
        raise CannotReadError(msg)
    readings, responses, calibrators = [], list[str](), list[tuple[Any, ...]]()
    for one in model.calibrated_classifiers_:
        if one.method not in ("sigmoid", "isotonic"):
            msg = f"it is calibrated by {one.method!r}"
            raise CannotReadError(msg)
        own = "decision_function"
        if not hasattr(one.estimator, own):
            own = "predict_proba"
        readings.append(read(one.estimator, own))
        responses.append(own)
        classes = [list(one.classes).index(name) for name in one.estimator.classes_]
        calibrators.append((tuple(one.calibrators), tuple(classes), len(one.classes)))
    return combine_parts(readings, responses, partial(_calibrate_and_average, calibrators))


def _calibrate_and_average(
    calibrators: Sequence[tuple[Any, ...]], answers: list[FloatArray]
) -> FloatArray:
    total: Any = 0.0
    for (maps, places, n_classes), answer in zip(calibrators, answers, strict=True):
        if n_classes == 2:
            second = np.asarray(maps[0].predict(answer[:, -1]))
            total = total + np.stack([1 - second, second], axis=-1)
            continue
        found = np.zeros((len(answer), n_classes))
        for calibrator, place, column in zip(maps, places, answer.T, strict=True):
            found[:, place] = calibrator.predict(column)
        whole = found.sum(axis=-1, keepdims=True)
        even = np.full_like(found, 1 / n_classes)
        total = total + np.divide(found, whole, out=even, where=whole != 0)
    return np.asarray(total / len(calibrators))


def read_adaboost(model: Any, response: str, read: ReadPart) -> Reading:
    """Votes of classifiers: each tree adds its weight to one class, and takes some from the others."""
    n_classes, weights = len(model.classes_), np.asarray(model.estimator_weights_)
    readings = []
    for part, weight in zip(model.estimators_, weights, strict=False):
        reading = read(part, "predict_proba")
        if "sklearn.BaseDecisionTree" not in classes_of(part):
            msg = f"its parts are {type(part).__name__}s, not single trees"
            raise CannotReadError(msg)
        (tree,) = split_forest(reading.forest)
        chosen = np.searchsorted(model.classes_, part.classes_)[np.argmax(tree.value, axis=1)]
        votes = np.where(np.arange(n_classes) == chosen[:, None], 1.0, -1 / (n_classes - 1))
        votes *= weight / weights.sum()
        if n_classes == 2:
            votes = (votes[:, 1] - votes[:, 0])[:, None]
        elif response not in RAW_RESPONSES:
            votes /= n_classes - 1
        own = build_forest(
            [replace(tree, value=votes)],
            reading.forest.n_features,
            n_outputs=votes.shape[1],
            is_single=True,
        )
        readings.append(replace(reading, forest=own, base=np.zeros(votes.shape[1])))
    n_parts = len(readings)
    found = join_forests(readings, np.ones(n_parts), np.zeros(n_parts, dtype=np.int64))
    link = "sigmoid" if n_classes == 2 else "softmax"
    return replace(_alike(readings), forest=found, base=np.zeros(found.n_outputs), link=link)


def read_isolation(model: Any, response: str, read: ReadPart) -> Reading:  # noqa: ARG001
    """How early trees isolate a row: each leaf adds its depth, and that of an even tree of its rows."""
    if response != "decision_function":
        msg = "its answer is a class label; response='decision_function' has its score"
        raise CannotReadError(msg)
    readings, sizes = [], model._average_path_length_per_tree  # noqa: SLF001
    each = zip(model.estimators_, model.estimators_features_, sizes, strict=True)
    for part, columns, beyond in each:
        nodes = part.tree_
        is_leaf = nodes.children_left < 0
        depth = np.asarray(nodes.compute_node_depths()) - 1.0 + np.asarray(beyond)
        missing_left = getattr(nodes, "missing_go_to_left", np.zeros(len(is_leaf)))
        own = Tree(
            feature=np.where(is_leaf, -1, np.asarray(columns)[nodes.feature]),
            threshold=just_above(nodes.threshold),
            left=nodes.children_left,
            right=nodes.children_right,
            missing_left=np.asarray(missing_left).astype(np.bool_),
            value=depth[:, None],
        )
        forest = build_forest([own], model.n_features_in_, n_outputs=1, is_single=True)
        readings.append(Reading(forest, np.zeros(1)))
    n_parts = len(readings)
    forest = join_forests(readings, np.ones(n_parts), np.zeros(n_parts, dtype=np.int64))
    summed = replace(_alike(readings), forest=forest, base=np.zeros(1))
    score = partial(_isolation_score, n_parts * _even_depth(model._max_samples), model.offset_)  # noqa: SLF001
    return combine_parts([summed], ["predict"], score)


def _isolation_score(whole: float, offset: float, answers: list[FloatArray]) -> FloatArray:
    return np.asarray(-(2.0 ** -(answers[0] / whole)) - offset)


def _even_depth(n_rows: float) -> float:
    """Mean depth at which a random tree isolates one of so many rows (Liu, Ting and Zhou, 2008)."""
    if n_rows <= 2:
        return float(n_rows == 2)
    return float(2 * (np.log(n_rows - 1) + np.euler_gamma) - 2 * (n_rows - 1) / n_rows)


def with_features(forest: Forest, places: Any, n_features: int) -> Forest:
    """The same trees, whose features are other columns of a wider table."""
    trees = [
        replace(tree, feature=np.where(tree.feature < 0, -1, places[np.maximum(tree.feature, 0)]))
        for tree in split_forest(forest)
    ]
    kind = int(max((k for k in forest.kinds if k != CATEGORY), default=NUMBER))
    return build_forest(
        trees, n_features, n_outputs=forest.n_outputs, is_single=forest.is_single, kind=kind
    )


COMBINED: dict[str, Callable[[Any, str, ReadPart], Reading]] = {
    "sklearn.VotingRegressor": read_voting,
    "sklearn.VotingClassifier": read_voting,
    "sklearn.BaggingRegressor": read_bagging,
    "sklearn.BaggingClassifier": read_bagging,
    "sklearn.StackingRegressor": read_stacking,
    "sklearn.StackingClassifier": read_stacking,
    "sklearn.CalibratedClassifierCV": read_calibrated,
    "sklearn.AdaBoostClassifier": read_adaboost,
    "sklearn.TransformedTargetRegressor": read_transformed_target,
    "sklearn.MultiOutputRegressor": read_multi_output,
    "sklearn.MultiOutputClassifier": read_multi_output,
    "sklearn.IsolationForest": read_isolation,
}
