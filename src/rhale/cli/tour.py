"""Explain a boosted model and a neural network of the same data, and compare what they learned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import torch
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

import rhale
from rhale.errors import MissingExtraError

BOOSTED, NETWORK = "boosted trees", "neural network"
READING = """
How to read them
  *_all_features  one small plot for each feature, the largest effect first, one y axis for all.
  *_<feature>     above: how predictions move with the feature, the spread between patients around
                  it, and in another ink how sure the average is; below: the slope in each bin.
  compare_*       both models on one axis. Where they agree, the data speak; else look closer.
  *_ice           one line for each patient, and their average (the partial dependence).
  *_bins.csv      one row for each feature and bin.
  *.json          the whole result: rhale.load("demo/boosted_trees.json"), or on the command line
                  rhale compare demo/boosted_trees.json demo/neural_network.json."""

PAGES = """
  *.html          the report of one model, for a browser; it needs no network."""


class Network(torch.nn.Module):
    """A network that standardises its own inputs, so that features keep their own units."""

    centre: torch.Tensor
    scale: torch.Tensor

    def __init__(self, rows: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("centre", rows.mean(dim=0))
        self.register_buffer("scale", rows.std(dim=0))
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(rows.shape[1], 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
        )

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Predict, in hundreds inside and in the units of the target outside."""
        answer: torch.Tensor = self.layers((rows - self.centre) / self.scale)
        return 100 * (1.5 + answer)


def train_boosted(x: pd.DataFrame, y: pd.Series) -> HistGradientBoostingRegressor:
    """Fit shallow boosted trees."""
    model = HistGradientBoostingRegressor(
        max_iter=60, max_leaf_nodes=6, learning_rate=0.08, min_samples_leaf=15, random_state=0
    )
    return model.fit(x, y)


def train_network(x: pd.DataFrame, y: pd.Series) -> Network:
    """Fit a small network, with the same weights every time."""
    torch.manual_seed(0)
    rows, target = as_tensor(x), as_tensor(y)[:, None]
    model = Network(rows)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=1.0)
    for _ in range(200):
        optimiser.zero_grad()
        loss = torch.mean(((model(rows) - target) / 100) ** 2)
        torch.autograd.backward(loss)
        optimiser.step()
    return model.eval()


def as_tensor(table: pd.DataFrame | pd.Series) -> torch.Tensor:
    """Bring a table into the network's precision."""
    return torch.tensor(table.to_numpy(dtype=np.float32))


def print_ranking(label: str, fx: rhale.Explanation, fit: float) -> None:
    """Print the ranked table of one model."""
    print(f"{label}: R² {fit:.2f} on patients it has not seen")
    print(fx, end="\n\n")


def save_figure(folder: Path, name: str, axes: Any) -> Path:
    """Write the figure of some axes to the folder."""
    figure: Figure = np.ravel(np.asarray(axes, dtype=object))[0].get_figure(root=True)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
    return path


def write_model(folder: Path, label: str, fx: rhale.Explanation) -> list[Path]:
    """Write one model's numbers, all its features, and the most important one in detail."""
    name, feature = label.replace(" ", "_"), fx.ranked()[0].name
    numbers, bins = folder / f"{name}.json", folder / f"{name}_bins.csv"
    fx.save(numbers)
    fx.to_frame().to_csv(bins, index=False)
    overview = save_figure(folder, f"{name}_all_features", fx.plot())
    return [overview, save_figure(folder, f"{name}_{feature}", fx.plot(feature)), bins, numbers]


def write_comparison(
    folder: Path, explained: Mapping[str, rhale.Explanation], feature: str
) -> Path:
    """Draw one feature of both models on one axis."""
    others = {NETWORK: explained[NETWORK]}
    return save_figure(
        folder, f"compare_{feature}", explained[BOOSTED].compare(others, feature, name=BOOSTED)
    )


def write_curves(
    folder: Path, model: HistGradientBoostingRegressor, x: pd.DataFrame, feature: str
) -> Path:
    """Draw one line for each patient, and the partial dependence."""
    ice = rhale.explain(model, x, features=feature, method="ice")
    return save_figure(folder, f"{BOOSTED.replace(' ', '_')}_{feature}_ice", ice.plot(feature))


def write_page(folder: Path, label: str, fx: rhale.Explanation) -> list[Path]:
    """Write the report of one model, if the libraries that make it are installed."""
    try:
        return [fx.report(folder / f"{label.replace(' ', '_')}.html", title=f"Diabetes, {label}")]
    except MissingExtraError as error:
        print(f"no report: {error}")
        return []


def take_the_tour(folder: Path) -> None:
    """Train, explain, print, draw, report."""
    mpl.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    x, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    known_x, new_x, known_y, new_y = train_test_split(x, y, random_state=0)
    boosted, network = train_boosted(known_x, known_y), train_network(known_x, known_y)
    with torch.no_grad():
        fits = {
            BOOSTED: r2_score(new_y, boosted.predict(new_x)),
            NETWORK: r2_score(new_y, network(as_tensor(new_x)).numpy()),
        }

    explained = {BOOSTED: rhale.explain(boosted, x), NETWORK: rhale.explain(network, x)}
    print(f"How far diabetes went within a year, predicted for {len(x)} patients\n")
    for label, fx in explained.items():
        print_ranking(label, fx, fits[label])

    feature = explained[BOOSTED].ranked()[0].name
    written = [path for label, fx in explained.items() for path in write_model(folder, label, fx)]
    written += [
        write_comparison(folder, explained, feature),
        write_curves(folder, boosted, x, feature),
    ]
    pages = [page for label, fx in explained.items() for page in write_page(folder, label, fx)]
    print("Written", *written, *pages, sep="\n  ")
    print(READING + (PAGES if pages else ""))
