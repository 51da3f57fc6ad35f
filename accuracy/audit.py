"""The audit of curves: how many good ones it doubts, and which bad ones it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from parts import FloatArray, write_part
from report import table
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neural_network import MLPRegressor

import rhale

Rows = Callable[[np.random.Generator, int], FloatArray]
Answers = Callable[[FloatArray], FloatArray]
SEEDS = range(1000, 1180)  # those below 1000 are for choosing
NAMED_SEEDS = range(1000, 1003)
N_ROWS, N_TRUTH = 2_000, 6_000
GOOD, BAD = 0.25, 0.5  # true errors of curves, by the size of the effect and of its spread
ABOUT = """
## Audit of curves

`accuracy/audit.py`. Every curve is compared with the mean changes of sampled rows that were moved to
places near their own: a note of kind "audit" says where both differ by more than half of what is told
(importance and typical spread together) and by more than three errors. {n} random problems: a distribution
of x (normal, uniform, t with 2 degrees of freedom, lognormal, few values, whole numbers, a pile of zeros,
two clusters), a shape (line, parabola, waves, kink, sigmoid, step, stairs), rows that differ (not, by
a factor, by a shift), correlation 0, .7 or .95, 300 to 4,000 rows, asked as a function, by its
gradient, or as a model that learned it (boosted trees and forests that are walked, forests and networks
behind a function). The error of a curve is its root mean square difference from brute force (increments
between 200 places, each over the nearest rows of 6,000 others), divided by the size of the effect and
its spread; *good* are errors below {good}, *bad* those above {bad}. The two constants were chosen on seeds
and problems that are not reported here.
"""
NAMED = """
The functions that were told wrong without a word, and others of their kind, seeds {first} to {last}, {n_rows:,} rows:
"""


@dataclass(frozen=True)
class Problem:
    """A model, rows to explain it on, others for the truth, and how it is asked.

    Attributes
    ----------
    model : object
        What is explained.
    answers : callable
        Its predictions, for brute force.
    rows, others : ndarray of shape (n_rows, 3) and (n_others, 3)
        Rows that it is explained on, and rows for the truth.
    options : mapping
        Of `rhale.explain`.
    """

    model: Any
    answers: Answers
    rows: FloatArray
    others: FloatArray
    options: Mapping[str, Any]

    def explain(self) -> rhale.Effect:
        """The effect of the first feature."""
        return rhale.explain(self.model, self.rows, features=[0], n_jobs=1, **self.options)[0]

    def error(self, effect: rhale.Effect) -> float:
        """True error of the curve, by the size of the effect and of its spread."""
        x = self.others[:, 0]
        inside = (x >= self.rows[:, 0].min()) & (x <= self.rows[:, 0].max())
        places, shares, curve = brute_force(self.answers, self.others[inside])
        told = effect.curve(places)
        off = told - shares @ told - curve
        size = np.hypot(np.sqrt(shares @ curve**2), effect.typical_spread)
        return float(np.sqrt(shares @ off**2) / size) if size > 0 else 0.0


def brute_force(
    answers: Answers, rows: FloatArray, n_places: int = 200, n_near: int = 60
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Places, shares of the rows there, and the accumulated mean changes of the nearest rows."""
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    x = rows[:, 0]
    places = np.unique(x)
    if places.size > n_places:
        places = np.unique(x[np.linspace(0, x.size - 1, n_places).round().astype(int)])
    first = np.searchsorted(x, places[:-1])
    stop = np.searchsorted(x, places[1:], "right")
    middle = (first + stop) // 2
    asked, group = [], []
    for k, (a, b, m) in enumerate(zip(first, stop, middle, strict=True)):
        a, b = max(min(a, m - n_near // 2), 0), min(max(b, m + n_near // 2), x.size)
        some = np.unique(np.linspace(a, b - 1, n_near).round().astype(int))
        asked.append(some)
        group.append(np.full(some.size, k))
    some, at = rows[np.concatenate(asked)], np.concatenate(group)
    low, high = some.copy(), some.copy()
    low[:, 0], high[:, 0] = places[at], places[at + 1]
    change = answers(high) - answers(low)
    mean = np.bincount(at, change) / np.bincount(at)
    shares = np.bincount(np.searchsorted((places[1:] + places[:-1]) / 2, x), minlength=places.size)
    shares = shares / shares.sum()
    curve = np.append(0.0, np.cumsum(mean))
    return places, shares, curve - shares @ curve


DRAWS: tuple[Callable[[FloatArray], FloatArray], ...] = (
    lambda g: g,
    lambda g: 2 * normal_share(g) - 1,
    lambda g: student_two(normal_share(g)),
    np.exp,
    lambda g: np.round(2 * g) / 2,
    lambda g: np.round(20 * normal_share(g)),
    lambda g: np.maximum(g - 0.3, 0.0),
    lambda g: g + 8 * (g > 0),
)


def normal_share(g: FloatArray) -> FloatArray:
    """Share of normal values below each (logistic approximation, which is enough here)."""
    return np.asarray(1 / (1 + np.exp(-1.702 * g)))


def student_two(share: FloatArray) -> FloatArray:
    """Quantiles of Student's t with 2 degrees of freedom."""
    share = np.clip(share, 1e-6, 1 - 1e-6)
    return np.asarray((2 * share - 1) / np.sqrt(2 * share * (1 - share)))


SHAPES: tuple[Callable[[FloatArray], FloatArray], ...] = (
    lambda t: t,
    lambda t: t**2,
    lambda t: np.sin(3 * t),
    lambda t: np.sin(6 * t),
    lambda t: np.abs(t - 0.3),
    lambda t: np.tanh(4 * t),
    lambda t: (t > 0.2).astype(float),
    lambda t: np.floor(2 * t),
)
WAYS = (
    "function",
    "function",
    "gradient",
    "boosted",
    "forest",
    "forest behind a function",
    "network",
)


def random_problem(seed: int) -> Problem:
    """Draw a problem."""
    rng = np.random.default_rng([seed, 39])
    n_rows = int(rng.choice([300, 1_000, 4_000]))
    rho, place = float(rng.choice([0.0, 0.7, 0.95])), int(rng.integers(len(DRAWS)))
    shape, apart = SHAPES[rng.integers(len(SHAPES))], int(rng.integers(3))
    way = WAYS[rng.integers(len(WAYS))]

    def draw(n: int) -> FloatArray:
        g = rng.normal(size=(n, 3))
        g[:, 1] = rho * g[:, 0] + np.sqrt(1 - rho**2) * g[:, 1]
        g[:, 0] = DRAWS[place](g[:, 0])
        return g

    rows, others = draw(n_rows), draw(N_TRUTH)
    scale = float(np.diff(np.quantile(rows[:, 0], [0.1, 0.9]))[0]) / 2.5 or 1.0
    low = float(np.median(rows[:, 0]))

    def answers(z: FloatArray) -> FloatArray:
        t = (z[:, 0] - low) / scale
        own = shape(t + 0.5 * z[:, 1]) if apart == 2 else shape(t)
        factor = 1 + 0.7 * z[:, 1] if apart == 1 else 1.0
        return np.asarray(own * factor + 0.5 * z[:, 2], dtype=float)

    if way == "function":
        return Problem(answers, answers, rows, others, {})
    if way == "gradient":
        options = {"gradient": slopes_of(answers), "local": "gradient"}
        return Problem(answers, answers, rows, others, options)
    learner = {
        "boosted": HistGradientBoostingRegressor(random_state=0),
        "network": MLPRegressor(hidden_layer_sizes=(32, 32), max_iter=200, random_state=0),
    }.get(way, RandomForestRegressor(30, min_samples_leaf=3, random_state=0))
    target = answers(rows)
    model = learner.fit(rows, target + 0.3 * target.std() * rng.normal(size=n_rows))
    is_seen = way in ("boosted", "forest")
    return Problem(model if is_seen else model.predict, model.predict, rows, others, {})


def slopes_of(answers: Answers, step: float = 1e-6) -> Answers:
    """The gradient by differences: blind for jumps, as automatic differentiation is."""

    def slopes(z: FloatArray) -> FloatArray:
        found = np.empty(z.shape)
        for column in range(z.shape[1]):
            low, high = z.copy(), z.copy()
            low[:, column] -= step
            high[:, column] += step
            found[:, column] = (answers(high) - answers(low)) / (2 * step)
        # what jumps within the step is seen by few rows, if any: of these take what others have
        return np.where(np.abs(found) > 1e4, 0.0, found)

    return slopes


def normal(rng: np.random.Generator, n: int) -> FloatArray:
    """Normal values."""
    return rng.normal(size=n)


Named = tuple[Callable[[np.random.Generator, int], FloatArray], Answers, bool]
WRONG: Mapping[str, Named] = {
    "sin 40x": (normal, lambda z: np.sin(40 * z[:, 0]), False),
    "300 whole numbers, parity": (
        lambda rng, n: rng.integers(0, 300, n).astype(float),
        lambda z: z[:, 0] % 2,
        False,
    ),
    "a hash of zip codes": (
        lambda rng, n: rng.integers(10_000, 99_999, n).astype(float),
        lambda z: z[:, 0] * 2654435761 % 2**32 / 2**32,
        False,
    ),
    "x in eighths, sin 6x": (
        lambda rng, n: np.round(8 * rng.normal(size=n)) / 8,
        lambda z: np.sin(6 * z[:, 0]),
        False,
    ),
    "a box of 5 %": (normal, lambda z: 3.0 * (np.abs(z[:, 0] - 0.3) < 0.06), False),
    "a jump beside a gradient, [x > 0] + .3x": (
        normal,
        lambda z: (z[:, 0] > 0) + 0.3 * z[:, 0],
        True,
    ),
    "the same, rows differ": (
        normal,
        lambda z: (z[:, 0] > 0) * (1 + z[:, 1]) + 0.3 * z[:, 0],
        True,
    ),
    "sin 40x (1 + z)": (normal, lambda z: np.sin(40 * z[:, 0]) * (1 + z[:, 1]), False),
    "a saw with 30 teeth": (
        lambda rng, n: rng.uniform(0, 1, n),
        lambda z: 30 * z[:, 0] % 1,
        False,
    ),
    "a box of 2 %": (normal, lambda z: 3.0 * (np.abs(z[:, 0] - 0.3) < 0.026), False),
}


def named_problem(name: str, seed: int) -> Problem:
    """Draw the rows of a function that has a name."""
    draw, answers, by_gradient = WRONG[name]
    rng = np.random.default_rng([seed, 40])
    tables = []
    for n in (N_ROWS, N_TRUTH):
        z = rng.normal(size=(n, 3))
        z[:, 0] = draw(rng, n)
        tables.append(z)
    options = {"gradient": slopes_of(answers), "local": "gradient"} if by_gradient else {}
    return Problem(answers, answers, tables[0], tables[1], options)


def is_doubted(effect: rhale.Effect) -> bool:
    """Whether the audit says something of the curve."""
    return any(note.kind == "audit" for note in effect.notes)


def judge_named(name: str) -> list[str]:
    """Importance as it is told and as it is, and how often the audit doubts the curve."""
    told, true, doubted = [], [], 0
    for seed in NAMED_SEEDS:
        problem = named_problem(name, seed)
        effect = problem.explain()
        _, shares, curve = brute_force(problem.answers, problem.others, 3_000)
        told.append(effect.importance)
        true.append(float(np.sqrt(shares @ curve**2)))
        doubted += is_doubted(effect)
    return [name, f"{np.mean(told):.2f}", f"{np.mean(true):.2f}", f"{doubted} of {len(told)}"]


def main() -> None:
    """Write the section."""
    counts = {word: [0, 0] for word in ("good", "between", "bad")}
    for seed in SEEDS:
        problem = random_problem(seed)
        effect = problem.explain()
        error = problem.error(effect)
        word = "good" if error < GOOD else "bad" if error > BAD else "between"
        counts[word][0] += 1
        counts[word][1] += is_doubted(effect)
    rows = [[word, f"{n}", f"{doubted}"] for word, (n, doubted) in counts.items()]
    write_part(
        "audit",
        ABOUT.format(n=len(SEEDS), good=GOOD, bad=BAD),
        table(["curves", "how many", "doubted"], rows),
        NAMED.format(first=NAMED_SEEDS[0], last=NAMED_SEEDS[-1], n_rows=N_ROWS),
        table(["function", "importance told", "right", "doubted"], [judge_named(n) for n in WRONG]),
    )


if __name__ == "__main__":
    main()
