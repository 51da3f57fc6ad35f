"""From a model to a walker of its trees, verified against the library's own predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from rhale.data import Chunk, Table, open_table
from rhale.data.table import Change
from rhale.models.libraries import first_line
from rhale.models.questions import check_answer
from rhale.models.sklearn import BY_CLASS
from rhale.models.trees.ensemble import (
    DROPPED_COLUMN,
    MIXED,
    holds_trees,
    read_trees,
    split_pipeline,
    where_columns_go,
)
from rhale.models.trees.forest import CATEGORY
from rhale.models.trees.links import LINKS
from rhale.models.trees.reading import CLASS_LABEL, CannotReadError, Reading
from rhale.models.trees.walker import RAW, TreeWalker
from rhale.stats.arrays import FloatArray

INSTALL = 'pip install "rhale[trees]" makes this many times faster'


def read_walker(model: Any, response: str, table: Table) -> TreeWalker:
    """Read a model's trees, or raise CannotReadError with the reason."""
    steps, ensemble = split_pipeline(model)
    if not holds_trees(ensemble):
        msg = f"they are parts of {type(ensemble).__name__}, which rhale cannot read exactly"
        raise CannotReadError(msg)
    for library in ("numba", "treelite"):
        if find_spec(library) is None:
            msg = f"{library} is not installed; {INSTALL}"
            raise CannotReadError(msg)
    classes = getattr(ensemble, "classes_", None)  # CatBoost's regressors have none in a list
    try:
        is_classifier = classes is not None and len(classes) and hasattr(ensemble, "predict_proba")
        asked = "predict_proba" if response == "log_odds" else response
        found = read_trees(ensemble, asked)
        if steps:  # they come before the trees, if each column goes its own way
            n_columns = int(steps[0].n_features_in_)
            known = getattr(steps[0], "feature_names_in_", None)
            names = [str(n) for n in (range(n_columns) if known is None else known)]
            places = where_columns_go(steps, n_columns, names)
            if found.columns is not None:
                is_known = places >= 0
                places[is_known] = found.columns[places[is_known]]
            transforms = [step.transform for step in steps]
            if found.transform is not None:
                transforms.append(found.transform)
            found = replace(
                found,
                columns=places,
                transform=partial(_transform_in_turn, transforms),
                names=None if known is None else tuple(names),
            )
    except CannotReadError:
        raise
    except Exception as error:
        msg = f"its trees cannot be read ({type(error).__name__}: {first_line(error)})"
        raise CannotReadError(msg) from error
    is_label = found.link == CLASS_LABEL and response not in RAW
    if is_label or (response == "predict" and is_classifier):
        msg = "its prediction is a class label"
        raise CannotReadError(msg)
    if found.combine is not None:
        return TreeWalker(follow_names(found, table), response, is_pair=False)
    if response not in RAW and found.link not in LINKS:
        msg = f"its link {found.link!r} is not known"
        raise CannotReadError(msg)
    is_pair = response in BY_CLASS and found.forest.n_outputs == 1
    return TreeWalker(follow_names(found, table), response, is_pair)


def _transform_in_turn(transforms: Sequence[Callable[[Any], Any]], rows: Any) -> Any:
    for transform in transforms:
        rows = transform(rows)
    return rows


def follow_names(found: Reading, table: Table) -> Reading:
    """Follow columns by their names, for a table that has those of the training elsewhere."""
    wanted, names = found.names, table.names
    if wanted is None or table.kind == "numpy" or wanted == names or set(wanted) - set(names):
        return found  # by position; a model that minds has said so on the first test call
    columns = np.arange(len(wanted)) if found.columns is None else found.columns
    places = [columns[wanted.index(n)] if n in wanted else DROPPED_COLUMN for n in names]
    transform = found.transform or partial(_pick, list(wanted))
    return replace(found, columns=np.array(places, dtype=np.int64), transform=transform)


def _pick(names: list[str], rows: Any) -> Any:
    return rows[names]


# --- Trees are walked only if they give the library's own answers


Ask = Callable[[Any], Any]
FLOAT64_AGREEMENT, FLOAT32_AGREEMENT = 1e-9, 1e-5  # agreement with the library's own answers
CHECKED_FEATURES = 100
MAX_FLOAT32 = float(np.finfo(np.float32).max)


def check_walker(walker: TreeWalker, ask: Ask, rows: Any, answer: Any) -> int:
    """Compare with asked answers at the thresholds themselves; rows asked, or CannotReadError."""
    table = open_table(rows)
    chunk = table.chunk(0, table.n_rows)
    columns = walker.reading.columns
    n_expected = walker.reading.forest.n_features if columns is None else len(columns)
    if len(table.names) != n_expected:
        msg = f"they have {n_expected} features, the table has {len(table.names)} columns"
        raise CannotReadError(msg)
    if columns is not None and np.all(columns == MIXED):
        msg = (
            f"a step before them mixes {table.names[0]!r} with other columns or makes several of it"
        )
        raise CannotReadError(msg)
    changes = choose_changes(walker.reading, chunk)
    try:
        own = check_answer(answer, chunk.n_rows)
        compare_with_library(walker, own, _try_walk(walker.predict, chunk.rows))
        if not changes:
            return 0
        expected = check_answer(ask(chunk.vary(changes)), chunk.n_rows * len(changes))
    except CannotReadError:
        raise
    except Exception as error:
        msg = f"they cannot be checked ({type(error).__name__}: {first_line(error)})"
        raise CannotReadError(msg) from error
    compare_with_library(
        walker,
        expected.reshape(len(changes), chunk.n_rows, -1),
        _try_walk(walker.walk, chunk, changes),
    )
    n_missing = check_missing(walker, ask, chunk, changes)
    return chunk.n_rows * (len(changes) + n_missing)


def _try_walk(work: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
    """Try a walk; whatever goes wrong, the model can still be asked."""
    try:
        return work(*arguments)
    except Exception as error:
        msg = (
            f"they cannot be evaluated on this table ({type(error).__name__}: {first_line(error)})"
        )
        raise CannotReadError(msg) from error


def choose_changes(found: Reading, chunk: Chunk) -> list[Change]:
    """Values at the thresholds of each feature, and just beside them; up to 100 features."""
    rng = np.random.default_rng(0)
    forest, parts = found.forest, list[list[Change]]()
    table = open_table(chunk.rows)
    for column in range(len(table.names)):
        if table.holds(column) != "number":
            continue
        feature = column if found.columns is None else int(found.columns[column])
        # A copy of a column of whole numbers in a data frame cannot hold its missing values
        if feature < 0 or (
            bool(np.isnan(chunk.column(column)).any()) and not can_miss(chunk, column)
        ):
            continue
        cuts = forest.cuts[forest.cut_starts[feature] : forest.cut_starts[feature + 1]]
        cuts = cuts[np.abs(cuts) < MAX_FLOAT32]  # infinite where only missing values part
        if not cuts.size or found.transform is not None:
            parts.append([(column, rng.permutation(chunk.column(column)))])
            continue
        drawn = rng.choice(cuts, chunk.n_rows)
        if forest.kinds[feature] == CATEGORY:
            drawn = rng.integers(0, int(cuts[0]) + 1, chunk.n_rows).astype(np.float64)
        beside = np.nextafter(drawn, rng.choice([-np.inf, np.inf], chunk.n_rows))
        if forest.is_single:
            drawn = drawn.astype(np.float32).astype(np.float64)
            beside = beside.astype(np.float32).astype(np.float64)
        parts.append([(column, drawn), (column, beside)])
    chosen = rng.permutation(len(parts))[:CHECKED_FEATURES]
    return [change for i in np.sort(chosen) for change in parts[i]]


def check_missing(walker: TreeWalker, ask: Ask, chunk: Chunk, changes: Sequence[Change]) -> int:
    """Compare where rows without a value go, if the model takes such rows at all."""
    columns = [c for c in dict.fromkeys(c for c, _ in changes) if can_miss(chunk, c)]
    missing = [(c, np.full(chunk.n_rows, np.nan)) for c in columns]
    if not missing:
        return 0
    try:
        answer = ask(chunk.vary(missing))
    except Exception:  # noqa: BLE001 - a model that refuses them will never see one
        return 0
    expected = check_answer(answer, chunk.n_rows * len(missing))
    compare_with_library(
        walker,
        expected.reshape(len(missing), chunk.n_rows, -1),
        _try_walk(walker.walk, chunk, missing),
    )
    return len(missing)


def can_miss(chunk: Chunk, column: int) -> bool:
    """Whether a copy of the column can hold nan: one of pandas' truth values makes it False."""
    try:
        with np.errstate(invalid="ignore"):
            rows = chunk.vary([(column, np.full(chunk.n_rows, np.nan))])
        copied = open_table(rows).chunk(0, chunk.n_rows).column(column)
    except (TypeError, ValueError):  # whole numbers
        return False
    return bool(np.isnan(copied).all())


def compare_with_library(walker: TreeWalker, expected: FloatArray, found: FloatArray) -> None:
    """Refuse trees whose answers are not the library's, or raise CannotReadError."""
    if found.shape != expected.shape:
        msg = f"they give {found.shape[-1]} outputs, the model {expected.shape[-1]}"
        raise CannotReadError(msg)
    reading = walker.reading
    size = float(np.abs(expected).max())
    precision = FLOAT32_AGREEMENT if reading.adds_in_single else FLOAT64_AGREEMENT
    if walker.response in RAW or reading.link.startswith("identity"):  # sums that cancel
        size = max(size, reading.forest.largest_sum)
        unit = np.finfo(np.float32 if reading.adds_in_single else np.float64).eps
        precision = min(precision, 2 * (reading.forest.n_trees + 1) * float(unit))
    allowed = precision * size
    gap = np.abs(found - expected)
    if not gap.max() <= allowed:
        place = np.unravel_index(int(np.argmax(gap)), gap.shape)
        msg = f"they give {found[place]:.9g} where the model returns {expected[place]:.9g}"
        raise CannotReadError(msg)
