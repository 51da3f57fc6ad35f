"""Problems and tree models that show what becomes of jumps, tails and gaps."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import lightgbm
import numpy as np
import xgboost
from parts import FloatArray
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from trees import BY_NAME, LEARNED, NOISE, always, draw_beside, draw_normal, pose, truth

from problems import Problem

Case = tuple[str, int]  # name of a problem, column of a feature

MODELS: dict[str, Callable[[int], Any]] = {
    "HistGradientBoosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "XGBoost, depth 3": lambda seed: xgboost.XGBRegressor(
        n_estimators=300, max_depth=3, learning_rate=0.1, n_jobs=1, random_state=seed
    ),
    "XGBoost, depth 8": lambda seed: xgboost.XGBRegressor(
        n_estimators=100, max_depth=8, learning_rate=0.1, n_jobs=1, random_state=seed
    ),
    "LightGBM": lambda seed: lightgbm.LGBMRegressor(
        n_estimators=100, n_jobs=1, verbose=-1, random_state=seed
    ),
    "forest": lambda seed: RandomForestRegressor(40, random_state=seed, n_jobs=1),
}


def draw_gap(rng: np.random.Generator, n_rows: int) -> FloatArray:
    """Values between 0 and 1, and between 2 and 3."""
    return rng.uniform(size=n_rows) + 2.0 * (rng.random(n_rows) < 0.5)


def draw_ladder(rng: np.random.Generator, n_rows: int) -> FloatArray:
    """Correlated normal features, the first one rounded to quarters: some 28 values."""
    rows = draw_normal(rng, n_rows, 0.7)
    return np.column_stack([np.round(4 * rows[:, 0]) / 4, rows[:, 1]])


def gap() -> Problem:
    """Pose sin 3 x1 + x1 + x1 x2 with nothing in the middle third of x1."""
    return pose(
        "gap",
        lambda rows: np.sin(3 * rows[:, 0]) + rows[:, 0] + rows[:, 0] * rows[:, 1],
        draw_beside(draw_gap),
        truth(lambda z: 3 * np.cos(3 * z) + 1, always(0.5), lambda z: np.sin(3 * z) + z),
    )


def exponential() -> Problem:
    """Pose exp x1 + x1 x2 with normal features."""
    return pose(
        "exp",
        lambda rows: np.exp(rows[:, 0]) + rows[:, 0] * rows[:, 1],
        draw_beside(lambda rng, n: rng.normal(size=n)),
        truth(np.exp, always(0.5), np.exp),
    )


def ladder() -> Problem:
    """Pose sin 2 x1 + x1 x2 / 2 with few values of x1; the truth is that before rounding."""
    return pose(
        "ladder",
        lambda rows: np.sin(2 * rows[:, 0]) + rows[:, 0] * rows[:, 1] / 2,
        draw_ladder,
        truth(
            lambda z: 2 * np.cos(2 * z) + 0.35 * z,
            always(math.sqrt(1 - 0.7**2) / 2),
            lambda z: np.sin(2 * z) + 0.175 * z**2,
        ),
    )


def jump_beside_twin(rho: float = 0.9) -> Problem:
    """Pose 2 · 1{x1 > 1/2} + sin 2 x2 + x1 x2 / 2 with strongly correlated normal features."""
    return pose(
        "jump, rho .9",
        lambda rows: (
            2.0 * (rows[:, 0] > 0.5) + np.sin(2 * rows[:, 1]) + rows[:, 0] * rows[:, 1] / 2
        ),
        lambda rng, n: draw_normal(rng, n, rho),
        truth(
            lambda z: rho * z / 2,
            always(math.sqrt(1 - rho**2) / 2),
            lambda z: 2.0 * (z > 0.5) + rho * z**2 / 4,
        ),
    )


PROBLEMS: dict[str, Problem] = {
    **BY_NAME,
    **{p.name: p for p in (gap(), exponential(), ladder(), jump_beside_twin())},
}


@cache
def train(kind: str, name: str, seed: int) -> Any:
    """Train a model on rows of a problem with noise."""
    problem = PROBLEMS[name]
    rows = problem.draw(LEARNED, seed=1000 + seed)
    noise = np.random.default_rng(seed).normal(0, NOISE, LEARNED)
    return MODELS[kind](seed).fit(rows, problem.predict(rows) + noise)
