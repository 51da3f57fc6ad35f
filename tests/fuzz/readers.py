"""What is tried: each reader, its good files, its damage, and what is done with a file.

A new reader is a maker in `samples.py` and one line in `READERS`.
"""

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import lies, samples
from tests.fuzz import mutations as m
from tests.fuzz.mutations import Mutation

import rhale
from rhale.cli.parent import Request, ask_child
from rhale.data.files.table import open_files
from rhale.errors import BadFileError, RhaleError
from rhale.models.files.load import load_file

TRUSTED = (  # what the good skops files need
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
)
N_EXTREME = 100


@dataclass(frozen=True)
class Reader:
    """One kind of file.

    Attributes
    ----------
    make : callable
        Fills a folder with one folder for each variant.
    ending : str or tuple of str
        How the name of the file to read ends; "" where it is the folder of the variant.
    mutations : sequence of Mutation
        What is done to a file; the more often one is listed, the more often it is done.
    load : callable
        Reads a path: an error here must name it. `contained=False` where all of it is to be done by
        a child of rhale, as for users.
    use : callable
        Takes what was read and the name of the variant, and does what users do with it.
    libraries : tuple of str
        Modules to import before forking.
    has_child : bool
        Whether users have such files read by a child of rhale; what ends a fork is then read once
        more, by that child.
    cold : tuple of str
        Variants that are not read before forking: their library starts threads for good.
    """

    make: Callable[[Path], None]
    ending: str | tuple[str, ...]
    mutations: Sequence[Mutation]
    load: Callable[..., Any]
    use: Callable[[Any, str], None]
    libraries: tuple[str, ...] = ()
    has_child: bool = False
    cold: tuple[str, ...] = ()


def load_model(path: Path, *, contained: bool = True) -> Any:
    """Load a model, or have it explained by a child of the command, which gives none."""
    if contained:
        return load_file(path, trust=TRUSTED)
    rows = path.with_name("rows.csv")
    samples.MIXED.to_csv(rows, index=False)
    request = Request("explain", str(path), (str(rows),), trust=TRUSTED, max_memory=2**31)
    try:
        ask_child(replace(request, max_seconds=20.0), lambda _: None)
    except RhaleError as error:
        msg = f"{path}: {error}"
        raise BadFileError(msg) from error
    return None


def ask_model(model: Any, variant: str) -> None:
    """Predict rows with gaps and extremes, then explain."""
    if model is None:  # a child has done it
        return
    table = samples.MIXED if variant == "categories" else samples.NUMBERS
    if variant == "categories" and "lightgbm" in type(model).__module__:
        table = table[["city", "a"]]
    rng = np.random.default_rng(0)
    wild = table.iloc[rng.integers(0, len(table), N_EXTREME)].reset_index(drop=True)
    for name in wild.columns.difference(["city"]):
        numbers = rng.choice([np.nan, 0.0, 1e30, -1e30, 3e9, 1.0, np.inf], N_EXTREME)
        wild[name] = np.where(rng.random(N_EXTREME) < 0.5, numbers, wild[name])
    with suppress(Exception):  # what a library says of such rows is its own affair
        rhale.models.wrap(model).predict(wild)
    rhale.explain(model, table)


def load_table(path: Path, **_: Any) -> Any:
    """Open a table: its kind, its columns, its number of rows."""
    return open_files(str(path))


def explain_table(table: Any, variant: str) -> None:  # noqa: ARG001
    """Explain a function of whatever columns there are."""
    rhale.explain(samples.answer, table)


def load_explanation(path: Path, **_: Any) -> Any:
    """Load numbers."""
    return rhale.load(path)


def show_explanation(fx: Any, variant: str) -> None:  # noqa: ARG001
    """All that is done with saved numbers: words, tables, a page, a comparison."""
    with redirect_stdout(io.StringIO()):
        print(fx, repr(fx))
        print(fx.explained_variance)
    fx.to_frame()
    fx.summary()
    fx._repr_html_()
    fx.report("page.html")


def load_checkpoint(path: Path, **_: Any) -> Any:
    """Go on with an interrupted run."""
    return samples.resume(path)


def use_nothing(found: Any, variant: str) -> None:
    """Nothing is left to do."""


JSON = (*[m.lie_in_json] * 12, *[m.change_json_numbers] * 12, *m.TEXT)
NUMBERS = (*[m.change_stored_number] * 8, *m.TEXT)
ZIP = (*[m.lie_in_zip] * 12, m.damage_end, m.truncate, *m.BYTES)
PARQUET = (*[m.damage_end] * 6, lies.lie_in_notes, *m.BYTES)
ARROW = (*[m.damage_end] * 2, *[m.damage_start] * 2, *[m.change_stored_number] * 4, *m.BYTES)
model = partial(Reader, load=load_model, use=ask_model, has_child=True)
table = partial(Reader, load=load_table, use=explain_table, libraries=("pyarrow.dataset",))

READERS = {
    "xgboost-json": model(
        make=partial(samples.make_xgboost, ending=".json"),
        ending=".json",
        mutations=JSON,
        libraries=("xgboost", "treelite", "sklearn.ensemble"),
    ),
    "xgboost-ubj": model(
        make=partial(samples.make_xgboost, ending=".ubj"),
        ending=".ubj",
        mutations=NUMBERS,
        libraries=("xgboost", "sklearn.ensemble"),
    ),
    "lightgbm": model(
        make=samples.make_lightgbm,
        ending=".txt",
        mutations=(*[lies.lie_in_lines] * 16, *m.TEXT),
        libraries=("lightgbm", "sklearn.ensemble"),
    ),
    "catboost": model(
        make=samples.make_catboost,
        ending=".cbm",
        mutations=(*NUMBERS, m.damage_end),
        libraries=("catboost",),
    ),
    "onnx": model(
        make=samples.make_onnx,
        ending=".onnx",
        mutations=(*[lies.lie_in_graph] * 8, *m.BYTES),
        libraries=("onnx", "onnxruntime"),
    ),
    "skops": model(
        make=samples.make_skops,
        ending=".skops",
        mutations=ZIP,
        libraries=("skops.io", "sklearn.ensemble"),
    ),
    "parquet": table(make=samples.make_parquet, ending=".parquet", mutations=PARQUET),
    "arrow": table(
        make=samples.make_arrow,
        ending=(".arrow", ".feather"),
        mutations=(*ARROW, lies.lie_in_notes),
    ),
    "stream": table(make=samples.make_stream, ending=".arrow", mutations=ARROW),
    "csv": table(
        make=partial(samples.make_csv, ending=".csv"),
        ending=".csv",
        mutations=(*[lies.lie_in_rows] * 8, *m.TEXT),
    ),
    "csv-gz": table(
        make=partial(samples.make_csv, ending=".csv.gz"),
        ending=".csv.gz",
        mutations=(*[lies.lie_in_gzip] * 8, *m.BYTES),
    ),
    "explanation": Reader(
        make=samples.make_explanations,
        ending=".json",
        mutations=JSON,
        load=load_explanation,
        use=show_explanation,
    ),
    "checkpoint": Reader(
        make=samples.make_checkpoints,
        ending="",
        mutations=(*[lies.lie_in_checkpoint] * 16, *m.BYTES),
        load=load_checkpoint,
        use=use_nothing,
    ),
}


def path_in(reader: Reader, folder: Path) -> Path:
    """What is to be read in the folder of a variant."""
    if not reader.ending:
        return folder
    return next(p for p in sorted(folder.iterdir()) if p.name.endswith(reader.ending))
