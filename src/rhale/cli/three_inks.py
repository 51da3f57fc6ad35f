"""One feature three times, on one scale: rows differ, a model is known, trainings differ."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rhale.kernels import FloatArray
from rhale.results import inks
from rhale.results.refit_effect import RefitEffect
from rhale.results.result import Result


class Band(NamedTuple):
    """A curve, and what lies around it."""

    x: FloatArray
    curve: FloatArray
    low: FloatArray
    high: FloatArray


def draw_band(ax: Axes, band: Band, ink: str, words: tuple[str, str]) -> None:
    """Draw a curve and its band under the question that it answers, and name the band."""
    question, name = words
    ax.axhline(0.0, color="#B0B0B0", linewidth=0.8, zorder=0.5)
    ax.fill_between(band.x, band.low, band.high, color=ink, alpha=0.35, linewidth=0.8)
    ax.plot(band.x, band.curve, color=inks.EFFECT_COLOUR, linewidth=1.6)
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
    panels[2].plot(other.x, other.curves.T, color=inks.BETWEEN_COLOUR, linewidth=0.6, alpha=0.6)
    draw_band(panels[0], spread, inks.SPREAD_COLOUR, ("How do rows differ?", "spread between rows"))
    draw_band(
        panels[1],
        rows,
        inks.UNCERTAINTY_COLOUR,
        ("Where is this model's curve?", "95 % interval,\nthis model"),
    )
    draw_band(
        panels[2],
        between,
        inks.BETWEEN_COLOUR,
        ("And after another training?", "95 % interval,\nbetween trainings"),
    )
    figure.supxlabel(one.name, fontsize="medium")
    panels[0].set_ylabel(f"effect of {one.name} (centred)")
    return figure
