"""The two formulas for STD(x), and two traps of the program; `settings.py` puts them on the page."""

from __future__ import annotations

import compare
import numpy as np
import report

import problems
import rhale

PLOTTED = rhale.Optimal(max_bins=40, discount=0.3, min_points=10, ddof=0)
GRID = (np.arange(2000) + 0.5) / 2000
FORMULAS = """\
**Two formulas for STD(x).** Eq. 16 as printed takes the root of a sum of squares; the program and all
figures take the plain sum. The root shrinks like 1/√K as bins are refined, so it measures the
number of bins; the sum fits what the paper says in words (±5 x2). `Effect.spread` sums, and
has the printed formula as `accumulate="quadrature"`.
"""
TRAPS = """\
**Two traps of the program.** It forbids small bins by a price of 1e10, which effects in dollars outbid:
asked for 60 rows a bin, it went down to 44 with effects around 1e5 and to 24 around 1e6. And it takes
rounding in the variance of a constant effect for a difference: 0.2 in every row gave four bins,
as the published figure of x1 in the introduction shows. `rhale` forbids by infinity, and knows rounding:
"""


def draw() -> str:
    """The two formulas: against the number of bins, and along the axis of study 2."""
    counts = np.arange(1, 41)
    intro, study = problems.intro(), problems.study_2()
    effects = [compare.fit(intro, "x2", rhale.Fixed(int(k)), (-1, 1)) for k in counts]
    plotted = compare.fit(study, "x1", PLOTTED, (0, 1))
    looks = {"sum": ("#0072B2", "o", r"sum of $\sigma_k \Delta_k$ (program, figures)")}
    looks["quadrature"] = ("#D55E00", "s", "root of the sum of squares (Eq. 16 as printed)")
    with compare.printed(compare.PAGE_WIDTH, 2.6) as figure:
        left, right = compare.panels(figure, 2, (1,))[0]
        for way, (colour, marker, name) in looks.items():
            ends = [effect.spread(1.0, center="start", accumulate=way) for effect in effects]
            left.plot(counts, ends, marker, color=colour, markersize=3, label=name)
            right.plot(GRID, plotted.spread(GRID, center="start", accumulate=way), color=colour)
        left.plot(counts, 10 + 0 * counts, "k:", linewidth=1, label="truth")
        left.plot(counts, 10 / np.sqrt(counts), color="0.5", linewidth=0.8, label=r"$10/\sqrt{K}$")
        right.plot(GRID, 0.4 * GRID, "k:", linewidth=1)
        left.set(xlabel="number of equal bins $K$", ylabel="STD at $x_2 = 1$", ylim=(0, None))
        left.set_title("introduction, $x_2$: rows differ by ±5")
        right.set(xlabel="$x_1$", ylabel="STD($x_1$)", ylim=(0, None))
        right.set_title(rf"study 2, {plotted.mean.size} bins as plotted: $\sigma = 0.4$")
        compare.one_legend(figure)
        return report.save(figure, "settings_spread")


def rows() -> list[list[str]]:
    """STD at the end of the axis by both formulas, with the published divisor n."""
    intro = rhale.Optimal(max_bins=20, discount=0.5, min_points=10, ddof=0)
    running = rhale.Optimal(max_bins=50, discount=0.1, min_points=5, ddof=0)
    cases = [
        ("intro x2, 20 bins", problems.intro(), "x2", rhale.Fixed(20), (-1, 1), "intro/x2/ale20"),
        ("intro x2, 1 bin", problems.intro(), "x2", intro, (-1, 1), "intro/x2/rhale"),
        ("running x1, 7 bins", problems.running(), "x1", running, (-0.5, 0.5), "running"),
        ("study 2, 30 bins", problems.study_2(), "x1", PLOTTED, (0, 1), "split2"),
    ]
    table = []
    for name, problem, feature, bins, limits, key in cases:
        effect = compare.fit(problem, feature, bins, limits)
        steps = compare.published_std(effect) * np.diff(effect.edges)
        drawn = f"{report.published(key)['std_end']:.3f}"
        table.append([name, f"{steps.sum():.3f}", drawn, f"{np.sqrt(steps @ steps):.3f}"])
    return table


def trap_rows() -> list[list[str]]:
    """Fewest rows in a bin whatever the unit of y, and bins of an effect that is constant."""
    problem = problems.study_1()
    sample = problem.paper_sample()
    x, slopes = sample[:, 0], problem.gradient(sample)[:, 0]
    wide = rhale.Optimal(max_bins=100, discount=0.3, min_points=60, ddof=0)
    usual = rhale.Optimal(max_bins=20, discount=0.3, min_points=10, ddof=0)
    table = []
    for scale in (1.0, 1e5, 1e6):
        effect = rhale.effect(x, scale * slopes, bins=wide, limits=(0, 1))
        found = f"{effect.mean.size} bins, the smallest with {effect.count.min()} rows"
        table.append([f"study 1 times {scale:.0e}, at least 60 rows a bin", found])
    for constant in (0.2, 0.25, 1 / 3):
        effect = rhale.effect(x, np.full(x.size, constant), bins=usual, limits=(0, 1))
        table.append([f"effect {constant:.4g} in every row", f"{effect.mean.size} bin"])
    return table
