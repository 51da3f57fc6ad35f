"""Pictures in a folder, one a feature."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rhale.cli.values import read_equations
from rhale.comparison.result import Comparison
from rhale.effects.alignment import can_compare
from rhale.effects.explanation import Explanation
from rhale.effects.result import Result
from rhale.interaction.pair_profile import with_surface
from rhale.interaction.result import Interactions
from rhale.output import colours
from rhale.stability.refit_effect import RefitEffect
from rhale.stability.result import Refits
from rhale.stats.arrays import FloatArray

Whole = Callable[[Path], AbstractContextManager[Path]]
DOTS = 120  # an inch
MAX_FEATURE_PICTURES = 200  # pictures of single features
MAX_FILE_STEM_LENGTH = 60
MAX_PAIR_PICTURES = 10  # that are drawn
MAX_FEATURES_IN_PICTURE = 20  # features in one picture


def file_name(number: int, feature: str, what: str = "") -> str:
    """A name that any system takes, and no feature can lead out of the folder."""
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
    """Read how pictures are to be drawn."""
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


# --- One feature three times, on one scale: rows differ, a model is known, trainings differ


class Band(NamedTuple):
    """A curve, and what lies around it."""

    x: FloatArray
    curve: FloatArray
    low: FloatArray
    high: FloatArray


def draw_band(ax: Axes, band: Band, colour: str, question: str, name: str) -> None:
    """Draw a curve and its band under the question that it answers, and name the band."""
    ax.axhline(0.0, color="#B0B0B0", linewidth=0.8, zorder=0.5)
    ax.fill_between(band.x, band.low, band.high, color=colour, alpha=0.35, linewidth=0.8)
    ax.plot(band.x, band.curve, color=colours.EFFECT_COLOUR, linewidth=1.6)
    ax.set_title(question, loc="left", fontsize="medium")
    at = int(len(band.x) * 0.7)
    ax.annotate(
        name,
        (band.x[at], (band.low[at] + band.curve[at]) / 2),
        (0.97, 0.06),
        textcoords="axes fraction",
        ha="right",
        va="bottom",
        arrowprops={"arrowstyle": "-", "color": "black", "linewidth": 0.8},
    )


def draw_spread_and_intervals(one: Result, many: RefitEffect) -> Figure:
    """Draw one feature three times, on one scale: rows, this model, other trainings."""
    figure = Figure((9.0, 3.6), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    path, other = one.trace(), many.trace()
    spread = Band(path.x, path.curve, path.curve - path.spread, path.curve + path.spread)
    rows = Band(path.x, path.curve, path.low, path.high)
    between = Band(other.x, other.curve, other.low, other.high)
    panels[2].plot(other.x, other.curves.T, color=colours.BETWEEN_COLOUR, linewidth=0.6, alpha=0.6)
    draw_band(
        panels[0], spread, colours.SPREAD_COLOUR, "How do rows differ?", "spread between rows"
    )
    draw_band(
        panels[1],
        rows,
        colours.UNCERTAINTY_COLOUR,
        "Where is this model's curve?",
        "95 % interval,\nthis model",
    )
    draw_band(
        panels[2],
        between,
        colours.BETWEEN_COLOUR,
        "And after retraining?",
        "95 % interval,\nbetween retrainings",
    )
    figure.supxlabel(one.name, fontsize="medium")
    panels[0].set_ylabel(f"effect of {one.name} (centred)")
    return figure
