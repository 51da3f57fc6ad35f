"""`rhale demo`: train a small model, explain it, draw pictures, write a page."""

from __future__ import annotations

import os
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

import rhale
from rhale.cli.pictures import draw_spread_and_intervals
from rhale.errors import MissingExtraError
from rhale.stats.arrays import FloatArray

FEATURE = "bmi"
TREES_LABEL, NETWORK_LABEL = "boosted trees", "neural network"
TOUR_PICTURES = ("all_features", "one_feature", "three_inks")  # of the README
N_TRAININGS = 6
DOTS_PER_INCH = 110
READING = {
    "all_features.png": "one small plot for each feature, the largest effect first",
    "one_feature.png": f"{FEATURE}: curve, spread and interval above, the slope in each bin below",
    "three_inks.png": f"{FEATURE}: spread between rows, interval of this model, interval between retrainings",
    "trees.json": 'the numbers: rhale.load("trees.json")',
    "trees.html": "all of it as one page, without a network",
    "both_models.png": f"{FEATURE} in both models, on one axis",
    "network.json": "the numbers of the network",
    "network.html": "the page of the network",
}


class Patients(NamedTuple):
    """The table, its names, and what is predicted; which rows a model may learn from."""

    rows: FloatArray
    target: FloatArray
    names: tuple[str, ...]
    known: np.ndarray[Any, Any]
    new: np.ndarray[Any, Any]

    def fit_of(self, answers: FloatArray) -> float:
        """R² of predictions for the patients that are new."""
        return float(r2_score(self.target[self.new], answers))


def read_patients() -> Patients:
    """Diabetes of 442 patients, which comes with scikit-learn, in its own units."""
    data = load_diabetes(scaled=False)
    known, new = train_test_split(np.arange(len(data.target)), random_state=0)
    return Patients(data.data, data.target, tuple(data.feature_names), known, new)


def make_learner() -> HistGradientBoostingRegressor:
    """Shallow boosted trees, not trained yet."""
    return HistGradientBoostingRegressor(
        max_iter=40, max_leaf_nodes=6, learning_rate=0.12, min_samples_leaf=15, random_state=0
    )


def take_the_tour(folder: Path, *, open_page: bool = True) -> None:
    """Train, explain, print, draw, write a page, and open it where somebody is looking."""
    mpl.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    patients = read_patients()
    print(f"How far diabetes went within a year, for {len(patients.rows)} patients\n")
    fx, written = tour_of_trees(folder, patients)
    if find_spec("torch") is None:
        print("torch is not installed: with it, a small network joins the tour\n")
    else:
        written += tour_of_network(folder, patients, fx)
    print("Written")
    for path in written:
        print(f"  {path}  {READING[path.name]}")
    open_first_page([path for path in written if path.suffix == ".html"], open_page=open_page)


def tour_of_trees(folder: Path, patients: Patients) -> tuple[rhale.Explanation, list[Path]]:
    """Explain boosted trees; the pictures of the README, numbers and a page."""
    say("training boosted trees, and explaining them")
    known = patients.known
    model = make_learner().fit(patients.rows[known], patients.target[known])
    fx = rhale.explain(model, patients.rows, feature_names=patients.names, regions=True)
    print_ranking(TREES_LABEL, fx, patients.fit_of(model.predict(patients.rows[patients.new])))
    say(
        f"training them {N_TRAININGS} times more, on halves of the patients, to see which effects are stable"
    )
    rx = rhale.refit(
        make_learner(),
        patients.rows,
        patients.target,
        feature_names=patients.names,
        features=[FEATURE],
        n_refits=N_TRAININGS,
    )
    print(rx, end="\n\n")
    # Draw what the README shows: all features, one of them, and its three bands.
    drawn = (fx.plot(), fx.plot(FEATURE), draw_spread_and_intervals(fx[FEATURE], rx[FEATURE]))
    return fx, [
        *[save_figure(folder, *both) for both in zip(TOUR_PICTURES, drawn, strict=True)],
        *write_tour_results(folder, "trees", TREES_LABEL, fx),
    ]


def tour_of_network(folder: Path, patients: Patients, trees: rhale.Explanation) -> list[Path]:
    """Explain a network of the same patients by its gradients, beside the trees."""
    from rhale.cli.tour_network import predict, train_network

    say("training a small network, and explaining it")
    known = patients.known
    model = train_network(patients.rows[known], patients.target[known])
    fx = rhale.explain(model, patients.rows.astype(np.float32), feature_names=patients.names)
    print_ranking(NETWORK_LABEL, fx, patients.fit_of(predict(model, patients.rows[patients.new])))
    both = save_figure(
        folder, "both_models", trees.compare({NETWORK_LABEL: fx}, FEATURE, name=TREES_LABEL)
    )
    return [both, *write_tour_results(folder, "network", NETWORK_LABEL, fx)]


def print_ranking(label: str, fx: rhale.Explanation, fit: float) -> None:
    """Print the ranked table of one model."""
    print(f"{label}: R² {fit:.2f} on held-out patients")
    print(fx, end="\n\n")


def write_tour_results(folder: Path, name: str, label: str, fx: rhale.Explanation) -> list[Path]:
    """Write an explanation as a file of numbers and, where its libraries are, as a page."""
    numbers, page = folder / f"{name}.json", folder / f"{name}.html"
    fx.save(numbers)
    try:
        return [numbers, fx.report(page, title=f"Diabetes, {label}")]
    except MissingExtraError as error:
        print(f"no page: {error}")
        return [numbers]


def save_figure(folder: Path, name: str, drawn: Any) -> Path:
    """Write a figure, or that of some axes, to the folder."""
    figure = drawn
    if not isinstance(figure, Figure):
        figure = np.ravel(np.asarray(drawn, dtype=object))[0].figure.figure
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=DOTS_PER_INCH, bbox_inches="tight")
    plt.close(figure)
    return path


def open_first_page(pages: list[Path], *, open_page: bool) -> None:
    """Name the first page last, as an address that terminals open, and open it if they can."""
    if not pages:
        return
    address = pages[0].resolve().as_uri()
    is_opened = open_page and is_watched() and webbrowser.open(address)
    print(f"\n{'Opened' if is_opened else 'Open'} the page: {address}")


def is_watched() -> bool:
    """Tell whether somebody sits before a screen: a terminal, a display, and no build server."""
    if not sys.stdout.isatty() or os.environ.get("CI"):
        return False
    own = sys.platform in ("darwin", "win32")
    return own or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def say(step: str) -> None:
    """Say what comes next, before it takes its seconds."""
    print(f"... {step}", flush=True)
