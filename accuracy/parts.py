"""Where the sections of docs/accuracy.md wait for each other, and how errors are compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Function = Callable[[FloatArray], FloatArray]

HERE = Path(__file__).resolve().parent
PARTS = HERE / ".parts"
PAGE = HERE.parent / "docs" / "accuracy.md"


def write_part(name: str, *paragraphs: str) -> None:
    """Keep one section of the page; `page.py` puts the sections together."""
    PARTS.mkdir(exist_ok=True)
    text = "\n\n".join(paragraph.strip() for paragraph in paragraphs)
    (PARTS / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    print(text)


def geometric_mean(ratios: npt.ArrayLike) -> FloatArray:
    """Geometric mean over the first axis."""
    return np.asarray(np.exp(np.log(np.asarray(ratios)).mean(axis=0)))


def centred_gap(found: FloatArray, truth: FloatArray) -> float:
    """Mean absolute difference of two curves, each up to a constant."""
    gap = found - truth
    return float(np.abs(gap - gap.mean()).mean())
