"""ONNX files, answered by onnxruntime: one matrix, or one input for each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import onnxruntime

from rhale.data import as_matrix
from rhale.errors import BadFileError, BadTableError, UnknownModelError, excerpt
from rhale.models.adapter import Adapter
from rhale.models.files.load import files_beside
from rhale.models.libraries import Answer

ERRORS_ONLY = 3  # level of onnxruntime's own log
ONNX_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
ONNX_FLOAT_TYPES = ("tensor(float)", "tensor(double)", "tensor(float16)")
TAKES_WEIGHTS = hasattr(
    onnxruntime.SessionOptions, "add_external_initializers_from_files_in_memory"
)


@dataclass(frozen=True, eq=False)
class OnnxModel(Adapter):
    """An ONNX graph."""

    session_: Any  # the loaded graph
    output: str  # the output that is explained
    # Classes, where the graph answers with a mapping from class to probability
    labels: tuple[str, ...] | None = None
    # Files that the graph names, where it was not read from a file itself
    weights: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    kind = "ONNX graph"

    @property
    def answers(self) -> Answer:
        """What the numbers are, for people."""
        return "prediction" if self.labels is None else "probability"

    @property
    def usual_outputs(self) -> tuple[int, ...] | None:
        """Of two classes, the second."""
        return (1,) if self.labels is not None and len(self.labels) == 2 else None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Columns that the graph asks for by name; None if it takes a matrix."""
        inputs = self.session_.get_inputs()
        return tuple(i.name for i in inputs) if len(inputs) > 1 else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as the bytes of the graph and of weights beside it: a session cannot."""
        path, content = self.session_._model_path, self.session_._model_bytes  # noqa: SLF001
        weights = self.weights
        if path is not None:
            content = Path(path).read_bytes()
            folder, names = Path(path).parent, files_beside(Path(path))
            weights = {name: (folder / name).read_bytes() for name in names}
        if weights and not TAKES_WEIGHTS:
            msg = (
                "weights in files beside an ONNX graph reach other processes with onnxruntime 1.24 or "
                f"newer, and this is {onnxruntime.__version__}; update it, or save the graph and its "
                "weights in one file"
            )
            raise UnknownModelError(msg)
        return _unpack, (content, weights, self.output, self.labels)

    @contextmanager
    def answer_alone(self) -> Iterator[Adapter]:
        """Answer in the thread that asks: a session of its own, threads are chosen at its start."""
        graph = self.session_._model_path or self.session_._model_bytes  # noqa: SLF001
        yield replace(self, session_=open_session(graph, self.weights, n_threads=1))

    def predict(self, rows: Any) -> Any:
        """Answers of the chosen output, shape (n_rows, n_outputs)."""
        answer = self.session_.run([self.output], self._feed(rows))[0]
        if isinstance(answer, list):  # a mapping from class to probability for each row
            return np.array([list(row.values()) for row in answer], dtype=np.float64)
        return np.asarray(answer).reshape(len(answer), -1)

    def recognise(self, rows: Any, answer: Any) -> Adapter:  # noqa: ARG002
        """Learn the names of classes from the first answer that has some."""
        if self.labels is not None:
            return self
        raw = self.session_.run([self.output], self._feed(rows))[0]
        if not isinstance(raw, list) or not raw or not isinstance(raw[0], dict):
            return self
        return replace(self, labels=tuple(str(name) for name in raw[0]))

    def _feed(self, rows: Any) -> dict[str, Any]:
        inputs = self.session_.get_inputs()
        if len(inputs) == 1:
            only = inputs[0]
            matrix = as_matrix(rows)
            width = only.shape[1] if len(only.shape) == 2 else None
            if isinstance(width, int) and width != matrix.shape[1]:
                msg = f"the ONNX graph takes {width} columns, the table has {matrix.shape[1]}"
                raise BadTableError(msg)
            return {only.name: np.ascontiguousarray(matrix, dtype=type_of(only))}
        if isinstance(rows, np.ndarray):
            msg = "the ONNX graph takes columns by name; pass a table with names"
            raise BadTableError(msg)
        frame = nw.from_native(rows, eager_only=True)
        return {i.name: _column(frame, i) for i in inputs}


def _column(frame: Any, wanted: Any) -> Any:
    """One named column, as the graph wants it: shape (n_rows, 1), or (n_rows,)."""
    if wanted.name not in frame.columns:
        msg = f"the ONNX graph wants a column {wanted.name!r}, which the table does not have"
        raise BadTableError(msg)
    values = frame[wanted.name].to_numpy()
    column = np.asarray(values, dtype=type_of(wanted))
    return column.reshape(-1, 1) if len(wanted.shape) == 2 else column


def type_of(wanted: Any) -> Any:
    """NumPy's type of an input of a graph."""
    if wanted.type not in ONNX_TYPES:
        msg = f"the ONNX graph's input {wanted.name!r} is a {wanted.type}, no matrix or column"
        raise UnknownModelError(msg)
    return ONNX_TYPES[wanted.type]


def load_onnx(path: Path) -> OnnxModel:
    """Load a graph, on the processor, quietly."""
    try:
        session = open_session(str(path))
    except Exception as error:
        msg = f"onnxruntime cannot load {path}: {excerpt(error)}"
        raise BadFileError(msg) from error
    try:
        return OnnxModel(session, choose_output(session.get_outputs()))
    except UnknownModelError as error:
        msg = f"{path} cannot be explained: {error}"
        raise UnknownModelError(msg) from error


def open_session(
    graph: str | bytes, weights: Mapping[str, bytes] | None = None, n_threads: int = 0
) -> Any:
    """A session on the processor that logs errors only."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ERRORS_ONLY
    options.intra_op_num_threads = n_threads
    if weights:
        parts = list(weights.values())
        options.add_external_initializers_from_files_in_memory(
            list(weights), parts, [len(part) for part in parts]
        )
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _unpack(
    content: bytes, weights: Mapping[str, bytes], output: str, labels: tuple[str, ...] | None
) -> OnnxModel:
    """A graph that came from another process of ours."""
    return OnnxModel(open_session(content, weights), output, labels, weights)


def choose_output(outputs: Sequence[Any]) -> str:
    """The only output; of several, probabilities of classes rather than their labels."""
    for is_wanted in (
        lambda o: o.type.startswith("seq(map("),
        lambda o: "prob" in o.name.lower() and o.type in ONNX_FLOAT_TYPES,
        lambda o: o.type in ONNX_FLOAT_TYPES,
    ):
        found = next((o.name for o in outputs if is_wanted(o)), None)
        if found:
            return str(found)
    types = ", ".join(f"{o.name}: {o.type}" for o in outputs)
    msg = f"the ONNX graph gives no numbers to explain, but {types}"
    raise UnknownModelError(msg)
