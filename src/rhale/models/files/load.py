"""Models from files: recognised by content and name, never by running what is in them."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rhale.errors import BadFileError, MissingExtraError, RhaleError, UnsafeFileError
from rhale.models.files import pickles
from rhale.models.libraries import first_line

# --- Files that XGBoost, LightGBM and CatBoost have saved, read by them: they hold numbers, no code


ESTIMATORS = {
    "classifier": "XGBClassifier",
    "regressor": "XGBRegressor",
    "ranker": "XGBRanker",
}
LIBRARY_OF = {".json": "xgboost", ".ubj": "xgboost", ".txt": "lightgbm", ".cbm": "catboost"}


def load_model(path: str | Path) -> Any:
    """Load a model that XGBoost, LightGBM or CatBoost has saved, with that library."""
    place = Path(path)
    library = LIBRARY_OF[place.suffix.lower()]
    if not place.is_file():
        found = "; it is a folder" if place.is_dir() else ""
        msg = f"there is no model file {str(path)!r}{found}; give the path of a saved model"
        raise BadFileError(msg)
    if find_spec(library) is None:
        msg = f"{place.name} is a model of {library}; pip install {library} to load it"
        raise MissingExtraError(msg)
    try:
        return _LOADERS[place.suffix.lower()](place.read_bytes())
    except Exception as error:
        msg = (
            f"{library} cannot load {str(path)!r}: {first_line(error)}. Is it a whole file that "
            f"{library}'s save_model has written? Save the model again"
        )
        raise BadFileError(msg) from error


def _load_xgboost(content: bytes) -> Any:
    """A Booster, or the estimator that saved it: that one stops at its best round."""
    library = import_module("xgboost")
    booster = library.Booster()
    booster.load_model(bytearray(content))
    written = booster.attr("scikit_learn")
    if written is None:
        return booster
    kind = json.loads(written).get("_estimator_type", "regressor")
    estimator = getattr(library, ESTIMATORS[kind])()
    estimator.load_model(bytearray(content))
    return estimator


def _load_lightgbm(content: bytes) -> Any:
    return import_module("lightgbm").Booster(model_str=content.decode())


def _load_catboost(content: bytes) -> Any:
    """Return the estimator that predicts as the saved model did: probabilities, counts or sums."""
    library = import_module("catboost")
    with TemporaryDirectory() as folder:  # from bytes, CatBoost forgets its settings
        path = str(Path(folder) / "model.cbm")
        Path(path).write_bytes(content)
        model = library.CatBoost().load_model(path)
        loss = str(model.get_all_params().get("loss_function", "")).partition(":")[0]
        if len(model.classes_):
            return library.CatBoostClassifier().load_model(path)
        linked = loss in ("Poisson", "Tweedie", "RMSEWithUncertainty")
        return library.CatBoostRegressor().load_model(path) if linked else model


_LOADERS = {
    ".json": _load_xgboost,
    ".ubj": _load_xgboost,
    ".txt": _load_lightgbm,
    ".cbm": _load_catboost,
}


MODEL_FORMATS = {
    ".onnx": "ONNX",
    ".json": "XGBoost JSON",
    ".ubj": "XGBoost UBJ",
    ".txt": "LightGBM text",
    ".cbm": "CatBoost",
    ".skops": "skops",
}
PROGRAM = "torch exported program"  # refused: reading it resolves names and unpickles
XGBOOST = {"XGBoost JSON", "XGBoost UBJ"}  # both begin with the same bracket
LIBRARIES = {  # what reads a kind, and how to get it
    "ONNX": ("onnxruntime", 'pip install "rhale[onnx]"'),
    "skops": ("skops", 'pip install "rhale[cli]"'),
}
LOCATION = re.compile(rb"\n\x08location\x12([\x01-\x7f])", re.DOTALL)  # then a name so long
IMPORT_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def load_file(
    path: str | Path,
    *,
    trust: Sequence[str] = (),
    allow_pickle: str | None = None,
) -> Any:
    """Load a model from a file, without running code that the file brings.

    Parameters
    ----------
    path : str or Path
        ONNX, XGBoost JSON or UBJ, LightGBM text, CatBoost cbm, or skops.
    trust : sequence of str
        Types that a skops file may make although skops does not know them.
    allow_pickle : str, optional
        "sha256:" and the hash of the one pickle that may be read.

    Returns
    -------
    object
        What `rhale.explain` takes as a model.

    Notes
    -----
    No code comes with the file, but its library may crash on a damaged one, now or when it is asked,
    and then this process ends. Calls that are given the path do all that in a process of its own.

    Examples
    --------
    >>> try:
    ...     load_file("no-such-model.onnx")
    ... except BadFileError as error:
    ...     print(error)
    there is no model file 'no-such-model.onnx'; give the path of a saved model
    """
    place = Path(path)
    require_file(place)
    # the bytes that tell what a file is: the first ones, and the whole of an archive
    with place.open("rb") as file:
        content = file.read(pickles.MODEL_HEADER_BYTES)
        if content[:2] == b"PK":
            content += file.read()
    writer = pickles.find_pickle(content)
    is_program = place.suffix.lower() == ".pt2" or kind_of_content(content) == PROGRAM
    if is_program and writer is None:
        msg = (
            f"{path} is an exported program of torch, which rhale does not read: export the module "
            "to ONNX (torch.onnx.export), or load it yourself and pass the module"
        )
        raise UnsafeFileError(msg)
    if writer is None and allow_pickle is not None and place.suffix.lower() not in MODEL_FORMATS:
        writer = "joblib"  # which reads its own compressed files; no reader of ours would
    if writer and allow_pickle is None:
        pickles.refuse_pickle(str(path), place.read_bytes(), writer)
    if writer:
        return pickles.load_pickle(str(path), place.read_bytes(), writer, str(allow_pickle))
    kind = kind_of_file(place, content)
    library, install = LIBRARIES.get(kind, (None, ""))
    if library and find_spec(library) is None:
        msg = f"{path} is a file of kind {kind}, which {library} reads: {install}"
        raise MissingExtraError(msg)
    if kind == "ONNX":
        return import_module("rhale.models.onnx").load_onnx(place)
    if kind == "skops":
        return import_module("rhale.models.files.skops").load_skops(place, content, trust)
    return load_model(place)


def files_beside(place: Path) -> list[str]:
    """Files in an ONNX graph's own folder that may hold its weights, by the graph's names for them."""
    if place.suffix.lower() != ".onnx" or not place.is_file():
        return []
    content, folder = place.read_bytes(), place.parent.resolve()
    ends = [(match.end(), match[1][0]) for match in LOCATION.finditer(content)]
    names = dict.fromkeys(content[end : end + n].decode(errors="replace") for end, n in ends)
    # other names are numbers that look like the beginning of one
    found = [name for name in names if name.isprintable()]
    inside = {name: (folder / name).resolve() for name in found}
    return [n for n, path in inside.items() if path.is_relative_to(folder) and path.is_file()]


def require_file(place: Path) -> None:
    """Refuse what is not a regular file: a pipe, for one, would be waited for."""
    if place.is_file():
        return
    hint = "; it is a folder" if place.is_dir() else ""
    hint = "; it is not a regular file" if place.exists() and not hint else hint
    msg = f"there is no model file {str(place)!r}{hint}; give the path of a saved model"
    raise BadFileError(msg)


def kind_of_file(path: Path, content: bytes) -> str:
    """Say what a model file is; its content and its name must agree."""
    by_name, by_content = MODEL_FORMATS.get(path.suffix.lower()), kind_of_content(content)
    if b'"rhale_format"' in content[:200]:
        msg = f"{path} is a saved explanation, not a model: rhale report {path} shows it"
        raise BadFileError(msg)
    if by_name is None:
        hint = f" By its content it is {by_content}; rename it." if by_content else ""
        msg = (
            f"{path} is of no kind that rhale reads.{hint} It reads {list_kinds()}; pickles, also "
            "compressed ones, only by their hash (rhale explain --allow-pickle)"
        )
        raise BadFileError(msg)
    if by_content and by_name != by_content and {by_name, by_content} - XGBOOST:
        msg = (
            f"rhale cannot load {str(path)!r}: it is named as {by_name}, but its content is "
            f"{by_content}"
        )
        raise BadFileError(msg)
    return by_name


def kind_of_content(content: bytes) -> str | None:
    """Say what the first bytes, or the members of an archive, tell; None where they do not."""
    if content[:4] == b"CBM1":
        return "CatBoost"
    if content[:5] == b"tree\n" or content[:6] == b"tree\r\n":
        return "LightGBM text"
    if content[:1] == b"{":
        return "XGBoost JSON"
    if content[:1] == b"\x08":
        return "ONNX"
    if content[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                names = archive.namelist()
        except pickles.ARCHIVE_ERRORS:
            return None
        if "schema.json" in names:
            return "skops"
        if any(name.endswith("archive_format") for name in names):
            return PROGRAM
        return None
    return None


def list_kinds() -> str:
    """The kinds of model files, for messages."""
    return ", ".join(f"{kind} ({suffix})" for suffix, kind in MODEL_FORMATS.items())


def is_named_object(model: str) -> bool:
    """Tell whether a text names an object of a module, as in `package.module:model`.

    Examples
    --------
    >>> is_named_object("shop.models:price"), is_named_object("model.onnx")
    (True, False)
    """
    return IMPORT_REFERENCE.fullmatch(model) is not None and not Path(model).exists()


def load_named(model: str) -> Any:
    """Import an object, from the folder of work too."""
    module, _, name = model.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = import_module(module)
    except RhaleError:
        raise
    except Exception as error:
        msg = f"the module {module!r} cannot be imported: {type(error).__name__}: {error}"
        raise BadFileError(msg) from error
    for part in name.split("."):
        if not hasattr(found, part):
            msg = f"{module!r} has no {name!r}"
            raise BadFileError(msg)
        found = getattr(found, part)
    return found
