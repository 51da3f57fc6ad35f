"""For Sphinx: every page is run as it is read; what a block prints and draws stands below it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from pages import Shown, blocks_of, run_page
from sphinx.application import Sphinx
from sphinx.util import logging

PICTURES = "_live"  # of the source folder; not kept
DOTS_PER_INCH = 144
LOGGER = logging.getLogger(__name__)


def run_and_show(app: Sphinx, docname: str, source: list[str]) -> None:
    """Run the blocks of a page of Markdown and put what they give below them."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md" or not any(b.language == "python" for b in blocks_of(source[0])):
        return
    parts, at = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for n, shown in enumerate(run_page(path, Path(folder))):
            block = shown.block
            fence = source[0][block.start : block.end]
            parts += [source[0][at : block.start], _code(shown, fence)]
            if "quiet" not in block.words:
                parts += [*_printed(shown), *_pictures(app, f"{docname}-{n}", shown.figures)]
            at = block.end
    source[0] = "".join([*parts, source[0][at:]])


def _code(shown: Shown, fence: str) -> str:
    plain = re.sub(r"^(```+\w+)[^\n]*", r"\1", fence)
    if shown.not_run:
        LOGGER.info("%s: a block is not run, it %s", shown.block.line, shown.not_run)
    if "fold" not in shown.block.words:
        return plain
    return f"::::{{dropdown}} The code of this picture\n{plain}\n::::\n"


def _printed(shown: Shown) -> list[str]:
    if not shown.printed.strip() or shown.block.language == "sh":
        return []
    return ["\n\n```{code-block} text\n:class: printed\n\n", shown.printed.rstrip(), "\n```\n"]


def _pictures(app: Sphinx, name: str, figures: list[Figure]) -> list[str]:
    found = []
    for n, figure in enumerate(figures):
        place = Path(app.srcdir, PICTURES, f"{name}-{n}.png")
        place.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(place, dpi=DOTS_PER_INCH, bbox_inches="tight")
        width = round(100 * min(figure.get_figwidth(), 8.5))
        found.append(
            f"\n\n```{{image}} /{PICTURES}/{place.relative_to(Path(app.srcdir, PICTURES))}\n"
            f":alt: {describe(figure)}\n:width: {width}px\n:class: live\n```\n"
        )
    return found


def describe(figure: Figure) -> str:
    """What stands on a figure, for those who do not see it."""
    title = figure.get_suptitle()
    axes = [ax for ax in figure.axes if ax.get_visible()]
    words = [title, *(ax.get_title() for ax in axes), *(ax.get_title("left") for ax in axes)]
    words += [f"{ax.get_ylabel()} against {ax.get_xlabel()}" for ax in axes if ax.get_xlabel()]
    said = dict.fromkeys(" ".join(word.split()) for word in words if word.strip())
    return "Plot. " + "; ".join(list(said)[:6])


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.connect("source-read", run_and_show)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
