"""Our fits beside the published ones: the numbers as tables, the pictures as panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
import report
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import rhale
from problems import FloatArray, Problem
from rhale import plots
from rhale.plots.axes import ContinuousAxis

COLUMN, PAGE_WIDTH = 3.4, 7.0  # inches in print
PRINT = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "figure.constrained_layout.h_pad": 0.03,
    "svg.hashsalt": "rhale",
    "mathtext.fontset": "dejavusans",
}
BINS = ("bin", "effect", "published", "difference", "std", "published", "difference")
KNOWN = (("black", ":"), ("#D55E00", "--"))  # looks of curves in closed form
FITS = ("figure", "bins", "limits", "effects", "std", "curve start → end", "STD at the end")


def fit(problem: Problem, feature: str, bins: Any, limits: tuple[float, float]) -> rhale.Effect:
    """Effect of one feature on the very rows behind the published figure."""
    rows = problem.paper_sample()
    column = problem.names.index(feature)
    slopes = problem.gradient(rows)[:, column]
    return rhale.effect(rows[:, column], slopes, bins=bins, limits=limits, name=feature)


def curves(problem: Problem, feature: str, limits: tuple[float, float]) -> rhale.Profile:
    """Partial dependence and curves of single rows, on the rows of the published figure."""
    column = problem.names.index(feature)
    fx = rhale.explain(
        problem.predict,
        problem.paper_sample(),
        method="ice",
        features=column,
        bins=rhale.Fixed(200),
        limits=limits,
    )
    return fx[0]


def published_std(effect: rhale.Effect) -> FloatArray:
    """Deviation as the figures show it: divisor n; variance of thin bins by their index."""
    place, known = np.arange(effect.std.size), effect.count >= 2
    count = np.where(known, effect.count, 1)
    variance = effect.std**2 * (count - 1) / count
    return np.sqrt(np.interp(place, place[known], variance[known]))


def published_mean(effect: rhale.Effect) -> FloatArray:
    """Effect as the figures show it: bins without rows are filled in by their index."""
    place, known = np.arange(effect.mean.size), effect.count >= 1
    return np.interp(place, place[known], effect.mean[known])


def bin_rows(effect: rhale.Effect, key: str) -> list[list[Any]]:
    """One row per bin: limits, ours, published, difference."""
    paper = report.published(key)
    ours = zip(published_mean(effect), published_std(effect), strict=True)
    theirs = zip(paper["effect"], paper["std"], strict=True)
    rows = []
    for k, ((mean, std), (mean_then, std_then)) in enumerate(zip(ours, theirs, strict=True)):
        rows.append([span(effect.edges[k], effect.edges[k + 1]), *triple(mean, mean_then)])
        rows[-1] += triple(std, std_then)
    return rows


def fit_row(name: str, effect: rhale.Effect, key: str) -> list[str]:
    """One row per figure: largest differences of its bins, and the ends of curve and band."""
    paper = report.published(key)
    start, end = effect.curve(effect.edges[[0, -1]], center="uniform")
    ends = f"{number(start)} → {number(end)}"
    ends_then = f"{number(paper['curve_start'])} → {number(paper['curve_end'])}"
    off = largest([start, end], [paper["curve_start"], paper["curve_end"]])
    std_end = float(published_std(effect) @ np.diff(effect.edges))
    return [
        name,
        f"{effect.mean.size} / {len(paper['effect'])}",
        largest(effect.edges, paper["limits"]),
        largest(published_mean(effect), paper["effect"]),
        largest(published_std(effect), paper["std"]),
        f"{ends} / {ends_then} / {off}",
        " / ".join(triple(std_end, paper["std_end"])),
    ]


def triple(ours: float, theirs: float) -> list[str]:
    """Ours, published, difference."""
    return [number(ours), number(theirs), largest([ours], [theirs])]


def largest(ours: Sequence[float] | FloatArray, theirs: Sequence[float]) -> str:
    """Largest absolute difference; n/a where there are not equally many numbers."""
    if len(ours) != len(theirs):
        return "n/a"
    off = np.abs(np.subtract(ours, theirs)).max()
    return "0" if off < 1e-9 else f"{off:.0e}"


def number(value: float) -> str:
    """Four digits after the point, without a minus before zero."""
    return f"{round(float(value), 4) + 0.0:.4f}"


def span(low: float, high: float) -> str:
    """Write an interval."""
    return f"[{round(float(low), 4) + 0.0:g}, {round(float(high), 4) + 0.0:g}]"


@contextmanager
def printed(width: float, height: float) -> Iterator[Figure]:
    """Make a figure in the look of print; save it before leaving."""
    with mpl.rc_context(PRINT):
        yield Figure(figsize=(width, height), layout="constrained")


def panels(figure: Figure, columns: int, heights: Sequence[float] = (3, 2)) -> np.ndarray:
    """Axes in a grid, each column with one x axis."""
    shape = {"squeeze": False, "height_ratios": heights}
    return figure.subplots(len(heights), columns, sharex="col", **shape)


def draw_effect(
    effect: rhale.Effect, top: Axes, bottom: Axes, truth: Callable[..., Any], **options: bool
) -> None:
    """Draw curve, band and bins as the paper does, centred over x."""
    shown = {"spread": False, "uncertainty": False, **options}
    plots.plot_effect(
        effect, ax=(top, bottom), center="uniform", xscale="linear", truth=truth, **shown
    )
    draw_band(effect, top)
    for dots in bottom.findobj(lambda artist: artist.get_gid() == "rhale:dots"):
        dots.set_sizes([5.0])
    subscript = effect.name[1:]
    top.set_ylabel("effect on $y$", parse_math=True)
    bottom.set_ylabel(rf"$\partial y\,/\,\partial x_{subscript}$", parse_math=True)
    bottom.set_xlabel(f"$x_{subscript}$", parse_math=True)


def draw_band(effect: rhale.Effect, ax: Axes) -> None:
    """Draw the band as the paper does: it starts with nothing, wherever the curve is zero."""
    field, path = ContinuousAxis(ax), effect.trace("uniform")
    field.draw_spread(path._replace(spread=effect.spread(path.x, center="start", accumulate="sum")))
    field.fit()


def draw_curve(effect: rhale.Effect, ax: Axes, truth: Callable[..., Any]) -> None:
    """Draw the curve alone, as a plain ALE plot does."""
    x = np.linspace(effect.edges[0], effect.edges[-1], 401)
    exact = truth(x)
    ax.axhline(0.0, color="0.7", linewidth=0.8)
    ax.plot(x, effect.curve(x, center="uniform"), color="#0072B2", linewidth=1.6)
    ax.plot(x, exact - exact.mean(), "k--", linewidth=0.8)
    ax.set(ylabel="effect on $y$", xlabel=f"$x_{effect.name[1:]}$")
    if not effect.mean.any():
        ax.set_ylim(-1.1, 1.1)


def draw_profile(profile: rhale.Profile, ax: Axes, feature: str, **exact: FloatArray) -> None:
    """Draw PDP over curves of single rows, centred over x, and known PDPs by their names."""
    plots.plot_profile(profile, ax=ax, center="uniform", max_curves=60)
    for extra in ax.findobj(lambda artist: artist.get_gid() in ("rhale:ci", "rhale:spread")):
        extra.remove()  # the figures of the paper have lines only
    for (colour, style), (name, values) in zip(KNOWN, exact.items(), strict=False):
        level = profile._centring("uniform") @ values  # noqa: SLF001 - of the method
        (line,) = ax.plot(profile.grid, values - level, label=name, color=colour)
        line.set(linestyle=style, linewidth=1.2, zorder=5)
    if np.ptp(profile.ice(center="uniform")) < 1e-9:
        ax.set_ylim(-1.2, 1.0)  # nothing but rounding
    ax.set_ylabel("$y$, centred", parse_math=True)
    ax.set_xlabel(f"$x_{feature[1:]}$", parse_math=True)


def one_legend(figure: Figure, columns: int = 4) -> None:
    """Replace the legends of the panels by one below them."""
    found: dict[str, Any] = {}
    for ax in figure.axes:
        handles, names = ax.get_legend_handles_labels()
        found |= dict(zip(names, handles, strict=True))
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    place = {"loc": "outside lower center", "ncols": columns}
    legend = figure.legend(list(found.values()), list(found), frameon=False, fontsize=8, **place)
    for handle in legend.legend_handles:
        if isinstance(handle, Line2D):
            handle.set_alpha(1.0)
