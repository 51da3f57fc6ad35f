"""Draw the pictures of the README: a boosted model of the diabetes data, explained."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"


def main() -> None:
    """Explain the model and save both kinds of plots."""
    x, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = HistGradientBoostingRegressor(random_state=0, max_iter=60, learning_rate=0.05)
    fx = rhale.explain(model.fit(x, y), x)
    IMAGES.mkdir(parents=True, exist_ok=True)
    fx.plot("bmi")[0].figure.savefig(IMAGES / "one_feature.png", dpi=110)
    fx.plot()[0].figure.savefig(IMAGES / "all_features.png", dpi=90)


if __name__ == "__main__":
    main()
