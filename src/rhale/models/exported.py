"""Exported programs of torch (.pt2): a graph of known operations, loaded after an inspection."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from rhale.errors import BadFileError, UnsafeFileError, WrongShapeError
from rhale.models.inspect_pt2 import SAMPLE, inspected
from rhale.models.read_trees import first_line
from rhale.models.torch import TorchModel

HOW = "torch.export.export(model, (rows,), dynamic_shapes=({0: torch.export.Dim('rows')},))"


class Program(torch.nn.Module):
    """An exported program with the manners of a module.

    Parameters
    ----------
    program : torch.export.ExportedProgram
        Maps (n_rows, n_features) to (n_rows,) or (n_rows, n_outputs).
    """

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        super().__init__()
        self.program = program
        self.calls = [program.module()]  # in a list: a program knows no evaluation mode to switch
        self.example = _input_of(program)
        if self.example.is_floating_point():  # tells in which precision to ask
            self.register_parameter(
                "like", torch.nn.Parameter(torch.zeros(0, dtype=self.example.dtype))
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as the program's own file: what calls it cannot be pickled."""
        packed = io.BytesIO()
        torch.export.save(self.program, packed)
        return _unpacked, (packed.getvalue(),)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Ask; two rows at least, because programs are made for more than one."""
        asked = torch.cat([rows, rows]) if len(rows) == 1 else rows
        try:
            answer: torch.Tensor = self.calls[0](asked.to(self.example.dtype))
        except (AssertionError, RuntimeError) as error:
            expected: Any = self.example.shape[0]  # a symbol, if any number will do
            if isinstance(expected, int) and expected != len(asked):
                msg = f"the program was exported for exactly {expected} rows; make it with {HOW}"
                raise WrongShapeError(msg) from error
            raise
        return answer[:1] if len(rows) == 1 else answer


def _unpacked(content: bytes) -> Program:
    """A program that came from another process of ours, ready to be asked."""
    program = Program(torch.export.load(io.BytesIO(content)))
    return program.eval()


def _input_of(program: torch.export.ExportedProgram) -> torch.Tensor:
    """The one tensor that the program takes, without its values."""
    wanted = set(program.graph_signature.user_inputs)
    found = [
        n.meta["val"] for n in program.graph.nodes if n.op == "placeholder" and n.name in wanted
    ]
    if len(found) != 1 or not isinstance(found[0], torch.Tensor):
        msg = f"the program takes {len(found)} inputs; rhale asks programs of one matrix of rows"
        raise BadFileError(msg)
    return found[0]


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
    torch reads parts of such files as pickles, and resolves names in them to any function.
    Therefore a file is not given to torch as it is: `inspected` packs it anew, from raw weights
    and from a graph of known operations, and what is neither is refused.
    """
    try:
        members = inspected(str(path), content)
        torch.load(io.BytesIO(members.content[SAMPLE]), weights_only=True)
    except (UnsafeFileError, BadFileError):
        raise
    except Exception as error:
        msg = f"{path} holds example rows that are more than tensors: {first_line(error)}"
        raise UnsafeFileError(msg) from error
    try:
        return TorchModel(Program(torch.export.load(members.packed())))
    except BadFileError:
        raise
    except Exception as error:
        msg = f"torch cannot load {path}: {type(error).__name__}: {first_line(error)}"
        raise BadFileError(msg) from error
