"""Explain a boosted model and a neural network of the same data, and compare what they learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

BOOSTED, NETWORK = "boosted trees", "neural network"
FOLDER = Path("demo")


class Standardised(torch.nn.Module):
    """A network that standardises its own inputs: features keep the units that people know."""

    def __init__(self, rows: torch.Tensor, target: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("centre", rows.mean(dim=0))
        self.register_buffer("scale", rows.std(dim=0))
        self.register_buffer("level", target.mean())
        self.register_buffer("size", target.std())
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(rows.shape[1], 24),
            torch.nn.Tanh(),
            torch.nn.Linear(24, 12),
            torch.nn.Tanh(),
            torch.nn.Linear(12, 1),
        )

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Predict in the units of the target."""
        answer: torch.Tensor = self.layers((rows - self.centre) / self.scale)
        return self.level + self.size * answer


def train_boosted(x: pd.DataFrame, y: pd.Series) -> HistGradientBoostingRegressor:
    """Fit shallow boosted trees."""
    model = HistGradientBoostingRegressor(
        max_iter=60, max_leaf_nodes=8, learning_rate=0.08, min_samples_leaf=15, random_state=0
    )
    return model.fit(x, y)


def train_network(x: pd.DataFrame, y: pd.Series) -> torch.nn.Module:
    """Fit a small network with weight decay; the same weights every time."""
    torch.manual_seed(0)
    rows = torch.tensor(x.to_numpy(dtype=np.float32))
    target = torch.tensor(y.to_numpy(dtype=np.float32))[:, None]
    model = Standardised(rows, target)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.5)
    for _ in range(250):
        optimiser.zero_grad()
        loss = torch.mean(((model(rows) - target) / target.std()) ** 2)
        loss.backward()
        optimiser.step()
    return model.eval()


def share_explained(predictions: np.ndarray[Any, Any], y: pd.Series) -> float:
    """R² of a model on the rows it was trained on."""
    return 1 - float(np.var(y.to_numpy() - predictions) / np.var(y.to_numpy()))


def save_plot(name: str, draw: Callable[[], Any]) -> Path:
    """Draw, and write the figure to the folder."""
    drawn = draw()
    axes: Axes = np.ravel(np.asarray(drawn, dtype=object))[0]
    figure = axes.figure
    path = FOLDER / f"{name}.png"
    figure.savefig(path, dpi=120, bbox_inches="tight")
    figure.clear()
    return path


def write_results(label: str, fx: rhale.Explanation, feature: str) -> list[Path]:
    """Write what one model's explanation has to show: numbers, all features, one feature."""
    name = label.replace(" ", "_")
    numbers, bins = FOLDER / f"{name}.json", FOLDER / f"{name}_bins.csv"
    fx.save(numbers)
    fx.to_frame().to_csv(bins, index=False)
    return [
        save_plot(f"{name}_all_features", lambda: fx.plot()),
        save_plot(f"{name}_{feature}", lambda: fx.plot(feature)),
        numbers,
        bins,
    ]


def main() -> None:
    """Train, explain, print, draw."""
    mpl.use("agg")
    FOLDER.mkdir(exist_ok=True)
    x, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    boosted, network = train_boosted(x, y), train_network(x, y)

    explained = {BOOSTED: rhale.explain(boosted, x), NETWORK: rhale.explain(network, x)}
    with torch.no_grad():
        answers = network(torch.tensor(x.to_numpy(dtype=np.float32))).numpy()[:, 0]
    fits = {
        BOOSTED: share_explained(boosted.predict(x), y),
        NETWORK: share_explained(answers, y),
    }
    for label, fx in explained.items():
        print(f"{label}: R² {fits[label]:.2f} on its training rows; effects in units of the target")
        print(fx, end="\n\n")

    feature = explained[BOOSTED].ranked()[0].name
    paths = [p for label, fx in explained.items() for p in write_results(label, fx, feature)]
    both = explained[BOOSTED]
    others = {NETWORK: explained[NETWORK]}
    paths.append(
        save_plot(f"compare_{feature}", lambda: both.compare(others, feature, name=BOOSTED))
    )
    ice = rhale.explain(boosted, x, features=feature, method="ice")
    paths.append(save_plot(f"boosted_trees_{feature}_ice", lambda: ice.plot(feature)))

    print(
        f"Diabetes data, {len(x)} patients; the models predict how far the disease went in a year."
    )
    print(f"Most important for the {BOOSTED}: {feature}. Written:")
    for path in paths:
        print(f"  {path}")
    print(READING)


READING = """
How to read them:
  *_all_features  one small plot per feature, largest effect first, one y axis for all.
  *_<feature>     above, how predictions move with the feature, with the spread between rows and
                  the uncertainty of the average; below, the slope in each bin, with single rows.
  compare_*       both models on one axis: where they agree, the data speak; where not, look closer.
  *_ice           one line per patient, and their average (partial dependence).
  *.json          the whole result: rhale.load("demo/boosted_trees.json").
  *_bins.csv      one row per feature and bin."""


if __name__ == "__main__":
    main()
