"""What the scripts of this folder share: where figures and text go, and what the paper published."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "paper"
PARTS = HERE / ".parts"


def published(key: str) -> dict[str, Any]:
    """Numbers of one published figure, read from its vector file.

    Parameters
    ----------
    key : str
        Name of the figure, for example "split1/mu" or "intro/x2/rhale".
    """
    content = json.loads((HERE / "published.json").read_text(encoding="utf-8"))
    return dict(content[key])


def save(figure: Figure, name: str) -> str:
    """Write a figure as PNG and SVG, and give the Markdown that shows it."""
    PAGE.mkdir(parents=True, exist_ok=True)
    for curves in figure.findobj(lambda artist: artist.get_gid() == "rhale:rows"):
        curves.set_rasterized(True)  # hundreds of lines: an image is smaller than their points
    figure.savefig(PAGE / f"{name}.png", dpi=150)
    figure.savefig(PAGE / f"{name}.svg", dpi=150, metadata={"Date": None})
    return f"![{name.replace('_', ' ')}]({name}.png)"


def write_part(name: str, *paragraphs: str) -> None:
    """Keep one section of the page; `page.py` puts the sections together."""
    PARTS.mkdir(exist_ok=True)
    text = "\n\n".join(paragraph.strip() for paragraph in paragraphs)
    (PARTS / f"{name}.md").write_text(text + "\n", encoding="utf-8")


def assemble(head: str, sections: Sequence[str], parts: Path, page: Path) -> int:
    """Put sections together into a page, or say which are missing; gives the exit code."""
    missing = [name for name in sections if not (parts / f"{name}.md").exists()]
    if missing:
        print(f"no page: run the scripts of these sections first: {', '.join(missing)}")
        return 1
    texts = [(parts / f"{name}.md").read_text(encoding="utf-8") for name in sections]
    page.write_text("\n".join([head, *texts]), encoding="utf-8")
    print(f"wrote {page.relative_to(HERE.parent).as_posix()} with {len(texts)} sections")
    return 0


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write a Markdown table; numbers with four significant digits."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in line) + " |" for line in lines)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
