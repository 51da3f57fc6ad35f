"""Look through an exported program before torch does: raw weights, known operations, no code."""

from __future__ import annotations

import ast
import io
import json
import re
import zipfile
from dataclasses import dataclass
from typing import Any, NoReturn

from rhale.errors import BadFileError, UnsafeFileError

GRAPH, SAMPLE = "models/model.json", "data/sample_inputs/model.pt"
CONFIGS = ("data/weights/model_weights_config.json", "data/constants/model_constants_config.json")
PLAIN = ("archive_format", "archive_version", "byteorder", ".data/version")
RAW = re.compile(r"data/(weights/weight|constants/tensor)_\d+")
IGNORED = re.compile(r"\.data/serialization_id|\.format_version|\.storage_alignment|version")
WORD = re.compile(r"[\w.+\-]*")  # a name, never an expression
SENTENCE = re.compile(r"[\w ,.>+:\-]*")  # a setting of an operation, such as an einsum
ARITHMETIC = (
    "getitem|add|sub|mul|floordiv|truediv|mod|neg|pow|le|lt|ge|gt|eq|ne|and_|or_|not_|pos|abs"
)
TARGET = re.compile(
    rf"torch\.ops\.(aten|prims)\.\w+(\.\w+)?|_operator\.({ARITHMETIC})"
    r"|torch\.sym_(int|float|max|min|not|ite)|math\.(ceil|floor|trunc|sqrt)"
    r"|torch\.ops\.higher_order\.(cond|wrap_with_set_grad_enabled)"
)
FILES = re.compile(r"torch\.ops\.aten\.(from_file|save|load)\b.*")
SIZES = re.compile(
    "Symbol|Integer|Float|Rational|Add|Mul|Pow|Mod|Max|Min|Eq|Ne|Lt|Le|Gt|Ge|And|Or|Not|FloorDiv"
    "|PythonMod|CeilDiv|CleanDiv|ToFloat|TruncToInt|FloorToInt|CeilToInt|IntTrueDiv|Identity"
)
SIZE_NODES = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Load),
    *(ast.operator, ast.unaryop, ast.cmpop),
)
SIZE_NAME = re.compile(r"[a-z]{1,4}\d+")
CONTAINERS = (None, "builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict")


@dataclass(frozen=True, eq=False)
class Members:
    """The members of an inspected archive, without the folder that they stood in."""

    content: dict[str, bytes]

    def packed(self) -> io.BytesIO:
        """Pack them anew, so that what was inspected is what is read."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for name, data in self.content.items():
                archive.writestr(f"model/{name}", data)
        packed.seek(0)
        return packed


def inspected(path: str, content: bytes) -> Members:
    """Read the members of an archive and refuse all that could run code.

    Parameters
    ----------
    path : str
        For messages.
    content : bytes
        The whole file.
    """
    try:
        members = _members(path, content)
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError) as error:
        msg = f"{path} is damaged: {error}"
        raise BadFileError(msg) from error
    if GRAPH not in members or SAMPLE not in members:
        msg = f"{path} was not written by torch.export.save of torch 2.8 or newer; export it anew"
        raise BadFileError(msg)
    try:
        for name in CONFIGS:
            _check_weights(path, json.loads(members[name]))
        graph = json.loads(members[GRAPH])
        graph["guards_code"] = []  # Python that torch would compile
        _check(path, "", graph)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, BadFileError):
            raise
        msg = f"{path} is damaged: {type(error).__name__}: {error}"
        raise BadFileError(msg) from error
    members[GRAPH] = json.dumps(graph).encode()
    return Members(members)


def _members(path: str, content: bytes) -> dict[str, bytes]:
    """Members by name; anything unknown is refused, compiled code above all."""
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            name = info.filename.partition("/")[2]
            if IGNORED.fullmatch(name):
                continue
            if name not in (GRAPH, SAMPLE, *CONFIGS, *PLAIN) and not RAW.fullmatch(name):
                _refuse(path, f"a member {name!r:.80}")
            if name in found or info.compress_type != zipfile.ZIP_STORED:
                _refuse(path, f"a member {name!r:.80} that is packed or there twice")
            found[name] = archive.read(info)
    return found


def _check_weights(path: str, config: dict[str, Any]) -> None:
    for name, weight in config["config"].items():
        if weight["use_pickle"] or not re.fullmatch(r"(weight|tensor)_\d+", weight["path_name"]):
            _refuse(path, f"weights {name!r:.80} that are a pickle")


def _check(path: str, key: str, value: Any) -> None:
    """Check every text below a place in the graph by what torch does with it."""
    if isinstance(value, dict):
        if "metadata" in value:
            value["metadata"] = {}  # stack traces, of no use here
        for name, inner in value.items():
            _check_text(path, "", name)
            _check(path, name, inner)
    elif isinstance(value, list):
        for inner in value:
            _check(path, key, inner)
    elif isinstance(value, str):
        _check_text(path, key, value)


def _check_text(path: str, key: str, text: str) -> None:
    if key == "target":
        if FILES.fullmatch(text) or not TARGET.fullmatch(text):
            _refuse(path, f"the operation {text!r:.80}")
    elif key == "expr_str":
        _check_size(path, text)
    elif key in ("in_spec", "out_spec"):
        _check_containers(path, json.loads(text)[1])
    elif not (SENTENCE if key in ("as_string", "as_strings") else WORD).fullmatch(text):
        _refuse(path, f"the text {text!r:.80}")


def _check_size(path: str, text: str) -> None:
    """Allow arithmetic on sizes, and nothing else: torch evaluates these texts."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        _refuse(path, f"the size {text!r:.80}")
    calls = {id(n.func): n.func for n in ast.walk(tree) if isinstance(n, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            known = SIZES if id(node) in calls else SIZE_NAME
            allowed = known.fullmatch(node.id) is not None
        elif isinstance(node, ast.Constant):
            allowed = not isinstance(node.value, str) or bool(SIZE_NAME.fullmatch(node.value))
        else:
            allowed = isinstance(node, SIZE_NODES)
        if not allowed:
            _refuse(path, f"the size {text!r:.80}")


def _check_containers(path: str, spec: dict[str, Any]) -> None:
    if spec["type"] not in CONTAINERS:
        _refuse(path, f"the type {spec['type']!r:.80}")
    _check_text(path, "", re.sub(r'[\[\]", ]', "", spec["context"] or ""))
    for child in spec["children_spec"]:
        _check_containers(path, child)


def _refuse(path: str, what: str) -> NoReturn:
    msg = f"{path} holds {what}, which rhale does not let torch run; export a plainer model, or as ONNX"
    raise UnsafeFileError(msg)
