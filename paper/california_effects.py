"""California Housing: RHALE and PDP-ICE of all eight features, beside the published shapes."""

from __future__ import annotations

from typing import Any

import california
import compare
import numpy as np
import report
from california import FEATURES, NET_A, UNITS, FloatArray, Housing, InDollars
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

import rhale

SETTINGS = rhale.Optimal(max_bins=20, discount=0.3, min_points=30, ddof=0)
ICE_ROWS, GRID_CELLS, CURVES = 1000, 48, 80
WIDE = 0.4  # share of the axis that the widest bin covers
WIDTHS = ((min, (2, 3, 4, 6)), (max, (0, 1)))  # wide and narrow ones in the published figures
SIGNS = {0: -1, 1: -1, 3: 1, 4: 1, 5: -1, 6: 1, 7: 1}  # of all published bin effects
CLAIM = """\
## California Housing: effects

`paper/california_effects.py`. The paper draws RHALE (20 cells, at least 30 rows a bin, discount 0.3)
and PDP-ICE of all eight features of its net, on the training rows and between limits set by hand. The
weights were not published, so the net here is another one with the same settings (net A): shapes can
agree, digits cannot. Everything is in dollars and in dollars per unit of the feature.
"""
RHALE_TEXT = "**RHALE**; dashed: the published curve and bin effects."
ICE_TEXT = f"**PDP-ICE** on {ICE_ROWS} of the training rows; dashed: the RHALE curve from above."
TABLE = ("feature", "bins", "widest bin", "range of bin effects, $", "change of the curve, k$")
TABLE = (*TABLE, "STD at the end, k$", "change of the PDP, k$")
VERDICT = """\
**Verdict: {word}.** House values fall with longitude, latitude and population, and rise with rooms,
bedrooms, households and income: {agree} of {count} bins of these features have the published sign. The
widest bin covers at least {least:.0%} of the axis for age, rooms, bedrooms and households (x3, x4, x5,
x7), and at most {most:.0%} for the place (x1, x2), which needs many narrow bins. Number and limits of the
bins differ as the weights do. The PDP, which pairs every longitude with every latitude, changes less
with the place and the population than RHALE's curve.
"""


def explain(model: InDollars, housing: Housing, **options: Any) -> rhale.Explanation:
    """Explain the model on the training rows, within the limits of the published figures."""
    limits = {s: housing.raw_limits(s) for s in range(len(FEATURES))}
    return rhale.explain(model, housing.x[housing.split[0]], limits=limits, **options)


def published_curve(s: int, x: FloatArray) -> FloatArray:
    """Accumulate the published bin effects, with average zero over x."""
    paper = report.published(f"california/x{s + 1}/rhale")
    change = np.cumsum(np.multiply(paper["effect"], np.diff(paper["limits"])))
    curve = np.interp(x, paper["limits"], np.append(0.0, change))
    return curve - curve.mean()


def widest(limits: FloatArray | list[float]) -> float:
    """Share of the axis that the widest bin covers."""
    return float(np.diff(limits).max() / (limits[-1] - limits[0]))


def draw_rhale(fx: rhale.Explanation) -> str:
    """Two panels a feature."""
    with compare.printed(compare.PAGE_WIDTH, 10.5) as figure:
        places = figure.add_gridspec(11, 2, height_ratios=[3, 2, 0.3] * 3 + [3, 2])
        for s, effect in enumerate(fx.values()):
            top = figure.add_subplot(places[s // 2 * 3, s % 2])
            bottom = figure.add_subplot(places[s // 2 * 3 + 1, s % 2], sharex=top)
            fx.plot(
                s,
                ax=(top, bottom),
                center="uniform",
                xscale="linear",
                spread=False,
                uncertainty=False,
            )
            compare.draw_band(effect, top)
            paper = report.published(f"california/x{s + 1}/rhale")
            x = np.linspace(*effect.edges[[0, -1]], 401)
            top.plot(x, published_curve(s, x), "k--", linewidth=0.8, zorder=5, label="published")
            steps = bottom.stairs(paper["effect"], paper["limits"], baseline=None, color="k")
            steps.set(linestyle="--", linewidth=0.8, zorder=5)
            dress(top, "effect, $", f"x{s + 1}: {FEATURES[s]}, {effect.mean.size} bins")
            dress(bottom, f"$ per {UNITS[s]}")
        compare.one_legend(figure)
        return report.save(figure, "california_rhale")


def draw_ice(ice: rhale.Explanation, fx: rhale.Explanation) -> str:
    """Partial dependence and curves of single rows."""
    with compare.printed(compare.PAGE_WIDTH, 8.5) as figure:
        for s, ax in enumerate(figure.subplots(4, 2).flat):
            ice.plot(s, ax=ax, center="uniform", xscale="linear", max_curves=CURVES)
            x = np.linspace(*fx[s].edges[[0, -1]], 401)
            curve = fx[s].curve(x, center="uniform")
            ax.plot(x, curve, "k--", linewidth=0.8, zorder=5, label="RHALE")
            dress(ax, "effect, $", f"x{s + 1}: {FEATURES[s]}")
        compare.one_legend(figure)
        return report.save(figure, "california_ice")


def dress(ax: Axes, y_label: str, title: str = "") -> None:
    """Write thousands as k; the title names the feature."""
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    ax.tick_params(labelsize=7)
    ax.set_ylabel(y_label, parse_math=False, fontsize=7)
    ax.set_xlabel("")
    ax.set_title(title, loc="left")


def row(s: int, effect: rhale.Effect, profile: rhale.Profile) -> list[str]:
    """Ours / published for one feature."""
    paper = report.published(f"california/x{s + 1}/rhale")
    change = effect.curve(effect.edges[-1], center="start") / 1e3
    change_then = (paper["curve_end"] - paper["curve_start"]) / 1e3
    std_end = float(compare.published_std(effect) @ np.diff(effect.edges)) / 1e3
    effects = [f"{min(e):,.0f} to {max(e):,.0f}" for e in (effect.mean, paper["effect"])]
    return [
        f"x{s + 1} {FEATURES[s]}",
        f"{effect.mean.size} / {len(paper['effect'])}",
        f"{widest(effect.edges):.2f} / {widest(paper['limits']):.2f}",
        " / ".join(effects),
        f"{change:.0f} / {change_then:.0f}",
        f"{std_end:.0f} / {paper['std_end'] / 1e3:.0f}",
        f"{(profile.mean[-1] - profile.mean[0]) / 1e3:.0f}",
    ]


def verdict(fx: rhale.Explanation) -> str:
    """Say whether the signs are the published ones, and which features have one wide bin."""
    signs = np.concatenate([sign * np.sign(fx[s].mean) for s, sign in SIGNS.items()])
    least, most = (agg(widest(fx[s].edges) for s in part) for agg, part in WIDTHS)
    same = np.mean(signs > 0) >= 0.9 and least >= WIDE > most
    word, agree = "shapes reproduced" if same else "shapes differ", int(np.sum(signs > 0))
    return VERDICT.format(word=word, agree=agree, count=signs.size, least=least, most=most)


def main() -> None:
    """Explain net A in both ways, draw, compare, write the section."""
    housing = california.housing_from_arguments(__doc__)
    model = InDollars(california.fitted_net(NET_A, housing), housing)
    fx = explain(model, housing, bins=SETTINGS)
    ice = explain(model, housing, method="ice", bins=GRID_CELLS, n_rows=ICE_ROWS)
    report.write_part(
        "california_effects",
        CLAIM,
        RHALE_TEXT,
        draw_rhale(fx),
        "Ours / published:",
        report.table(TABLE, [row(s, fx[s], ice[s]) for s in range(len(FEATURES))]),
        ICE_TEXT,
        draw_ice(ice, fx),
        verdict(fx),
    )


if __name__ == "__main__":
    main()
