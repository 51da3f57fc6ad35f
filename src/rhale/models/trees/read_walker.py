"""From a model to the trees that answer for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from rhale.models.library_errors import first_line
from rhale.models.sklearn import BY_CLASS
from rhale.models.trees.ensemble import split_pipeline
from rhale.models.trees.links import LINKS
from rhale.models.trees.pipeline import DROPPED_COLUMN, where_columns_go
from rhale.models.trees.readers import reader_of
from rhale.models.trees.reading import CLASS_LABEL, CannotReadError, Reading
from rhale.models.trees.walker import RAW, TreeWalker
from rhale.tables import Table

INSTALL = 'pip install "rhale[trees]" makes this many times faster'


def read_walker(model: Any, response: str, table: Table) -> TreeWalker:
    """Read a model's trees, or raise CannotReadError with the reason."""
    steps, ensemble = split_pipeline(model)
    reader = reader_of(ensemble)
    if reader is None:
        msg = f"they are parts of {type(ensemble).__name__}, which rhale does not take apart"
        raise CannotReadError(msg)
    for library in ("numba", "treelite"):
        if find_spec(library) is None:
            msg = f"{library} is not installed; {INSTALL}"
            raise CannotReadError(msg)
    classes = getattr(ensemble, "classes_", None)  # CatBoost's regressors have none in a list
    try:
        is_classifier = classes is not None and len(classes) and hasattr(ensemble, "predict_proba")
        found = reader(ensemble)
        found = prepend_steps(steps, found) if steps else found
    except CannotReadError:
        raise
    except Exception as error:
        msg = f"its trees cannot be read ({type(error).__name__}: {first_line(error)})"
        raise CannotReadError(msg) from error
    is_label = found.link == CLASS_LABEL and response not in RAW
    if is_label or (response == "predict" and is_classifier):
        msg = "its answer is a class label"
        raise CannotReadError(msg)
    if response not in RAW and found.link not in LINKS:
        msg = f"its link {found.link!r} is not known"
        raise CannotReadError(msg)
    is_pair = response in BY_CLASS and found.forest.n_outputs == 1
    return TreeWalker(follow_names(found, table), response, is_pair)


def prepend_steps(steps: Sequence[Any], found: Reading) -> Reading:
    """Put the steps of a pipeline before the trees, if each column goes its own way."""
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
    return replace(
        found,
        columns=places,
        transform=partial(_transform_in_turn, transforms),
        names=None if known is None else tuple(names),
    )


def _transform_in_turn(transforms: Sequence[Callable[[Any], Any]], rows: Any) -> Any:
    for transform in transforms:
        rows = transform(rows)
    return rows


def follow_names(found: Reading, table: Table) -> Reading:
    """Follow columns by their names, for a table that has those of the training elsewhere."""
    wanted, names = found.names, table.names
    if wanted is None or table.kind == "numpy" or wanted == names or set(wanted) - set(names):
        return found  # by position; a model that minds has said so at the first question
    columns = np.arange(len(wanted)) if found.columns is None else found.columns
    places = [columns[wanted.index(n)] if n in wanted else DROPPED_COLUMN for n in names]
    transform = found.transform or partial(_pick, list(wanted))
    return replace(found, columns=np.array(places, dtype=np.int64), transform=transform)


def _pick(names: list[str], rows: Any) -> Any:
    return rows[names]
