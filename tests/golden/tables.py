"""The tables and models that the calls are about: small, and made from seeds."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

N_ROWS = 700


@cache
def numbers() -> np.ndarray:
    """Four columns: even, skewed, whole, and one that goes with the first."""
    rng = np.random.default_rng(11)
    a = rng.uniform(-2, 2, N_ROWS)
    b = rng.lognormal(0, 0.7, N_ROWS)
    c = rng.integers(0, 60, N_ROWS).astype(float)
    return np.column_stack([a, b, c, a + rng.normal(0, 0.3, N_ROWS)])


@cache
def target() -> np.ndarray:
    """Something to learn."""
    x, rng = numbers(), np.random.default_rng(12)
    return (
        np.sin(2 * x[:, 0])
        + x[:, 0] * np.log(x[:, 1])
        + 0.02 * x[:, 2]
        + rng.normal(0, 0.1, N_ROWS)
    )


@cache
def weights() -> np.ndarray:
    """Weights, some of them zero."""
    found = np.random.default_rng(13).gamma(1.0, 1.0, N_ROWS)
    found[::17] = 0.0
    return found


@cache
def mixed() -> pd.DataFrame:
    """Numbers with gaps, names with rare ones, ordered names, truth values, few numbers, dates."""
    rng, x = np.random.default_rng(14), numbers()
    cities = np.array(["oslo", "rome", "bonn", "lima", "kyiv", "nice", "bern"], dtype=object)
    city = cities[rng.choice(7, N_ROWS, p=[0.3, 0.25, 0.2, 0.15, 0.09, 0.005, 0.005])]
    size = pd.Categorical(rng.choice(["S", "M", "L"], N_ROWS), ["S", "M", "L"], ordered=True)
    income = x[:, 1].copy()
    income[::9] = np.nan
    return pd.DataFrame(
        {
            "age": x[:, 2],
            "income": income,
            "city": city,
            "size": size,
            "member": rng.random(N_ROWS) < 0.4,
            "rooms": rng.integers(1, 7, N_ROWS),
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, N_ROWS), "D"),
        }
    )


def smooth(rows: np.ndarray) -> np.ndarray:
    """A smooth function of the four numbers, written without calls that differ in batches."""
    a, b, c, d = np.asarray(rows, dtype=float).T
    return a * a * b - 0.5 * b + 0.01 * c * d + a * d


def smooth_slopes(rows: np.ndarray) -> np.ndarray:
    """Its derivative."""
    a, b, c, d = np.asarray(rows, dtype=float).T
    return np.column_stack([2 * a * b + d, a * a - 0.5, 0.01 * d, 0.01 * c + a])


def two(rows: np.ndarray) -> np.ndarray:
    """Two outputs."""
    a, b, c, d = np.asarray(rows, dtype=float).T
    return np.column_stack([a * b + d, np.where(a > 0.3, b, -c / 50)])


def steps(rows: np.ndarray) -> np.ndarray:
    """A staircase."""
    a, b, c, d = np.asarray(rows, dtype=float).T
    return np.floor(3 * a) + np.floor(2 * b) * (c > 30) + d


def priced(rows: pd.DataFrame) -> np.ndarray:
    """A function of the mixed table that takes missing values."""
    city = rows["city"].map({"oslo": 3.0, "rome": 1.0, "bonn": 2.0}).fillna(0.0).to_numpy(float)
    size = rows["size"].map({"S": 0.0, "M": 1.0, "L": 3.0}).astype(float).to_numpy()
    income = rows["income"].fillna(-1.0).to_numpy(float)
    days = (rows["since"] - pd.Timestamp("2020-01-01")).dt.days.to_numpy(float)
    age, rooms = rows["age"].to_numpy(float), rows["rooms"].to_numpy(float)
    member = rows["member"].to_numpy(float)
    return 0.1 * age + income * (1 + member) + city * size + rooms * rooms + 0.002 * days * member


def coded(rows: pd.DataFrame) -> pd.DataFrame:
    """The mixed table as numbers alone, for libraries that take nothing else."""
    made = pd.DataFrame({"age": rows["age"], "income": rows["income"]})
    made["member"], made["rooms"] = rows["member"].astype(float), rows["rooms"].astype(float)
    return made


@cache
def files(folder: Path) -> tuple[str, str, str]:
    """The mixed table as Parquet in two files, as CSV and as Arrow."""
    import pyarrow as pa

    table = mixed()
    table.iloc[:400].to_parquet(folder / "rows-1.parquet", row_group_size=150)
    table.iloc[400:].to_parquet(folder / "rows-2.parquet", row_group_size=150)
    table.drop(columns="since").to_csv(folder / "rows.csv", index=False)
    arrow = pa.Table.from_pandas(table)
    with (
        pa.OSFile(str(folder / "rows.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, arrow.schema) as f,
    ):
        f.write_table(arrow, max_chunksize=200)
    return str(folder / "rows-*.parquet"), str(folder / "rows.csv"), str(folder / "rows.arrow")


def undated(rows: pd.DataFrame) -> np.ndarray:
    """`priced` for a table that has no dates."""
    return priced(rows.assign(since=pd.Timestamp("2020-01-01")))


@cache
def fitted(name: str) -> Any:
    """Models of the libraries, one thread each."""
    x, y = numbers(), target()
    made = mixed()
    label = (priced(made) > np.median(priced(made))).astype(int)
    three = np.digitize(priced(made), np.quantile(priced(made), [0.3, 0.7]))
    table = coded(made)
    match name:
        case "forest":
            from sklearn.ensemble import RandomForestRegressor

            return RandomForestRegressor(20, random_state=0).fit(x, y)
        case "boosting":
            from sklearn.ensemble import GradientBoostingClassifier

            return GradientBoostingClassifier(n_estimators=20, random_state=0).fit(x, label)
        case "hist":
            from sklearn.ensemble import HistGradientBoostingRegressor

            return HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(table, y)
        case "hist three":
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(table, three)
        case "pipeline":
            from sklearn.compose import make_column_transformer
            from sklearn.ensemble import RandomForestRegressor
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import OneHotEncoder, StandardScaler

            columns = make_column_transformer(
                (OneHotEncoder(handle_unknown="ignore"), ["city", "size"]),
                (StandardScaler(), ["age", "rooms"]),
            )
            model = make_pipeline(columns, RandomForestRegressor(15, random_state=0))
            return model.fit(made, priced(made))
        case "logistic":
            from sklearn.linear_model import LogisticRegression
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import StandardScaler

            return make_pipeline(StandardScaler(), LogisticRegression()).fit(x, label)
        case "xgboost":
            from xgboost import XGBRegressor

            return XGBRegressor(n_estimators=20, max_depth=4, n_jobs=1).fit(table, y)
        case "xgboost class":
            from xgboost import XGBClassifier

            return XGBClassifier(n_estimators=15, max_depth=3, n_jobs=1).fit(table, label)
        case "lightgbm":
            from lightgbm import LGBMRegressor

            own = table.assign(city=made["city"].astype("category"))
            return LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1).fit(own, y)
        case "catboost":
            from catboost import CatBoostRegressor

            model = CatBoostRegressor(
                iterations=20, depth=4, thread_count=1, verbose=0, allow_writing_files=False
            )
            return model.fit(x, y)
        case "torch":
            import torch

            torch.manual_seed(0)
            net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
            return net.double().eval()
    raise KeyError(name)
