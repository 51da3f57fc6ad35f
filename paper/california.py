"""California Housing: where its rows come from, the paper's preprocessing and its two nets."""

from __future__ import annotations

import argparse
import copy
import hashlib
import os
import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from report import PARTS
from torch import nn

FloatArray = npt.NDArray[np.float64]

VARIABLE = "RHALE_CALIFORNIA_CSV"
FEATURES = (
    "longitude",
    "latitude",
    "housing_median_age",
    "total_rooms",
    "total_bedrooms",
    "population",
    "households",
    "median_income",
)
TARGET = "median_house_value"
UNITS = ("degree", "degree", "year", "room", "bedroom", "person", "household", "$10,000")
# axis limits of the published figures, standardised; the age keeps its whole range
LIMITS = {0: (-1.7, 1.3), 1: (-1.5, 1.7), 3: (-1.2, 2.3), 4: (-1.27, 2.5)}
LIMITS |= {5: (-1.25, 2.0), 6: (-1.3, 2.2), 7: (-1.77, 2.1)}
SPLIT_SEED = 138232
NET_SEED = 12384


class NoDataError(Exception):
    """The data set cannot be found or read; the message says what to do."""


@dataclass(frozen=True, eq=False)
class Housing:
    """The data set after the paper's preprocessing.

    Attributes
    ----------
    complete : DataFrame
        Features and target of the rows without a missing value, in their own units.
    n_rows : int
        Rows before those with missing values were dropped.
    kept : ndarray of shape (n_complete,)
        Rows with every feature within three standard deviations.
    from_csv : bool
        Whether missing bedrooms could be told; in scikit-learn's version they cannot.
    """

    complete: pd.DataFrame
    n_rows: int
    kept: npt.NDArray[np.bool_]
    from_csv: bool

    @cached_property
    def x(self) -> FloatArray:
        """Features of the kept rows, shape (n_kept, 8)."""
        return self.complete.loc[self.kept, list(FEATURES)].to_numpy(dtype=np.float64)

    @cached_property
    def y(self) -> FloatArray:
        """House values of the kept rows in dollars, shape (n_kept,)."""
        return self.complete.loc[self.kept, TARGET].to_numpy(dtype=np.float64)

    @cached_property
    def split(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Rows to train on and rows to test on: the published draw, a fifth for the test."""
        order = np.random.RandomState(SPLIT_SEED).permutation(int(self.kept.sum()))
        n_test = -(-order.size // 5)
        return order[n_test:], order[:n_test]

    @cached_property
    def scaled(self) -> tuple[FloatArray, FloatArray]:
        """Standardised features and target of the kept rows (divisor n)."""
        return (self.x - self.x.mean(0)) / self.x.std(0), (self.y - self.y.mean()) / self.y.std()

    def limits(self, feature: int) -> tuple[float, float]:
        """Published range of a feature, standardised."""
        x = self.scaled[0][:, feature]
        return LIMITS.get(feature, (float(x.min()), float(x.max())))

    def raw_limits(self, feature: int) -> tuple[float, float]:
        """Published range of a feature, in its own units."""
        x = self.x[:, feature]
        if feature not in LIMITS:
            return float(x.min()), float(x.max())
        low, high = (float(x.mean() + x.std() * limit) for limit in LIMITS[feature])
        return low, high


@dataclass(frozen=True)
class NetSettings:
    """Layers and learning rate of one of the two nets that the paper describes."""

    name: str
    origin: str
    hidden: tuple[int, ...]
    learning_rate: float
    epochs: int = 15


NET_A = NetSettings("A", "the published code", (256, 128, 32), 0.01)
NET_B = NetSettings("B", "the text", (256, 128, 36), 0.02)


class InDollars(nn.Module):
    """A trained net that takes features in their own units and answers in dollars."""

    def __init__(self, net: nn.Sequential, housing: Housing) -> None:
        super().__init__()
        self.net = copy.deepcopy(net)
        shifts = {"mean_x": housing.x.mean(0), "std_x": housing.x.std(0)}
        shifts |= {"mean_y": housing.y.mean(), "std_y": housing.y.std()}
        for name, value in shifts.items():
            self.register_buffer(name, torch.as_tensor(value))
        self.double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Predict house values, shape (n_rows,)."""
        scaled = self.net((x - self.mean_x) / self.std_x)
        return self.mean_y + self.std_y * scaled[:, 0]


def housing_from_arguments(about: str | None, arguments: list[str] | None = None) -> Housing:
    """Read `--data` from the command line and prepare the rows; end with a sentence if none."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(
        "--data", default=os.environ.get(VARIABLE), help=f"CSV file; default ${VARIABLE}"
    )
    path = parser.parse_args(arguments).data
    try:
        return prepare(read_csv(Path(path)), from_csv=True) if path else prepare(download())
    except NoDataError as error:
        sys.exit(str(error))


def read_csv(path: Path) -> pd.DataFrame:
    """Read the common 20640-row file (housing.csv)."""
    try:
        rows = pd.read_csv(path)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        msg = f"{path} cannot be read ({reason}); name the California Housing CSV with --data"
        raise NoDataError(msg) from error
    missing = [name for name in (*FEATURES, TARGET) if name not in rows]
    if missing:
        msg = f"{path} is not the California Housing CSV: it has no column {', '.join(missing)}"
        raise NoDataError(msg)
    return rows[[*FEATURES, TARGET]]


def download() -> pd.DataFrame:
    """Let scikit-learn fetch its version, or use the one it has."""
    from sklearn.datasets import fetch_california_housing

    try:
        with warnings.catch_warnings(action="ignore"):  # of a second try
            found = fetch_california_housing(as_frame=True, n_retries=1, delay=0.1)
        return as_totals(found.frame)
    except OSError as error:
        msg = (
            "California Housing is not here and scikit-learn could not fetch it "
            f"({error}); name a CSV file with --data or {VARIABLE}"
        )
        raise NoDataError(msg) from error


def as_totals(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn scikit-learn's averages per household back into the totals of the census.

    Notes
    -----
    The original totals are whole numbers, so rounding gives them back. This version has no
    missing bedrooms: the 207 rows that the CSV lacks cannot be told apart.
    """
    households = (frame["Population"] / frame["AveOccup"]).round()
    columns = (
        frame["Longitude"],
        frame["Latitude"],
        frame["HouseAge"],
        (frame["AveRooms"] * households).round(),
        (frame["AveBedrms"] * households).round(),
        frame["Population"],
        households,
        frame["MedInc"],
        (frame["MedHouseVal"] * 1e5).round(),
    )
    return pd.DataFrame(dict(zip((*FEATURES, TARGET), columns, strict=True)))


def prepare(rows: pd.DataFrame, *, from_csv: bool = False) -> Housing:
    """Drop rows with missing values, and mark those within three standard deviations."""
    complete = rows.dropna().reset_index(drop=True)
    x = complete[list(FEATURES)].to_numpy(dtype=np.float64)
    kept = np.all(np.abs(x - x.mean(0)) <= 3 * x.std(0), axis=1)
    return Housing(complete, len(rows), kept, from_csv)


def fitted_net(settings: NetSettings, housing: Housing) -> nn.Sequential:
    """Train a net on the training rows, or take the weights of the last run on the same rows."""
    x, y = (values[housing.split[0]] for values in housing.scaled)
    key = hashlib.sha256(repr((settings, NET_SEED)).encode() + x.tobytes() + y.tobytes())
    file = PARTS / f"california_{settings.name}_{key.hexdigest()[:16]}.pt"
    if file.exists():
        net = make_net(settings)
        net.load_state_dict(torch.load(file, weights_only=True))
        return net
    net = train(settings, x, y)
    PARTS.mkdir(exist_ok=True)
    torch.save(net.state_dict(), file)
    return net


def make_net(settings: NetSettings, generator: torch.Generator | None = None) -> nn.Sequential:
    """Dense layers with ReLU between them, started as Keras does (Glorot, no bias)."""
    sizes = (len(FEATURES), *settings.hidden, 1)
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        dense = nn.Linear(before, after)
        nn.init.xavier_uniform_(dense.weight, generator=generator)
        nn.init.zeros_(dense.bias)
        layers += [dense, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def train(settings: NetSettings, x: FloatArray, y: FloatArray) -> nn.Sequential:
    """Fit a net: mean squared error, Adam as in Keras, batches of 32; the same for every call."""
    torch.set_num_threads(1)  # small layers: one core is faster than two, and always adds alike
    generator = torch.Generator().manual_seed(NET_SEED)
    net = make_net(settings, generator)
    adam = torch.optim.Adam(net.parameters(), settings.learning_rate, eps=1e-7, fused=True)
    rows, target = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    for _ in range(settings.epochs):
        for batch in torch.randperm(len(rows), generator=generator).split(32):
            adam.zero_grad()
            nn.functional.mse_loss(net(rows[batch])[:, 0], target[batch]).backward()
            adam.step()
    return net.eval()


def held_out_error(net: nn.Sequential, housing: Housing) -> tuple[float, float]:
    """Mean absolute error in dollars and R² on the test rows."""
    test = housing.split[1]
    with torch.no_grad():
        answer = InDollars(net, housing)(torch.tensor(housing.x[test])).numpy()
    rest, y = answer - housing.y[test], housing.y[test]
    return float(np.abs(rest).mean()), float(1 - np.mean(rest**2) / y.var())
