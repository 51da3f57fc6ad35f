"""Numbers that R packages gave, kept beside the checkout, and the black boxes behind them."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "r"
MISSING = pytest.param(
    None, None, marks=pytest.mark.skip(reason="shared/fixtures/r is not beside the checkout")
)
TYPES = {"float": "float64", "int": "int64", "category": "str"}


@cache
def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def cases(kind, wanted=bool):
    """Every wanted case of every file of one kind, as parameters (file, case)."""
    found = [
        pytest.param(path.stem, number, id=f"{path.stem}-{number}")
        for path in sorted(FOLDER.glob(f"{kind}__*.json"))
        for number, case in enumerate(read(path.stem)["cases"])
        if wanted(case)
    ]
    return found or [MISSING]


def table(name):
    """The rows as a data frame: whole numbers are integers, as in R."""
    columns = read(name)["data"]["columns"]
    return pd.DataFrame({c["name"]: pd.array(c["values"], TYPES[c["type"]]) for c in columns})


def black_box(name):
    """The model as a function of a data frame."""
    expression = compile(read(name)["function"]["expr"], name, "eval")

    def predict(rows):
        names = {c: rows[c].to_numpy() for c in rows.columns}
        known = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "sqrt": np.sqrt}
        known["nan_to"] = lambda x, v: np.where(np.isnan(x), v, x)
        scope = {"__builtins__": {}, "pi": np.pi, **known, **names}
        return np.asarray(eval(expression, scope), dtype=float)  # noqa: S307 - our own fixtures

    return predict


def within(values, tolerance=1e-9):
    """Compare with R's numbers relative to the size of the whole curve."""
    values = np.array(values, dtype=float)
    return pytest.approx(
        values, rel=0, abs=tolerance * (1 + np.nanmax(np.abs(values))), nan_ok=True
    )
