"""Draw the pictures of the README and of the how-to pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

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
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    example = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    exec(compile(example, f"{page}.md", "exec"), names)  # noqa: S102 - our own page
    return names[name]


def draw_tables() -> None:
    """Draw what the first example of docs/tables.md explains."""
    fx = explained_on("tables")
    fx.plot()[0].figure.savefig(IMAGES / "raw_table.png", dpi=90)
    fx.plot("district")[0].figure.savefig(IMAGES / "levels.png", dpi=90)


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


def main() -> None:
    """Draw everything."""
    draw_readme()
    draw_tables()
    draw_regions()
    draw_pairs()


if __name__ == "__main__":
    main()
