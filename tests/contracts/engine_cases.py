"""What every engine must do alike: tables, models and the comparison with the table in memory.

An engine is one entry, `Engine(name, spread)`; a test file names its engines and calls `check`.
Models are made inside functions: workers that do not know this module can open them all the same.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import rhale

N_ROWS = 600
CLOSE = 1e-12  # relative
EXACT = {"edges", "count", "level_count", "levels", "pooled", "spread_edges", "curve_x"}
EXACT |= {"sampled", "threshold"}
SIZED_BY_MEAN = {"std", "std_plain", "standard_error", "level_error", "slope", "slope_error"}
KEPT = ("rows", "columns", "kinds", "weighted", "bins", "local_effects")
KEPT += ("rows_asked", "answers_walked", "sample_rows", "method", "model")


@dataclass(frozen=True)
class Engine:
    """Where rows are.

    Attributes
    ----------
    name : str
        For the test's name.
    spread : callable
        (table, number of parts) -> the same rows as the engine holds them.
    held : callable
        table -> the same rows in memory, with the types that the engine has: where it knows no
        categories, they are text.
    settings : callable
        number of parts -> arguments of `explain`.
    """

    name: str
    spread: Callable[[Any, int], Any]
    held: Callable[[Any], Any] = lambda table: table
    settings: Callable[[int], Mapping[str, Any]] = lambda _: {}

    def __str__(self):
        return self.name


@dataclass(frozen=True)
class Case:
    """A question: a model, and the arguments of `explain`.

    Attributes
    ----------
    name : str
        For the test's name.
    make : callable
        Makes the model.
    options : mapping
        Arguments of `explain`.
    parts : tuple of int
        How often the rows are cut: small parts cost much, as models answer for few rows at a time.
    """

    name: str
    make: Callable[[], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[int, ...] = (7,)

    def __str__(self):
        return self.name


# --- rows --------------------------------------------------------------------------------------


@cache
def frame():
    """Numbers, whole numbers, categories, text, dates, truth, missing values and weights."""
    rng, n = np.random.default_rng(8), N_ROWS
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 5, n),
            "c": pd.Categorical(rng.choice(["u", "v", "w"], n, p=[0.7, 0.2, 0.1])),
            "s": pd.Series(rng.choice(["north", "south", "west"], n), dtype="str"),
            "d": pd.Timestamp("2024-02-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "m": rng.normal(size=n),
            "t": rng.random(n) < 0.3,
            "w": rng.choice([0.0, 0.3, 1.0, 1.7], n),
        }
    )
    table.loc[rng.random(n) < 0.1, "m"] = np.nan
    table.loc[rng.random(n) < 0.05, "s"] = None
    return table


@cache
def matrix():
    """Numbers, whole numbers, missing values and weights."""
    return frame()[["a", "b", "m", "w"]].to_numpy(dtype=np.float64)


# --- models ------------------------------------------------------------------------------------


def smooth():
    """A function of all columns, some of them together."""

    def model(rows):
        a, m = rows["a"].to_numpy(), np.nan_to_num(rows["m"].to_numpy(dtype=float))
        days = (rows["d"] - pd.Timestamp("2024-01-01")).dt.total_seconds().to_numpy() / 86_400
        south = (rows["s"].astype(object) == "south").to_numpy()
        rare = (rows["c"].astype(str) != "u").to_numpy()
        steps = rows["b"].to_numpy() * (1 + rare) + a * south + rows["t"].to_numpy()
        return np.sin(a) * (1 + 0.3 * m) + 1e-5 * days**2 + steps

    return model


def smooth_slopes():
    """Its derivative along a, m and d; categories and steps have none."""

    def gradient(rows):
        a, m = rows["a"].to_numpy(), np.nan_to_num(rows["m"].to_numpy(dtype=float))
        days = (rows["d"] - pd.Timestamp("2024-01-01")).dt.total_seconds().to_numpy() / 86_400
        south = (rows["s"].astype(object) == "south").to_numpy()
        slopes = np.zeros((len(rows), rows.shape[1]))
        slopes[:, list(rows.columns).index("a")] = np.cos(a) * (1 + 0.3 * m) + south
        slopes[:, list(rows.columns).index("m")] = 0.3 * np.sin(a)
        slopes[:, list(rows.columns).index("d")] = 2e-5 * days
        return slopes

    return gradient


def stepped():
    """A function without derivatives."""

    def model(rows):
        a, m = rows["a"].to_numpy(), np.nan_to_num(rows["m"].to_numpy(dtype=float), nan=-1.0)
        return np.floor(3 * a) * (2 + np.floor(m)) + (rows["s"].astype(object) == "west").to_numpy()

    return model


def trees():
    """Boosted trees behind a step that reads categories and text; they take five columns."""
    table = frame()[TREES["columns"]].assign(c=lambda rows: rows["c"].astype("str"))
    target = table["a"] * (table["c"] == "u") + table["b"] + table["m"].fillna(2.0) ** 2
    names = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = ColumnTransformer([("names", names, ["c", "s"])], remainder="passthrough")
    forest = HistGradientBoostingRegressor(max_iter=12, max_leaf_nodes=8, random_state=0)
    return make_pipeline(columns, forest).fit(table, target)


def of_arrays():
    """A function of an array."""

    def model(rows):
        m = np.nan_to_num(rows[:, 2])
        return np.column_stack([np.sin(rows[:, 0]) + rows[:, 1] * m, rows[:, 0] * m])

    return model


WEIGHTS = {"weights": "w"}
TREES = {**WEIGHTS, "columns": ["a", "b", "c", "s", "m"]}
GRADIENT = {**WEIGHTS, "gradient": smooth_slopes()}
CASES = [
    Case("smooth, rhale", smooth, GRADIENT, (1, 7)),
    Case("smooth, two features", smooth, {**GRADIENT, "features": ["m", "s"]}, (100,)),
    Case("smooth, ale", smooth, {**WEIGHTS, "method": "ale", "features": ["a", "b", "d", "s"]}),
    Case("stepped, rhale", stepped, {**WEIGHTS, "features": ["a", "m", "s"]}),
    Case("trees, rhale", trees, TREES),
    Case("trees, pdp", trees, {**TREES, "method": "pdp", "bins": 4, "features": ["a", "m", "c"]}),
    Case("smooth, ice", smooth, {"method": "ice", "bins": 4, "features": ["a", "s"]}),
    Case("smooth, mplot", smooth, {**WEIGHTS, "method": "mplot"}),
    Case("drawn rows", smooth, {"gradient": smooth_slopes(), "n_rows": 450, "seed": 3}),
    Case("smooth, regions", smooth, {**GRADIENT, "features": ["a", "s"], "regions": True}),
    Case("stepped, regions", stepped, {**WEIGHTS, "features": "m", "regions": True}),
    Case("trees, groups", trees, {**TREES, "features": ["a", "s"], "regions": rhale.By("c")}),
]
ARRAY_CASES = [
    Case("array, rhale", of_arrays, {"weights": "x3"}, (1, 7, 100)),
    Case("array, ale", of_arrays, {"method": "ale", "features": ["x0"]}),
]
FRAME_RUNS = [(case, n_parts) for case in CASES for n_parts in case.parts]
ARRAY_RUNS = [(case, n_parts) for case in ARRAY_CASES for n_parts in case.parts]
RUNS = [*FRAME_RUNS, *ARRAY_RUNS]


def cut(table, n_parts):
    """The rows in so many parts of about the same size, some of them empty where rows run out."""
    limits = np.linspace(0, len(table), n_parts + 1).astype(int)
    return [table[low:high] for low, high in itertools.pairwise(limits)]


# --- the comparison ----------------------------------------------------------------------------


def check(case, engine, n_parts):
    """Assert that an engine gives what the same rows in memory give."""
    whole = matrix() if case in ARRAY_CASES else frame()
    data = engine.spread(whole, n_parts)
    found = rhale.explain(case.make(), data, **case.options, **engine.settings(n_parts))
    assert_same(found, in_memory(case, engine.held))
    return found


@cache
def _in_memory(name, held):
    case = next(c for c in [*CASES, *ARRAY_CASES] if c.name == name)
    whole = matrix() if case in ARRAY_CASES else frame()
    return rhale.explain(case.make(), held(whole), **case.options)


def in_memory(case, held):
    """What the rows in memory give, made once."""
    return _in_memory(case.name, held)


def assert_same(found, wanted):
    """Assert that two explanations say the same: bins exactly, numbers to rounding."""
    assert (found.features, found.outputs) == (wanted.features, wanted.outputs)
    assert found.notes == wanted.notes
    said = {name: wanted.provenance[name] for name in KEPT}
    assert {name: found.provenance[name] for name in KEPT} == said
    for one, other in zip(found.effects, wanted.effects, strict=True):
        assert_same_effect(one, other)
    for name in ("sample_x", "sample_weight", "predictions"):
        assert_close(getattr(found, name), getattr(wanted, name), name)
    assert found.cells.keys() == wanted.cells.keys()
    for name, cells in wanted.cells.items():
        assert_same_record(found.cells[name], cells, f"cells of {name}")


def assert_same_effect(found, wanted):
    """Assert that two results say the same, and what is made of them too."""
    what = f"{wanted.name}, {wanted.output}"
    size = float(np.nanmax(np.abs(wanted.mean), initial=0.0))
    assert_same_record(found, wanted, what, size)
    assert found.notes == wanted.notes
    at = (wanted.grid[1:] + wanted.grid[:-1]) / 2 if hasattr(wanted, "grid") else wanted.edges
    for name in ("importance", "heterogeneity", "typical_spread", "standard_error"):
        assert_close(getattr(found, name), getattr(wanted, name), f"{what}: {name}", size)
    if getattr(wanted, "levels", None):
        at = list(wanted.levels)
    assert_close(found.curve(at), wanted.curve(at), f"{what}: curve", size)
    assert_close(found.spread(at), wanted.spread(at), f"{what}: spread", size)


def assert_same_record(found, wanted, what, size=0.0):
    """Compare records field by field."""
    assert type(found) is type(wanted), what
    names = [f.name for f in fields(wanted)] if is_dataclass(wanted) else wanted._fields
    for name in names:
        one, other, where = getattr(found, name), getattr(wanted, name), f"{what}: {name}"
        if name == "row_places" and other is not None:
            # shares are of one; a variance far from zero has lost digits of the mean
            assert_close(one.x, other.x, where)
            assert_close(one.weight, other.weight, where, 1.0)
        elif is_record(other):
            assert_same_record(one, other, where, size)
        elif isinstance(other, tuple) and other and is_record(other[0]):
            assert len(one) == len(other), where
            for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
                assert_same_record(mine, theirs, f"{where}[{place}]", size)
        elif name in EXACT or (name == "grid" and wanted.method != "mplot"):
            np.testing.assert_array_equal(one, other, where)
        elif isinstance(other, np.ndarray | float):
            scale = size if name in SIZED_BY_MEAN else 0.0
            # a covariance of curves is rounded as squares of predictions are
            scale = size**2 if name == "own_covariance" else scale
            assert_close(one, other, where, scale)
        else:
            assert one == other, where


def is_record(value):
    """Whether something has fields."""
    return is_dataclass(value) or hasattr(value, "_fields")


def assert_close(found, wanted, what, size=0.0):
    """Assert equality to rounding, measured by the largest number of its kind."""
    known = np.abs(np.asarray(wanted, dtype=float))
    size = max(size, float(np.nanmax(known[np.isfinite(known)], initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=CLOSE, atol=CLOSE * size, err_msg=what)
