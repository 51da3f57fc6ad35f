"""Pictures in a folder, one a feature."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from rhale.errors import RhaleError
from rhale.explanation import Explanation

Whole = Callable[[Path], AbstractContextManager[Path]]
DOTS = 120  # an inch
MOST = 200  # pictures of single features
LONGEST = 60


def file_name(number: int, feature: str) -> str:
    """A name that any system takes, and no feature can lead out of the folder.

    Examples
    --------
    >>> file_name(3, "../price (EUR)")
    '03_price_EUR.png'
    """
    plain = re.sub(r"\W+", "_", feature).strip("_")[:LONGEST] or "feature"
    return f"{number:02d}_{plain}.png"


def write_pictures(fx: Explanation, folder: Path, whole: Whole, *, smooth: bool = False) -> int:
    """Draw all features together and each alone, the largest effect first; tell how many."""
    _without_window()
    _save(fx.plot(smooth=smooth), folder / "all_features.png", whole)
    names = list(dict.fromkeys(effect.name for effect in fx.ranked()))[:MOST]
    for number, name in enumerate(names, start=1):
        _save(fx.plot(name, smooth=smooth), folder / file_name(number, name), whole)
    return 1 + len(names)


def write_comparisons(
    pair: tuple[Explanation, Explanation],
    names: tuple[str, str],
    rows: Mapping[str, list[Any]],
    folder: Path,
    whole: Whole,
    *,
    smooth: bool = False,
) -> int:
    """Draw each feature of both explanations on one axis, the largest difference first."""
    _without_window()
    first, second = pair
    label, other = names if names[0] != names[1] else (f"{names[0]} (1)", f"{names[1]} (2)")
    drawn = 0
    for number, name in enumerate(dict.fromkeys(rows["feature"]), start=1):
        if number > MOST:
            break
        output = None if len(first.outputs) == 1 else 0
        try:
            axes = first.compare({other: second}, name, name=label, output=output, smooth=smooth)
        except RhaleError:  # numbers in one, categories in the other
            continue
        _save(axes, folder / file_name(number, name), whole)
        drawn += 1
    return drawn


def _save(axes: Any, path: Path, whole: Whole) -> None:
    from matplotlib import pyplot as plt

    figure = np.ravel(np.asarray(axes, dtype=object))[0].get_figure(root=True)
    with whole(path) as part:
        figure.savefig(part, dpi=DOTS, bbox_inches="tight")
    plt.close(figure)


def _without_window() -> None:
    import matplotlib as mpl

    mpl.use("agg")
