"""skops files: scikit-learn models that are rebuilt from a list of known types."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import skops.io

from rhale.errors import BadFileError, UnsafeFileError
from rhale.models.files.archive import repack, unpack_archive
from rhale.models.library_errors import first_line

SCHEMA = "schema.json"
FUNCTION_NODES = ("FunctionNode", "MethodNode", "OperatorFuncNode")
# of Python and of functions, what scikit-learn's own models hold
HARMLESS = (
    "collections.OrderedDict",
    "collections.defaultdict",
    "functools.partial",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "sklearn.utils.validation.check_array",
)


def load_skops(path: Path, content: bytes, trust: Sequence[str] = ()) -> Any:
    """Load a skops file whose types are all known, or trusted by name.

    Parameters
    ----------
    path : Path
        For messages.
    content : bytes
        The whole file.
    trust : sequence of str
        Full names of further types, as in `shop.steps.Rounder`.

    Notes
    -----
    The archive is unpacked here, within limits, and skops reads what was unpacked.
    """
    try:
        whole = repack(content)
        schema = _schema_of(whole)
        unknown = set(skops.io.get_untrusted_types(data=whole))
    except Exception as error:
        raise _describe_damage(path, error) from error
    _check_trust(path, sorted(unknown - set(trust)), schema)
    try:
        return skops.io.loads(whole, trusted=sorted(unknown))
    except Exception as error:
        raise _describe_damage(path, error) from error


def _schema_of(content: bytes) -> Any:
    """What the file says it is made of."""
    return json.loads(unpack_archive(content).get(SCHEMA, b""))


def _check_trust(path: Path, missing: Sequence[str], schema: Any) -> None:
    """Refuse names that nobody trusts; only classes are worth an offer."""
    if not missing:
        return
    named = {_class_path(n) for n in _nodes_of(schema) if n.get("__loader__") in FUNCTION_NODES}
    wild = [n for n in missing if n not in HARMLESS and (n in named or not _is_plain_class(n))]
    if wild:
        msg = (
            f"{path} holds functions or types that can do anything, and that skops does not know "
            f"to be safe: {', '.join(wild)}; save the model without them"
        )
        raise UnsafeFileError(msg)
    options = " ".join(f"--trust {name}" for name in missing)
    msg = (
        f"{path} makes objects of types that skops does not know to be safe: "
        f"{', '.join(missing)}. If you trust them, pass {options}"
    )
    raise UnsafeFileError(msg)


def _class_path(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """All parts of the schema that name a class or function."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "__class__" in part:
                yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _is_plain_class(name: str) -> bool:
    """Whether a name is one of a class, and not of Python's own; nothing is imported for it."""
    module, _, last = name.rpartition(".")
    if module.partition(".")[0] in sys.stdlib_module_names:
        return False
    found = getattr(sys.modules.get(module), last, None)
    return isinstance(found, type) if found is not None else last.lstrip("_")[:1].isupper()


def _describe_damage(path: Path, error: Exception) -> BadFileError:
    what = "" if isinstance(error, ValueError) else f" ({type(error).__name__})"
    return BadFileError(
        f"skops cannot load {path}{what}: {first_line(error)}. Save the model again with skops.io.dump"
    )
