"""The calls whose results are saved, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.golden import tables as t

import rhale

Call = Callable[[], Any]


def calls(folder: Path) -> dict[str, Call]:
    """Every call; files are made in `folder`."""
    return {
        **in_memory(),
        **mixed_columns(),
        **methods(),
        **trees(),
        **in_pieces(folder),
        **other_models(),
        **on_device(),
    }


def in_memory() -> dict[str, Call]:
    """Functions of arrays."""
    x, of = t.numbers(), partial(rhale.explain, data=t.numbers())
    return {
        "gradient": partial(of, t.smooth, gradient=t.smooth_slopes),
        "secants": partial(of, t.smooth),
        "steps of a function": partial(of, t.steps),
        "two outputs": partial(of, t.two),
        "one output of two": partial(of, t.two, output=1, features=["x1", "x0"]),
        "weights": partial(of, t.smooth, weights=t.weights()),
        "weights and gradient": partial(
            of, t.smooth, gradient=t.smooth_slopes, weights=t.weights()
        ),
        "rows drawn": partial(of, t.smooth, n_rows=300, seed=4),
        "limits": partial(of, t.steps, limits={"x0": (-1, 1), "x1": (0.2, 3.0)}),
        "windows": partial(of, t.steps, window=0.08),
        "small batches": partial(of, t.smooth, batch_size=64),
        "two threads": partial(of, t.smooth, n_jobs=2, batch_size=100),
        "optimal": partial(of, t.steps, bins=rhale.Optimal(30)),
        "optimal, 100 cells": partial(of, t.steps, bins=rhale.Optimal(100)),
        "fixed": partial(of, t.smooth, bins=rhale.Fixed(7)),
        "quantile": partial(of, t.smooth, bins=rhale.Quantile(9)),
        "bins by feature": partial(of, t.smooth, bins={"x0": 5, "x1": rhale.Edges([0.2, 1, 4])}),
        "bins of another": lambda: of(t.steps, bins=of(t.smooth)),
        "rebinned": lambda: of(t.steps).rebin(12),
        "wide": lambda: rhale.explain(lambda r: r @ np.arange(40.0), _wide()),
        "constant column": lambda: rhale.explain(
            lambda r: r[:, 0] + r[:, 1], np.column_stack([x[:, 0], np.ones(len(x))])
        ),
        "given effects": lambda: rhale.effect(x[:, 0], 2 * x[:, 0] * x[:, 1]),
        "given, weighted, limited": lambda: rhale.effect(
            x[:, 0], x[:, 1], weights=t.weights(), limits=(-1.0, 1.5), bins=6, name="a"
        ),
        "float32": lambda: rhale.explain(t.smooth, x.astype(np.float32)),
    }


def _wide() -> np.ndarray:
    return np.random.default_rng(15).normal(size=(300, 40))


def mixed_columns() -> dict[str, Call]:
    """Names, dates, truth values, gaps."""
    table, of = t.mixed(), partial(rhale.explain, t.priced, t.mixed())
    import polars as pl

    def polars_priced(rows: Any) -> np.ndarray:
        return rows["age"].to_numpy() * 0.5 + rows["rooms"].to_numpy() ** 2.0

    return {
        "mixed": of,
        "mixed, weighted": partial(of, weights=t.weights()),
        "order of levels": partial(of, categorical={"city": sorted(set(table["city"]))}),
        "numbers as categories": partial(of, categorical=["rooms"], features=["rooms", "city"]),
        "numbers as numbers": partial(of, categorical={"rooms": False}, features="rooms"),
        "levels of another": lambda: of(bins=of(categorical={"city": sorted(set(table["city"]))})),
        "limits of dates": partial(
            of, features="since", limits=(pd.Timestamp("2020-06-01"), pd.Timestamp("2021-06-01"))
        ),
        "polars": lambda: rhale.explain(
            polars_priced, pl.DataFrame(table[["age", "rooms", "city"]].to_dict("list"))
        ),
    }


def methods() -> dict[str, Call]:
    """Every method."""
    of, mixed = (
        partial(rhale.explain, t.smooth, t.numbers()),
        partial(rhale.explain, t.priced, t.mixed()),
    )
    return {
        "dale": partial(of, method="dale", gradient=t.smooth_slopes),
        "ale": partial(of, method="ale"),
        "ale of two": lambda: rhale.explain(t.two, t.numbers(), method="ale", bins=8),
        "ale, mixed": partial(mixed, method="ale"),
        "pdp": partial(of, method="pdp", bins=10),
        "pdp, mixed": partial(mixed, method="pdp", bins=8),
        "ice": partial(of, method="ice", bins=6),
        "ice, mixed": partial(mixed, method="ice", bins=5, weights=t.weights()),
        "mplot": partial(of, method="mplot"),
        "mplot, mixed": partial(mixed, method="mplot"),
    }


def trees() -> dict[str, Call]:
    """Trees of every library, walked."""
    x, table = t.numbers(), t.coded(t.mixed())
    own = table.assign(city=t.mixed()["city"].astype("category"))
    return {
        "forest": lambda: rhale.explain(t.fitted("forest"), x),
        "forest, weighted": lambda: rhale.explain(t.fitted("forest"), x, weights=t.weights()),
        "boosting": lambda: rhale.explain(t.fitted("boosting"), x),
        "boosting, log odds": lambda: rhale.explain(t.fitted("boosting"), x, response="log_odds"),
        "hist": lambda: rhale.explain(t.fitted("hist"), table),
        "hist three": lambda: rhale.explain(t.fitted("hist three"), table),
        "pipeline of trees": lambda: rhale.explain(t.fitted("pipeline"), t.mixed()),
        "xgboost": lambda: rhale.explain(t.fitted("xgboost"), table),
        "xgboost class": lambda: rhale.explain(t.fitted("xgboost class"), table, response="margin"),
        "lightgbm": lambda: rhale.explain(t.fitted("lightgbm"), own),
        "catboost": lambda: rhale.explain(t.fitted("catboost"), x),
        "black box of trees": lambda: rhale.explain(
            rhale.models.wrap(t.fitted("forest"), walk=False), x
        ),
    }


def in_pieces(folder: Path) -> dict[str, Call]:
    """Files and Dask."""
    parquet, csv, arrow = t.files(folder)

    def dask() -> Any:
        import dask
        import dask.dataframe as dd

        dask.config.set(scheduler="synchronous")
        return rhale.explain(t.priced, dd.from_pandas(t.mixed(), npartitions=3))

    def resumed() -> Any:
        return rhale.explain(t.priced, parquet, checkpoint=folder / "kept", batch_size=128)

    return {
        "parquet": lambda: rhale.explain(t.priced, parquet),
        "parquet, small batches": lambda: rhale.explain(t.priced, parquet, batch_size=111),
        "parquet, drawn": lambda: rhale.explain(t.priced, parquet, n_rows=250, seed=1),
        "csv": lambda: rhale.explain(t.undated, csv),
        "arrow": lambda: rhale.explain(t.priced, arrow),
        "parquet, ice": lambda: rhale.explain(t.priced, parquet, method="ice", bins=5),
        "weights of a column": lambda: rhale.explain(
            lambda rows: rows["income"].fillna(0.0) * rows["rooms"],
            parquet,
            weights="age",
            columns=["income", "rooms"],
        ),
        "dask": dask,
        "checkpoint": resumed,
        "checkpoint again": resumed,
    }


def other_models() -> dict[str, Call]:
    """Estimators, networks, model files."""
    x = t.numbers()

    def jax() -> Any:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - its own signature
        return rhale.explain(jax.jit(lambda r: jnp.sin(r[:, 0]) * r[:, 1] + r[:, 2]), x)

    return {
        "logistic": lambda: rhale.explain(t.fitted("logistic"), x),
        "torch": lambda: rhale.explain(t.fitted("torch"), x),
        "jax": jax,
    }


def on_device() -> dict[str, Call]:
    """A network on a GPU, where there is one."""
    import torch

    if not torch.cuda.is_available():
        return {}
    x = t.numbers()
    return {"torch on a GPU": lambda: rhale.explain(t.fitted("torch"), x, device="cuda")}
