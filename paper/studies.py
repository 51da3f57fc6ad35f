"""The two bin-splitting studies (Section 4.2): the published protocol, and a fair one.

Published: ten samples for every fixed K and ten others for RHALE, compared with a million simulated
rows. Fair: the same 30 samples for every method, compared with the exact answer, and errors that
do not depend on the bins in which they are measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, NamedTuple

import compare
import numpy as np
import report
from matplotlib.axes import Axes

import problems
import rhale
from problems import FloatArray, Problem, Truth

LIMITS = (0.0, 1.0)
MILLION, DENSE_CELLS = 1_000_000, 1000
PUBLISHED_RUNS, FAIR_RUNS = 10, 30
AUTHORS_SEED, REFERENCE_SEED, FAIR_SEED = 23, 0, 1
IN_TABLE = (2, 3, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80)
FAIR_K = (*range(1, 11), 12, *range(15, 101, 5))
FIGURES = ("mu", "sigma", "rho")
ERRORS = ("L^mu", "L^sigma", "L^rho", "bins", "i_mu", "i_sigma", "i_f")
TITLES = {
    "L^mu": r"mean effect, $\mathcal{L}^\mu$",
    "L^sigma": r"heterogeneity, $\mathcal{L}^\sigma$",
    "L^rho": r"residual, $\mathcal{L}^\rho$",
    "i_mu": r"mean effect, $i_\mu$",
    "i_sigma": r"heterogeneity, $i_\sigma$",
    "i_f": r"curve, $i_f$",
}
BLUE, RED, GREY = "#1F4FA3", "#C8102E", "0.6"


def settings_of_code(max_bins: int) -> rhale.Optimal:
    """Settings behind the published lines."""
    return rhale.Optimal(max_bins=max_bins, discount=0.3, min_points=10, ddof=0)


def settings_of_text(max_bins: int) -> rhale.Optimal:
    """Settings that the text calls typical: N/20 rows a bin, which is 25 for its N = 500."""
    return rhale.Optimal(max_bins=max_bins, discount=0.2, min_points=25, ddof=1)


# how bins are chosen, and the divisor n - ddof of the std that is compared
WAYS: dict[str, tuple[Any, int]] = {
    "code, K_max 20": (settings_of_code(20), 0),
    "code, K_max 40 (as plotted)": (settings_of_code(40), 0),
    "text, K_max 20": (settings_of_text(20), 1),
    "text, K_max 40": (settings_of_text(40), 1),
    "text, K_max 100": (settings_of_text(100), 1),
    "`rhale`, usual bins": (None, 1),
}


@dataclass(frozen=True)
class Study:
    """One study: its problem, its published lines, and numbers from before this library.

    Attributes
    ----------
    problem, std : Problem, float
        The function, and the deviation of x2 around x1.
    key : str
        Name of the published figure.
    n_bins : sequence of int
        Every fixed K, in the order of the draws.
    reference : mapping from way to seven errors
        In the order of `ERRORS`; None where there is none.
    oracle : mapping from error to (value, K)
        The same for the best fixed K; None where that K is not known.
    """

    problem: Problem
    std: float
    key: str = ""
    n_bins: Sequence[int] = ()
    reference: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    oracle: Mapping[str, tuple[float, int | None]] = field(default_factory=dict)


# --- The published protocol ----------------------------------------------------------------------


class Dense(NamedTuple):
    """The authors' ground truth: mean and variance of a million rows in narrow cells."""

    edges: FloatArray
    mean: FloatArray
    variance: FloatArray


class Lines(NamedTuple):
    """L^mu, L^sigma and L^rho of every fixed K, and of RHALE."""

    fixed: dict[int, FloatArray]
    rhale: FloatArray


def draw(state: np.random.RandomState, n_inner: int, std: float) -> FloatArray:
    """Draw rows as the authors do: x1 uniform with both ends added, x2 normal around it."""
    x1 = np.concatenate([[0.0], state.uniform(0, 1, n_inner), [1.0]])
    return np.column_stack([x1, state.normal(x1, std)])


def fit(problem: Problem, rows: FloatArray, bins: Any) -> rhale.Effect:
    """Effect of x1."""
    slopes = problem.gradient(rows)[:, 0]
    return rhale.effect(rows[:, 0], slopes, bins=bins, limits=LIMITS, name="x1")


def variance(effect: rhale.Effect, ddof: int = 0) -> FloatArray:
    """Variance in every bin, with divisor n - ddof."""
    count = np.maximum(effect.count, 1)
    return effect.std**2 if ddof else effect.std**2 * (count - 1) / count


def simulate_truth(study: Study) -> Dense:
    """Measure the million rows that begin the authors' stream."""
    rows = draw(np.random.RandomState(AUTHORS_SEED), MILLION, study.std)
    effect = fit(study.problem, rows, rhale.Fixed(DENSE_CELLS))
    return Dense(effect.edges, effect.mean, variance(effect))


def compare_with_cells(effect: rhale.Effect, truth: Dense) -> FloatArray:
    """L^mu, L^sigma and L^rho by the authors' rule, shape (3,).

    The truth of a bin is the plain average over the dense cells behind the one that holds its lower
    limit, up to but without the one that holds its upper limit; the mean over bins is unweighted.
    """
    cell = np.searchsorted(truth.edges, effect.edges, side="right") - 1
    found = []
    for (low, high), mean, square in zip(
        pairwise(cell), effect.mean, variance(effect), strict=True
    ):
        means = truth.mean[low + 1 : high]
        std = np.sqrt(truth.variance[low + 1 : high].mean())
        found.append((abs(means.mean() - mean), abs(std - np.sqrt(square)), means.std()))
    return np.mean(found, axis=0)


def repeat_published(study: Study, only: Iterable[int] | None = None) -> Lines:
    """Run the published protocol; runs with a bin of fewer than two rows are dropped, as there.

    Parameters
    ----------
    study : Study
        Which study.
    only : iterable of int, optional
        The numbers of bins to fit; samples of the others are drawn and left.
    """
    truth, stream = simulate_truth(study), problems.study_samples(study.std)
    next(stream)  # the sample that is plotted
    wanted = set(study.n_bins if only is None else only)
    fixed = {}
    for n_bins in study.n_bins:
        samples = list(islice(stream, PUBLISHED_RUNS))
        if n_bins in wanted:
            runs = _errors_of_runs(study, samples, rhale.Fixed(n_bins), truth)
            fixed |= {n_bins: np.mean(runs, axis=0)} if runs else {}
    runs = _errors_of_runs(study, islice(stream, PUBLISHED_RUNS), settings_of_code(20), truth)
    return Lines(fixed, np.mean(runs, axis=0))


def _errors_of_runs(
    study: Study, samples: Iterable[FloatArray], bins: Any, truth: Dense
) -> list[FloatArray]:
    effects = (fit(study.problem, rows, bins) for rows in samples)
    return [compare_with_cells(e, truth) for e in effects if e.count.min() >= 2]


# --- The fair protocol ---------------------------------------------------------------------------


class Exact(NamedTuple):
    """The exact answer, and the integral of mu² on a fine grid."""

    truth: Truth
    grid: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, problem: Problem, n_cells: int = 100_000) -> Exact:
        """Prepare the answer for x1; mu² is summed over midpoints."""
        truth, grid = problem.truths["x1"], np.linspace(0, 1, n_cells + 1)
        middles = 0.5 * (grid[1:] + grid[:-1])
        squares = np.cumsum(truth.mean(middles) ** 2) / n_cells
        return cls(truth, grid, np.append(0.0, squares))


def errors(effect: rhale.Effect, exact: Exact, ddof: int) -> FloatArray:
    """All of `ERRORS` of one fit, shape (7,).

    The first three are means over the fit's own bins, of exact averages; the last three are means
    over a uniform grid that leaves out half a percent at each end. Bins with fewer than two rows
    are interpolated over the index, as the authors do.
    """
    truth, width = exact.truth, np.diff(effect.edges)
    place, known = np.arange(width.size), effect.count >= 2
    mean = np.interp(place, place[known], effect.mean[known])
    std = np.sqrt(np.interp(place, place[known], variance(effect, ddof)[known]))
    average = np.diff(truth.curve(effect.edges)) / width
    square = np.diff(np.interp(effect.edges, exact.grid, exact.squares)) / width
    sigma = truth.std(effect.edges[:-1])  # the same everywhere
    own = [np.abs(mean - average), np.abs(std - sigma), np.sqrt(np.maximum(square - average**2, 0))]

    z = np.linspace(0.005, 0.995, 991)
    k = np.searchsorted(effect.edges, z, side="right") - 1
    middle = 0.5 * (effect.edges[k] + effect.edges[k + 1])
    fitted = mean[k] + effect.slope[k] * (z - middle)
    curve = effect.curve(z, center="start") - truth.curve(z)
    away = [fitted - truth.mean(z), std[k] - truth.std(z), curve - curve.mean()]
    integrated = [np.abs(a).mean() for a in away]
    return np.array([*(o.mean() for o in own), width.size, *integrated])


def draw_samples(study: Study, n_runs: int, seed: int) -> list[FloatArray]:
    """Draw samples of 500 rows and both ends, one after the other from one stream."""
    state = np.random.RandomState(seed)
    return [draw(state, 500, study.std) for _ in range(n_runs)]


def measure(study: Study, samples: Sequence[FloatArray], bins: Any, ddof: int = 0) -> FloatArray:
    """Errors of one way over the samples, shape (n_runs, 7)."""
    exact = Exact.of(study.problem)
    return np.array([errors(fit(study.problem, rows, bins), exact, ddof) for rows in samples])


def measure_all(
    study: Study, samples: Sequence[FloatArray]
) -> tuple[dict[str, FloatArray], dict[int, FloatArray]]:
    """Errors of every way, and of every fixed K."""
    ways = {name: measure(study, samples, *way) for name, way in WAYS.items()}
    return ways, {k: measure(study, samples, rhale.Fixed(k)) for k in FAIR_K}


def standard_error(runs: FloatArray) -> FloatArray:
    """Standard error of the mean over runs."""
    return np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))


def best_fixed(fixed: Mapping[int, FloatArray], error: str) -> int:
    """The fixed K with the smallest mean error: an oracle, for it needs the truth."""
    column = ERRORS.index(error)
    return min(fixed, key=lambda k: fixed[k][:, column].mean())


def distance_from_reference(study: Study, way: str) -> float:
    """Largest difference of L^mu, L^sigma and L^rho on the reference's own samples.

    Parameters
    ----------
    study : Study
        Which study.
    way : str
        How the names of the ways begin.
    """
    samples = draw_samples(study, FAIR_RUNS, REFERENCE_SEED)
    off = []
    for name, then in study.reference.items():
        if name.startswith(way):
            ours = measure(study, samples, *WAYS[name]).mean(axis=0)
            off.append(np.abs(ours[:3] - np.array(then[:3], dtype=float)).max())
    return float(max(off))


# --- Tables --------------------------------------------------------------------------------------


def table_of_example(study: Study) -> str:
    """Bins of the plotted sample, ours and published."""
    effect = compare.fit(study.problem, "x1", settings_of_code(40), LIMITS)
    return report.table(compare.FITS, [compare.fit_row("plotted sample", effect, study.key)])


def table_of_lines(study: Study, lines: Lines) -> str:
    """Ours and published for RHALE and for the K of `IN_TABLE`."""
    then = {name: report.published(f"{study.key}/{name}") for name in FIGURES}
    at = {k: i for i, k in enumerate(then["mu"]["K"])}
    rows: list[list[Any]] = [["**RHALE**"]]
    rows += [[k] for k in IN_TABLE]
    for column, name in enumerate(FIGURES):
        ours = [lines.rhale, *(lines.fixed[k] for k in IN_TABLE)]
        theirs = [then[name]["rhale"], *(then[name]["fixed"][at[k]] for k in IN_TABLE)]
        for row, our, their in zip(rows, ours, theirs, strict=True):
            row += [f"{our[column]:.4f}", f"{their:.4f}"]
    header = ["K"]
    for name in FIGURES:
        header += [f"L^{name}", "published"]
    return report.table(header, rows)


def farthest(study: Study, lines: Lines) -> float:
    """Largest difference from any published point or line."""
    off = []
    for column, name in enumerate(FIGURES):
        then = report.published(f"{study.key}/{name}")
        off.append(lines.rhale[column] - then["rhale"])
        pairs = zip(then["K"], then["fixed"], strict=True)
        off += [lines.fixed[k][column] - value for k, value in pairs]
    return float(np.abs(off).max())


def beaten_by(lines: Lines) -> list[int]:
    """How many fixed K have a smaller L^mu, and a smaller L^sigma, than RHALE."""
    return [sum(f[c] < lines.rhale[c] for f in lines.fixed.values()) for c in (0, 1)]


def table_of_errors(
    study: Study, ways: Mapping[str, FloatArray], fixed: Mapping[int, FloatArray]
) -> str:
    """One row per way and one for the best fixed K: ours ± standard error (reference)."""
    rows = []
    for name, runs in ways.items():
        then = study.reference.get(name, [None] * len(ERRORS))
        cells = zip(runs.mean(axis=0), standard_error(runs), then, strict=True)
        rows.append([name, *(_measured(*cell) for cell in cells)])
    last = ["best fixed K"]
    for column, error in enumerate(ERRORS):
        if error in ("L^rho", "bins"):  # L^rho falls with K, always
            last.append("n/a")
            continue
        k, then = best_fixed(fixed, error), study.oracle.get(error)
        runs = fixed[k][:, column]
        last.append(f"{_measured(runs.mean(), standard_error(runs), None)}, K {k}")
        if then is not None:
            last[-1] += f" ({then[0]:.4g})" if then[1] is None else f" ({then[0]:.4g}, K {then[1]})"
    return report.table(["way", *ERRORS], [*rows, last])


def _measured(mean: float, error: float, then: float | None) -> str:
    digits = 1 if mean > 3 else 4 if mean < 0.2 else 3
    text = f"{mean:.{digits}f} ± {error:.{digits}f}"
    return text if then is None else f"{text} ({then:.4g})"


# --- Figures -------------------------------------------------------------------------------------


def draw_example(study: Study, name: str) -> str:
    """Draw RHALE on the plotted sample, with the 40 cells of the plot."""
    effect = compare.fit(study.problem, "x1", settings_of_code(40), LIMITS)
    with compare.printed(compare.PAGE_WIDTH, 3.6) as figure:
        top, bottom = compare.panels(figure, 1)[:, 0]
        compare.draw_effect(effect, top, bottom, study.problem.truths["x1"].curve)
        top.set_title(f"RHALE, {effect.mean.size} bins")
        compare.one_legend(figure)
        return report.save(figure, name)


def draw_lines(study: Study, lines: Lines, name: str) -> str:
    """Draw the published figures: fixed K as crosses, RHALE dashed, published ones behind."""
    with compare.printed(compare.PAGE_WIDTH, 2.5) as figure:
        for column, ax in enumerate(figure.subplots(1, 3)):
            then = report.published(f"{study.key}/{FIGURES[column]}")
            ax.plot(then["K"], then["fixed"], "o", mfc="none", color=GREY, label="ALE, published")
            ax.axhline(then["rhale"], color=GREY, lw=3, alpha=0.5, label="RHALE, published")
            values = [errors[column] for errors in lines.fixed.values()]
            ax.plot(list(lines.fixed), values, "x", color=BLUE, label="ALE with K bins, ours")
            ax.axhline(lines.rhale[column], color=RED, ls="--", label="RHALE, ours")
            for line, size in zip(ax.lines, (5, 0, 3, 0), strict=True):
                line.set(markersize=size, markeredgewidth=0.8)
            ax.set_title(TITLES[ERRORS[column]])
            dress(ax)
        compare.one_legend(figure)
        return report.save(figure, name)


def draw_errors(ways: Mapping[str, FloatArray], fixed: Mapping[int, FloatArray], name: str) -> str:
    """Draw all errors over K with their standard errors; RHALE with both settings as lines."""
    shown = {"code": (RED, "--"), "text": ("black", ":")}
    with compare.printed(compare.PAGE_WIDTH, 4.4) as figure:
        for ax, error in zip(figure.subplots(2, 3, sharex=True).flat, TITLES, strict=True):
            column = ERRORS.index(error)
            values = [runs[:, column].mean() for runs in fixed.values()]
            bars = [standard_error(runs[:, column]) for runs in fixed.values()]
            ax.errorbar(list(fixed), values, bars, fmt="none", ecolor=BLUE, elinewidth=0.6)
            ax.plot(list(fixed), values, "x", color=BLUE, ms=3.5, mew=0.9, label="ALE with K bins")
            for way, (colour, style) in shown.items():
                runs = ways[f"{way}, K_max 20"][:, column]
                level, half = runs.mean(), standard_error(runs)
                label = f"RHALE with the settings of the {way}"
                ax.axhline(level, color=colour, ls=style, lw=1.2, label=label)
                ax.axhspan(level - half, level + half, color=colour, alpha=0.12, lw=0)
            ax.set_title(TITLES[error])
            dress(ax, last=error.startswith("i_"))
        compare.one_legend(figure)
        return report.save(figure, name)


def dress(ax: Axes, *, last: bool = True) -> None:
    """Make the axes of an error over K: logarithmic, with plain numbers."""
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    steps = (1, 1.5, 2, 3, 4, 6, 8) if high / low < 6 else (1, 2, 5) if high / low < 30 else (1, 3)
    ticks = [step * 10.0**power for power in range(-4, 2) for step in steps]
    ax.set_yticks([tick for tick in ticks if low <= tick <= high])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    ax.set_ylim(low, high)
    ax.set_xticks(range(0, 101, 20))
    if last:
        ax.set_xlabel("$K$")
