"""Pictures in a folder, one a feature."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rhale.cli.typed_names import read_equations
from rhale.comparison import Comparison
from rhale.explanation import Explanation
from rhale.pairs import Interactions
from rhale.results.differences import can_compare
from rhale.results.pair_sections import with_surface
from rhale.trainings import Refits

Whole = Callable[[Path], AbstractContextManager[Path]]
DOTS = 120  # an inch
MAX_FEATURE_PICTURES = 200  # pictures of single features
MAX_FILE_STEM_LENGTH = 60
MAX_PAIR_PICTURES = 10  # that are drawn
MAX_FEATURES_IN_PICTURE = 20  # features in one picture


def file_name(number: int, feature: str, what: str = "") -> str:
    """A name that any system takes, and no feature can lead out of the folder.

    Examples
    --------
    >>> file_name(3, "../price (EUR)")
    '03_price_EUR.png'
    >>> file_name(3, "age", "_regions")
    '03_age_regions.png'
    """
    plain = re.sub(r"\W+", "_", feature).strip("_")[:MAX_FILE_STEM_LENGTH] or "feature"
    return f"{number:02d}_{plain}{what}.png"


class PictureOptions(NamedTuple):
    """Which part of the axes pictures show, and which axes are logarithmic or not."""

    limits: str | None = None
    scales: Mapping[str, str] = MappingProxyType({})

    def of(self, fx: Explanation, feature: str) -> dict[str, Any]:
        """Options of the picture of one feature; those of numbers are not for levels."""
        found: dict[str, Any] = {}
        if self.limits is not None and not fx[feature, fx.outputs[0]].labels:
            found["limits"] = self.limits
        named = {fx[name, fx.outputs[0]].name: scale for name, scale in self.scales.items()}
        return found | ({"xscale": named[feature]} if feature in named else {})

    def of_all(self, fx: Explanation, drawn: Sequence[str]) -> dict[str, Any]:
        """The same for the picture of all features, of which some are drawn."""
        each = {name: self.of(fx, name) for name in drawn}
        return {
            option: {name: asked[option] for name, asked in each.items() if option in asked}
            for option in ("limits", "xscale")
        }


DEFAULT_PICTURE_OPTIONS = PictureOptions()


def read_typed_view(limits: str | None, scales: Sequence[str]) -> PictureOptions:
    """Read how pictures are to be drawn.

    Examples
    --------
    >>> read_typed_view("1%..99%", ["amount=log"])
    PictureOptions(limits='1%..99%', scales={'amount': 'log'})
    """
    return PictureOptions(limits, read_equations("--scale", scales))


def write_pictures(
    fx: Explanation,
    folder: Path,
    whole: Whole,
    view: PictureOptions = DEFAULT_PICTURE_OPTIONS,
    *,
    smooth: bool = False,
) -> int:
    """Draw all features together and each alone, the largest effect first; tell how many.

    Where rows were told apart, a second picture of the feature shows its regions.
    """
    _without_window()
    names = list(dict.fromkeys(effect.name for effect in fx.ranked()))[:MAX_FEATURE_PICTURES]
    together = {"top": MAX_FEATURES_IN_PICTURE, **view.of_all(fx, names[:MAX_FEATURES_IN_PICTURE])}
    _save(fx.plot(smooth=smooth, **together), folder / "all_features.png", whole)
    drawn = 1 + len(names)
    for number, name in enumerate(names, start=1):
        own = view.of(fx, name)
        _save(fx.plot(name, smooth=smooth, **own), folder / file_name(number, name), whole)
        for place in outputs_with_regions(fx, name):
            axes = fx.plot(name, output=place, smooth=smooth, regions=True, **own)
            what = "_regions" if len(fx.outputs) == 1 else f"_regions_{place + 1}"
            _save(axes, folder / file_name(number, name, what), whole)
            drawn += 1
    return drawn


def outputs_with_regions(fx: Explanation, feature: str) -> list[int]:
    """Places of the outputs on which the effect of a feature differs by rules."""
    trees = [fx[feature, output].regions for output in fx.outputs]
    return [i for i, tree in enumerate(trees) if tree and (len(tree) > 1 or tree.thirds)]


def write_pair_pictures(ix: Interactions, folder: Path, whole: Whole) -> int:
    """Draw the matrix of strengths, and the strongest pairs as maps and as lines; tell how many."""
    _without_window()
    several = len(ix.outputs) > 1
    drawn = 0
    for place, output in enumerate(ix.outputs, start=1):
        what = f"_{place}" if several else ""
        _save(ix.plot(output=output), folder / f"all_pairs{what}.png", whole)
        strong = [pair for pair in with_surface(ix.ranked(output)) if pair.strength > 0]
        for number, pair in enumerate(strong[:MAX_PAIR_PICTURES], start=1):
            name = "_x_".join(pair.names)
            for kind in ("map", "lines"):
                axes = pair.plot(kind)
                _save(axes, folder / file_name(number, name, f"_{kind}{what}"), whole)
        drawn += 1 + 2 * len(strong[:MAX_PAIR_PICTURES])
    return drawn


def write_refit_pictures(rx: Refits, folder: Path, whole: Whole) -> int:
    """Draw what would come back, and every feature in all trainings; tell how many."""
    drawn = 0
    for place, output in enumerate(rx.outputs, start=1):
        what = f"_{place}" if len(rx.outputs) > 1 else ""
        write_overview(rx, folder / f"all_features{what}.png", whole, output=output)
        ranked = rx.ranked(output)[:MAX_FEATURE_PICTURES]
        for number, effect in enumerate(ranked, start=1):
            axes = rx.plot(effect.name, output=output)
            _save(axes, folder / file_name(number, effect.name, what), whole)
        drawn += 1 + len(ranked)
    return drawn


def write_overview(rx: Refits, path: Path, whole: Whole, *, output: str | None = None) -> None:
    """Draw what would come back, of one output or of all."""
    _without_window()
    _save(rx.plot(output=output), path, whole)


def write_comparisons(cx: Comparison, folder: Path, whole: Whole, *, smooth: bool = False) -> int:
    """Draw all features of a comparison together and each alone; tell how many pictures.

    The largest difference comes first. Numbers in one explanation and categories in another
    cannot be drawn on one axis, and are left out.
    """
    drawn = 0
    for place, output in enumerate(cx.outputs, start=1):
        what = f"_{place}" if len(cx.outputs) > 1 else ""
        write_comparison(cx, folder / f"all_features{what}.png", whole, output, smooth=smooth)
        drawn += 1
        for number, one in enumerate(cx.ranked(output)[:MAX_FEATURE_PICTURES], start=1):
            if all(can_compare(one.results[0], other) for other in one.results):
                axes = cx.plot(one.name, output=output, smooth=smooth)
                _save(axes, folder / file_name(number, one.name, what), whole)
                drawn += 1
    return drawn


def write_comparison(
    cx: Comparison, path: Path, whole: Whole, output: str | None = None, *, smooth: bool = False
) -> None:
    """Draw all features of a comparison together, of one output."""
    _without_window()
    _save(cx.plot(output=output, smooth=smooth), path, whole)


def _save(axes: Any, path: Path, whole: Whole) -> None:
    from matplotlib import pyplot as plt

    figure = np.ravel(np.asarray(axes, dtype=object))[0].figure.figure
    with whole(path) as part:
        figure.savefig(part, dpi=DOTS, bbox_inches="tight")
    plt.close(figure)


def _without_window() -> None:
    import matplotlib as mpl

    mpl.use("agg")
