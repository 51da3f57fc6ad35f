"""Where the sections of docs/accuracy.md wait for each other, and how errors are compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

import rhale

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


def read_at(effect: rhale.Effect, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit of the bins and spread at z, the spread from bins of its own where it has them."""
    place = np.clip(np.searchsorted(effect.edges, z, "right") - 1, 0, effect.mean.size - 1)
    mean = effect.level[place] + effect.slope[place] * (z - effect.mean_x[place])
    std = effect.std[place]
    if effect.spread_edges is not None and effect.spread_std is not None:
        own = np.searchsorted(effect.spread_edges, z, "right") - 1
        std = effect.spread_std[np.clip(own, 0, effect.spread_std.size - 1)]
    return mean, std


def geometric_mean(ratios: npt.ArrayLike) -> FloatArray:
    """Geometric mean over the first axis."""
    return np.asarray(np.exp(np.log(np.asarray(ratios)).mean(axis=0)))


def centred_gap(found: FloatArray, truth: FloatArray) -> float:
    """Mean absolute difference of two curves, each up to a constant."""
    gap = found - truth
    return float(np.abs(gap - gap.mean()).mean())
