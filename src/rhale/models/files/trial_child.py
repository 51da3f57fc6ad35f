"""The process in which a model file is tried: it loads the file and asks the model a little."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import numpy as np

from rhale.errors import RhaleError
from rhale.models.adapter import Adapter
from rhale.models.expected_columns import columns_of
from rhale.models.files.load import load_file
from rhale.models.library_errors import first_line
from rhale.models.trees.model import TreeModel
from rhale.models.trees.read_walker import read_walker
from rhale.models.trees.reading import CannotReadError
from rhale.models.wrap import wrap
from rhale.system.processes import (
    claimed_output,
    end_with_parent,
    is_about_memory,
    limit_this_process,
    speaker,
    usual_memory,
)
from rhale.tables import open_table

MAX_SECONDS = 600.0
WIDTHS: tuple[Callable[[Any], Any], ...] = (
    lambda model: model.n_features_in_,
    lambda model: model.num_features(),  # XGBoost
    lambda model: model.num_feature(),  # LightGBM
    lambda model: len(model.feature_names_),  # CatBoost
    lambda model: len(model.columns),  # an ONNX graph of named columns
    lambda model: model.session_.get_inputs()[0].shape[1],  # an ONNX graph of one matrix
)


def main(request: dict[str, Any]) -> None:
    """Do one trial, and say how it went."""
    limit_this_process(usual_memory(), MAX_SECONDS)
    end_with_parent()
    say = speaker(claimed_output())
    try:
        ask(load_file(request["file"], trust=request["trust"], contained=True))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent tells it
        say(error=_describe(error, request["file"]))
    else:
        say(result={})
    os._exit(0)  # no farewell of libraries, some of which hang in it


def ask(model: Any) -> None:
    """Ask a model about rows of several kinds; it may refuse them, but not end the process."""
    adapter = wrap(model)
    answered = [rows for rows in tables_for(model) if _answers(adapter, rows)]
    if answered and isinstance(adapter, TreeModel):
        with suppress(CannotReadError):
            read_walker(adapter.model, adapter.response, open_table(answered[0]))


def _answers(adapter: Adapter, rows: Any) -> bool:
    """Whether a model has an answer; rows that were made up need not fit."""
    try:
        adapter.predict(rows)
    except Exception as error:
        if is_about_memory(error):
            raise
        return False
    return True


def tables_for(model: Any) -> Iterator[Any]:
    """Two rows at a time, as wide as the model: ordinary numbers, odd ones, texts."""
    names, width = columns_of(model), width_of(model)
    for values in ((0.0, 1.0), (np.nan, -1e6), ("0", "1")):
        dtype = np.object_ if isinstance(values[0], str) else np.float64
        matrix = np.repeat(np.array(values, dtype=dtype)[:, None], width, axis=1)
        yield matrix
        if names is not None and len(names) == width and find_spec("pandas"):
            import pandas as pd

            yield pd.DataFrame(matrix, columns=list(names))


def width_of(model: Any) -> int:
    """How many columns a model takes; 1 where nothing tells."""
    for told in WIDTHS:
        with suppress(Exception):
            return int(told(model))
    return 1


def _describe(error: BaseException, file: str) -> dict[str, str]:
    """What to tell of an error: its kind and one sentence."""
    if is_about_memory(error):
        msg = f"{file} needs more memory to be loaded than this machine can spare"
        return {"kind": "ModelFileError", "message": msg}
    if isinstance(error, RhaleError):
        return {"kind": type(error).__name__, "message": str(error)}
    msg = f"{file} cannot be loaded: {type(error).__name__}: {first_line(error)}"
    return {"kind": "BadFileError", "message": msg}
