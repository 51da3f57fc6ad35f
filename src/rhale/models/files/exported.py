"""Exported programs of torch (.pt2): a graph of known operations, run one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from rhale.errors import BadFileError, UnsafeFileError, WrongShapeError
from rhale.models.files.graph_pt2 import (
    ATEN,
    Graph,
    Name,
    Place,
    Step,
    Word,
    names_in,
    refuse,
    refuse_damage,
)
from rhale.models.files.inspect_pt2 import ProgramParts, Weight, inspect_program
from rhale.models.files.measure_pt2 import BY_VALUES, limit_for, measure
from rhale.models.files.operations import (
    ARITHMETIC,
    BRANCH,
    CONDITIONS,
    GRAD_MODE,
    IN_PLACE,
    INSTEAD,
    calculate,
)
from rhale.models.library_errors import first_line
from rhale.models.torch import TorchModel

HOW = "torch.export.export(model, (rows,), dynamic_shapes=({0: torch.export.Dim('rows')},))"
OLDEST = (2, 6)  # versions before could be made to run code by files that were thought safe
EVALUATION = "call model.eval() before torch.export.export, or pass the module itself in Python"
VARYING = BY_VALUES | {"index.Tensor", BRANCH}  # sizes that follow from values, not from counts
DROPPED = ("pin_memory",)  # asks for memory of another kind, and changes no answer


@dataclass(frozen=True, eq=False)
class Call:
    """A step that is ready to be run.

    Attributes
    ----------
    step : Step
        What the file says.
    operation : callable or None
        Of torch; None for arithmetic on sizes and for steps that hold graphs.
    by_position : list
        Arguments, with names for what is computed before.
    by_name : dict
        More of them.
    finished : tuple of str
        Values that no later step needs.
    """

    step: Step
    operation: Any
    by_position: list[Any]
    by_name: dict[str, Any]
    finished: tuple[str, ...]

    @property
    def name(self) -> str:
        """The operation of aten with its overload."""
        name = self.step.target.removeprefix(ATEN)
        return INSTEAD.get(name, name)


@dataclass(frozen=True, eq=False)
class Routine:
    """A graph that is ready to be run."""

    inputs: tuple[str, ...]
    calls: list[Call]
    outputs: tuple[Any, ...]


class Program(torch.nn.Module):
    """An exported program with the manners of a module.

    Parameters
    ----------
    program : Inspected
        Maps (n_rows, n_features) to (n_rows,) or (n_rows, n_outputs).
    """

    def __init__(self, program: ProgramParts) -> None:
        super().__init__()
        self.program, self.rows = program, program.rows
        self.routine = prepare(program.graph)
        names = {call.name for call in all_calls(self.routine)}
        self.changes, self.varies = bool(names & IN_PLACE), bool(names & VARYING)
        self.measured: set[int] = set()  # numbers of rows for which sizes are known
        self.dtype = getattr(torch, self.rows.dtype)
        like = self.dtype if self.dtype.is_floating_point else torch.float64
        # The first parameter tells in which precision to ask.
        self.register_parameter("like", torch.nn.Parameter(torch.zeros(0, dtype=like)))
        self.places = {name: f"weight_{k}" for k, name in enumerate(program.weights)}
        self._hold(program)

    def _hold(self, program: ProgramParts) -> None:
        """Take the weights; those that learned count as such, or slopes of zero were none."""
        flat = {name: as_bytes(content) for name, content in program.content.items()}
        for name, weight in program.weights.items():
            tensor = as_tensor(weight, flat[weight.member])
            if weight.is_trained and (tensor.is_floating_point() or tensor.is_complex()):
                self.register_parameter(self.places[name], torch.nn.Parameter(tensor))
            else:
                self.register_buffer(self.places[name], tensor)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as what the file said: operations of torch cannot be pickled."""
        return Program, (self.program,)

    def forward(self, rows: torch.Tensor) -> Any:
        """Ask; two rows at least, because programs are made for more than one."""
        doubled = len(rows) == 1 and self.rows.sizes[0] != (1, 1)
        asked = (torch.cat([rows, rows]) if doubled else rows).to(self.dtype)
        self._check_shape(asked)
        if self.changes and asked.data_ptr() == rows.data_ptr():
            asked = asked.clone()  # the caller's rows stay as they are
        weights = {name: getattr(self, place) for name, place in self.places.items()}
        answers = self._run(asked).ask(self.routine, {**weights, self.rows.name: asked})
        self.measured.add(len(asked))
        found = [a[:1] if doubled and isinstance(a, torch.Tensor) else a for a in answers]
        return found[0] if len(found) == 1 else tuple(found)

    def _run(self, asked: torch.Tensor) -> Run:
        known = len(asked) in self.measured and not self.varies
        most = None if known else limit_for(len(asked), asked.device)
        weights = [*self.parameters(), *self.buffers()]
        fixed = frozenset(w.untyped_storage().data_ptr() for w in weights if w.numel())
        return Run(asked.device, fixed, most)

    def _check_shape(self, asked: torch.Tensor) -> None:
        """Refuse rows for which the program was not made."""
        if asked.ndim != len(self.rows.sizes):
            msg = (
                f"the program was exported for {len(self.rows.sizes)} dimensions, rows of a table "
                "have 2; export it with one matrix of rows as input"
            )
            raise WrongShapeError(msg)
        for k, ((fewest, most), size) in enumerate(zip(self.rows.sizes, asked.shape, strict=True)):
            if size < fewest or (most is not None and size > most):
                what = f"at least {fewest}" if most is None else f"{fewest} to {most}"
                what = f"exactly {most}" if fewest == most else what
                msg = f"the program was exported for {what} {'columns' if k else 'rows'}"
                hint = f", not {size}" if k else f"; make it with {HOW}"
                raise WrongShapeError(msg + hint)


@dataclass(frozen=True)
class Run:
    """One run of a program.

    Attributes
    ----------
    device : torch.device
        Where the rows are.
    fixed : frozenset of int
        Where the weights are, which no step may change.
    most : int or None
        Bytes that one tensor may have; None where that is known to hold.
    """

    device: torch.device
    fixed: frozenset[int]
    most: int | None

    def ask(self, routine: Routine, values: dict[str, Any]) -> list[Any]:
        """Run all steps, and forget what no later one needs."""
        values = {name: values[name] for name in routine.inputs}
        for call in routine.calls:
            bind(call.step.outputs, self._result(call, values), values)
            for name in call.finished:
                del values[name]
        return [self._fill(output, values) for output in routine.outputs]

    def _result(self, call: Call, values: dict[str, Any]) -> Any:
        by_position = [self._fill(value, values) for value in call.by_position]
        if call.step.target in ARITHMETIC:
            return calculate(call.step.target, by_position)
        if call.step.target == BRANCH:
            return self._branch(*by_position)
        if call.step.target == GRAD_MODE:
            return self._in_mode(*by_position)
        by_name = {name: self._fill(value, values) for name, value in call.by_name.items()}
        if self.most is not None:
            measure(call.operation, call.name, (by_position, by_name), self.most)
        if call.name in IN_PLACE:
            self._check_change(call, by_position[0])
        return call.operation(*by_position, **by_name)

    def _branch(self, condition: Any, one: Routine, other: Routine, given: list[Any]) -> list[Any]:
        chosen = one if bool(condition) else other
        return self.ask(chosen, dict(zip(chosen.inputs, given, strict=True)))

    def _in_mode(self, mode: bool, routine: Routine, *given: Any) -> list[Any]:  # noqa: FBT001
        """Run some steps with or without a record for slopes, as the module did."""
        with torch.set_grad_enabled(mode):
            return self.ask(routine, dict(zip(routine.inputs, given, strict=True)))

    def _check_change(self, call: Call, tensor: Any) -> None:
        """Let a step change what the program made itself, never its weights or views of them."""
        if tensor.numel() and tensor.untyped_storage().data_ptr() in self.fixed:
            msg = f"the exported program changes its own weights in {call.name}; {EVALUATION}"
            raise UnsafeFileError(msg)

    def _fill(self, value: Any, values: dict[str, Any]) -> Any:
        if isinstance(value, Name):
            return values[value.name]
        if isinstance(value, Place):
            return self.device
        return [self._fill(one, values) for one in value] if isinstance(value, list) else value


def bind(names: tuple[Any, ...], result: Any, values: dict[str, Any]) -> None:
    """Give names to what an operation answered: one thing, several, or a list."""
    if len(names) == 1 and not isinstance(result, (list, tuple)):
        result = [result]
    elif len(names) == 1 and isinstance(names[0], tuple):
        names = names[0]
    for name, one in zip(names, result or (), strict=True):
        if isinstance(name, tuple):
            values |= zip(name, one, strict=True)
        elif name is not None:
            values[name] = one


def prepare(graph: Graph) -> Routine:
    """Find the operations of a graph, and when each value is needed last."""
    needed = set(_names(graph.outputs))
    calls = []
    for step in reversed(graph.steps):
        here = {*_names([value for _, value in step.arguments]), *names_in(step.outputs)}
        calls.append(_prepare_step(step, tuple(here - needed)))
        needed |= here
    return Routine(graph.inputs, calls[::-1], graph.outputs)


def all_calls(routine: Routine) -> Iterator[Call]:
    """Every call of a routine, and of those inside."""
    for call in routine.calls:
        yield call
        for value in call.by_position:
            if isinstance(value, Routine):
                yield from all_calls(value)


def _names(values: Any) -> Iterator[str]:
    for value in values:
        if isinstance(value, Name):
            yield value.name
        elif isinstance(value, list):
            yield from _names(value)


def _prepare_step(step: Step, finished: tuple[str, ...]) -> Call:
    if not step.target.startswith(ATEN) or step.target in ARITHMETIC:
        values = [prepare(v) if isinstance(v, Graph) else v for _, v in step.arguments]
        return Call(step, None, values, {}, finished)
    name = step.target.removeprefix(ATEN)
    operation = find_operation(INSTEAD.get(name, name))
    given = {n: _resolve(value) for n, value in step.arguments if n not in DROPPED}
    known = {argument.name: argument for argument in operation._schema.arguments}  # noqa: SLF001
    if len({n for n, _ in step.arguments}) != len(step.arguments) or set(given) - set(known):
        refuse_damage(f"{name} has other arguments than torch gives it")
    _check_conditions(name, given, known)
    if "device" in known:
        given["device"] = Place()
    by_position = []
    for argument in known.values():
        if argument.kwarg_only or argument.name not in given:
            break
        by_position.append(given.pop(argument.name))
    return Call(step, operation, by_position, given, finished)


def _check_conditions(name: str, given: dict[str, Any], known: dict[str, Any]) -> None:
    """Hold an operation to what it does without dice and without memory."""
    wanted = CONDITIONS.get(name, ())
    found = [given.get(n, known[n].default_value) for n, _ in wanted]
    if wanted and not any(f == value for f, (_, value) in zip(found, wanted, strict=True)):
        argument, value = wanted[0]
        refuse(f"the operation {name!r} without {argument}={value}", EVALUATION)


@cache
def find_operation(name: str) -> Any:
    """An operation of the list, as this torch has it.

    Parameters
    ----------
    name : str
        With its overload, as in "relu.default".
    """
    packet, _, overload = name.partition(".")
    try:
        return getattr(getattr(torch.ops.aten, packet), overload)
    except AttributeError as error:
        msg = f"holds the operation {name!r}, which torch {torch.__version__} does not have"
        raise BadFileError(msg) from error


def _resolve(value: Any) -> Any:
    return getattr(torch, value.name) if isinstance(value, Word) else value


def as_bytes(content: bytearray) -> torch.Tensor:
    """The bytes of a member as a tensor that shares them."""
    if not content:
        return torch.zeros(0, dtype=torch.uint8)
    return torch.frombuffer(content, dtype=torch.uint8)


def as_tensor(weight: Weight, content: torch.Tensor) -> torch.Tensor:
    """A look at the bytes of a member; the inspection made sure that it stays inside."""
    dtype = getattr(torch, weight.dtype)
    flat = content != 0 if dtype == torch.bool else content.view(dtype)
    return flat.as_strided(weight.sizes, weight.strides, weight.offset)


def load_exported(path: Path, content: bytes) -> TorchModel:
    """Load a program after an inspection of everything in the file.

    Parameters
    ----------
    path : Path
        For messages.
    content : bytes
        The whole file.

    Notes
    -----
    `torch.export.load` reads parts of such files as pickles, resolves names in them to any
    function, evaluates sizes, and compiles the graph. Therefore it is never called: `inspect_program`
    reads raw weights and a graph of listed operations, and `Program` runs these one by one.
    """
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < OLDEST:
        msg = f"{path} needs torch 2.6 or newer, and this is {torch.__version__}; upgrade torch"
        raise BadFileError(msg)
    try:
        return TorchModel(Program(inspect_program(content)).eval())
    except BadFileError as error:
        msg = f"{path} {error}"
        raise type(error)(msg) from error
    except Exception as error:
        msg = f"torch cannot load {path}: {type(error).__name__}: {first_line(error)}"
        raise BadFileError(msg) from error
