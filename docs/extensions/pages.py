"""What a page holds: blocks of code, run one after the other as a reader would type them.

A block opens with its language and, where it must, a word or two more::

    python             is run; what it prints and draws is shown below it
    python quiet       is run; nothing is shown
    python fold        is run; the code is folded away, what it gives is shown
    python needs=ray   is run where these modules (with commas between) are installed
    sh                 lines that begin with "rhale " are run, others are for the reader

All blocks of a page share their names and one empty folder. A block that raises ends the page.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

FENCE = re.compile(
    r"^(?P<tick>```+)(?P<language>\w+)(?P<words>[^\n`]*)\n(?P<code>.*?)^(?P=tick)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
WORDS = {"quiet", "fold"}
RUN = ("python", "sh")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and where it stands in the text."""

    language: str
    words: frozenset[str]
    needs: tuple[str, ...]
    code: str
    line: int
    start: int
    end: int

    def missing(self) -> list[str]:
        """Modules that the block needs and that are not installed here."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


@dataclass(frozen=True)
class Shown:
    """What one block gave: its text, its figures, or why it was not run."""

    block: Block
    printed: str = ""
    figures: list[Figure] = field(default_factory=list)
    not_run: str = ""


def blocks_of(text: str) -> list[Block]:
    """All blocks of a page that name a language."""
    return [_block(text, found) for found in FENCE.finditer(text)]


def _block(text: str, found: re.Match[str]) -> Block:
    words = found["words"].split()
    needs = [word.removeprefix("needs=") for word in words if word.startswith("needs=")]
    plain = frozenset(word for word in words if not word.startswith("needs="))
    line = text.count("\n", 0, found.start("code"))
    if found["language"] in RUN and plain - WORDS:
        msg = (
            f"line {line}: a block knows {sorted(WORDS)} and needs=..., not {sorted(plain - WORDS)}"
        )
        raise ValueError(msg)
    return Block(
        language=found["language"],
        words=plain,
        needs=tuple(name for part in needs for name in part.split(",")),
        code=found["code"],
        line=line,
        start=found.start(),
        end=found.end(),
    )


def run_page(path: Path, folder: Path) -> Iterator[Shown]:
    """Run the blocks of a page in a folder, and say what each gives as it is done.

    Figures are closed when the next block begins.
    """
    names: dict[str, Any] = {"__name__": "__page__"}
    blocks = [b for b in blocks_of(path.read_text(encoding="utf-8")) if b.language in RUN]
    with mpl.rc_context({"backend": "agg"}), contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody should meet a warning by typing what a page says
        warnings.filterwarnings("ignore", ".*joblib will operate in serial mode")
        for block in blocks:
            missing = block.missing()
            if missing:
                yield Shown(block, not_run=f"needs {', '.join(missing)}")
            elif block.language == "sh":
                yield Shown(block, run_commands(block.code))
            else:
                printed = run_python(block, str(path), names)
                yield Shown(block, printed, [plt.figure(n) for n in plt.get_fignums()])
                plt.close("all")


def run_python(block: Block, path: str, names: dict[str, Any]) -> str:
    """Run a block as a notebook would: the value of a last line is printed, too.

    Annotations of this file are text; those of a page are what they say (`dont_inherit`).
    """
    tree = ast.parse("\n" * block.line + block.code, path)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, path, "exec", dont_inherit=True), names)  # noqa: S102 - our own page
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), path, "eval", dont_inherit=True)
            value = eval(code, names)  # noqa: S307 - as above
            if value is not None and not _is_picture(value):
                printed.write(f"{value!r}\n")
    return printed.getvalue()


def _is_picture(value: Any) -> bool:
    """Whether a value is an artist of Matplotlib, or several: the figure tells more."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_is_picture(one) for one in value)
    return type(value).__module__.startswith(("matplotlib", "rhale.plots"))


def run_commands(code: str) -> str:
    """Run the lines of a shell block that call rhale; the text of all of them."""
    lines = code.replace("\\\n", " ").splitlines()
    done = [run_command(line) for line in lines if line.startswith("rhale ")]
    return "".join(done)


def run_command(line: str) -> str:
    """Run one command line of rhale in a process of its own."""
    done = subprocess.run(  # noqa: S603 - our own page
        [sys.executable, "-m", "rhale.cli", *shlex.split(line, comments=True)[1:]],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        msg = f"{line} ended with {done.returncode}: {done.stderr}"
        raise RuntimeError(msg)
    return done.stdout
