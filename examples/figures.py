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


def draw_tables() -> None:
    """Run the first example of docs/tables.md and draw what it explains."""
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "tables"}
    example = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    exec(compile(example, "tables.md", "exec"), names)  # noqa: S102 - our own page
    names["fx"].plot()[0].figure.savefig(IMAGES / "raw_table.png", dpi=90)
    names["fx"].plot("district")[0].figure.savefig(IMAGES / "levels.png", dpi=90)


def main() -> None:
    """Draw everything."""
    draw_readme()
    draw_tables()


if __name__ == "__main__":
    main()
