"""Draw the pictures of the README and of the how-to pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale
from rhale.kernels import FloatArray
from rhale.results import inks
from rhale.results.effect import Effect
from rhale.results.refit_effect import RefitEffect

DOCS = Path(__file__).resolve().parent.parent / "docs"
IMAGES = DOCS / "images"


def draw_readme() -> None:
    """Explain a boosted model of the diabetes data and save both kinds of plots."""
    x, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = HistGradientBoostingRegressor(random_state=0, max_iter=60, learning_rate=0.05)
    fx = rhale.explain(model.fit(x, y), x)
    IMAGES.mkdir(parents=True, exist_ok=True)
    fx.plot("bmi")[0].figure.savefig(IMAGES / "one_feature.png", dpi=110)
    fx.plot()[0].figure.savefig(IMAGES / "all_features.png", dpi=90)


def explained_on(page: str, name: str = "fx") -> Any:
    """Run the first example of a page of docs/, and give what it explains."""
    return run_example(page)[name]


def run_example(page: str) -> dict[str, Any]:
    """Run the first example of a page of docs/, and give all that it names."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    example = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    exec(compile(example, f"{page}.md", "exec"), names)  # noqa: S102 - our own page
    return names


def draw_tables() -> None:
    """Draw what the first example of docs/tables.md explains."""
    fx = explained_on("tables")
    fx.plot()[0].figure.savefig(IMAGES / "raw_table.png", dpi=90)
    fx.plot("district", sort="order")[0].figure.savefig(IMAGES / "levels.png", dpi=90)


def draw_regions() -> None:
    """Draw who differs in the first example of docs/regions.md: by a rule, and gradually."""
    fx = explained_on("regions")
    for feature, name in (("age", "regions"), ("exercise", "gradual")):
        figure = fx.plot(feature, regions=True).figure
        figure.savefig(IMAGES / f"{name}.png", dpi=90, bbox_inches="tight")


def draw_pairs() -> None:
    """Draw the strongest pair of the first example of docs/interactions.md, twice, and all pairs."""
    ix = explained_on("interactions", "ix")
    pair = ix["area", "distance"]
    for kind in ("lines", "map"):
        figure = pair.plot(kind=kind).figure
        figure.savefig(IMAGES / f"pair_{kind}.png", dpi=90, bbox_inches="tight")
    figure = ix.plot()[0].figure
    figure.savefig(IMAGES / "all_pairs.png", dpi=90, bbox_inches="tight")


def draw_refits() -> None:
    """Draw the first example of docs/refits.md: a feature, all of them, and the three inks."""
    made = run_example("refits")
    rx, rows, target = made["rx"], made["homes"], made["price"]
    rx.plot("area").figure.savefig(IMAGES / "refits.png", dpi=90)
    rx.plot().figure.savefig(IMAGES / "replication.png", dpi=90)
    fx = rhale.explain(clone(made["learner"]).fit(rows, target), rows)
    draw_three_inks(fx["year"], rx["year"]).savefig(IMAGES / "three_inks.png", dpi=90)


def draw_three_inks(one: Effect, many: RefitEffect) -> Figure:
    """Draw one feature three times, on one scale: rows, this model, other trainings."""
    figure = Figure((9.0, 3.6), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    path, other = one.trace(), many.trace()
    spread = Band(path.x, path.curve, path.curve - path.spread, path.curve + path.spread)
    rows = Band(path.x, path.curve, path.low, path.high)
    between = Band(other.x, other.curve, other.low, other.high)
    panels[2].plot(other.x, other.curves.T, color=inks.BETWEEN, linewidth=0.6, alpha=0.6)
    draw_band(panels[0], spread, inks.SPREAD, ("How do rows differ?", "spread between rows"))
    draw_band(
        panels[1],
        rows,
        inks.UNCERTAINTY,
        ("Where is this model's curve?", "95 % interval,\nthis model"),
    )
    draw_band(
        panels[2],
        between,
        inks.BETWEEN,
        ("And after another training?", "95 % interval,\nbetween trainings"),
    )
    figure.supxlabel(one.name, fontsize="medium")
    panels[0].set_ylabel(f"effect of {one.name} (centred)")
    return figure


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
    ax.plot(band.x, band.curve, color=inks.EFFECT, linewidth=1.6)
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


def main() -> None:
    """Draw everything."""
    draw_readme()
    draw_tables()
    draw_regions()
    draw_pairs()
    draw_refits()


if __name__ == "__main__":
    main()
