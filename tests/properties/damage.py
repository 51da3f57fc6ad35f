"""Saved explanations of all kinds, small ones, and ways to damage them."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
from tests.unit.effects.with_regions import make_regional

import rhale

KEPT = slice(0, 8)  # rows of the sample: damage is to hit other numbers, too
N_ROWS = 60
HUGE = "1e400"  # stands for the number, which `json` cannot write
WORDS = ["", "x", "nan", "date", "left", "mplot", "\ud800", "$\\frac{", "<b>", "\x00\n\x1b[2J",
         "y" * 5_000, "U500000000", "(11000,11000)f8", "object", "M8[ns]", "i4,f8", "effect",
         "profile", "other (3 levels)", "array", "0x10", HUGE]  # fmt: skip
VALUES = [0, -1, 1, 0.0, -0.0, -2.5, 1e-320, 1e-160, 1e17, 1e100, 1e149, -1e149, 1e299, 1e308,
          -1e308, 2**31, 2**53, 2**63, 10**30, 10**400, 2_932_897.0, None, "inf", "-inf",
          HUGE]  # fmt: skip
THINGS = [None, True, False, [], {}, [[]], {"number": "nan"}, {"number": "1e5"}, {"tuple": []},
          {"mapping": []}, {"mapping": [["a", 1]]}, {"mapping": [["a", 1], ["a", 2]]},
          {"array": [], "type": "float64", "shape": [0]},
          {"array": [None], "type": "float64", "shape": [1]}]  # fmt: skip
SHAPES = [[], [0], [-1], [2**40], [0, 2**40], [True], [2.0], "x", None]


def explanations():
    """One explanation of every kind, by name."""
    rng = np.random.default_rng(0)
    table, wide = rng.normal(size=(N_ROWS, 2)), rng.normal(size=(900, 2))
    frame, weights = _frame(rng), rng.uniform(0, 2, N_ROWS)
    right = {"bins": rhale.Fixed(8, "right"), "weights": weights}
    own = rhale.Adaptive(spread_bins="own")
    made = {
        "outputs": rhale.explain(_two, table),
        "right": rhale.explain(_one, table, **right),
        "ale": rhale.explain(_one, table, method="ale", bins=4),
        "own": rhale.explain(lambda x: np.sin(6 * x[:, 0]) * np.sign(x[:, 1]), wide, bins=own),
        "frame": rhale.explain(_of_frame, frame, weights=weights),
        "ice": rhale.explain(_two, table, method="ice", bins=5),
    }
    for method in ("pdp", "ice", "mplot"):
        made[f"frame {method}"] = rhale.explain(_of_frame, frame, method=method)
    made["regions"] = make_regional()
    return {name: _thinned(fx) for name, fx in made.items()}


def _one(rows):
    return rows[:, 0] ** 2 + rows[:, 1] * rows[:, 0]


def _two(rows):
    return np.column_stack([_one(rows), -_one(rows)])


def _frame(rng):
    rare = [*"ab", *(f"r{i}" for i in range(20))]
    return pd.DataFrame(
        {
            "city": rng.choice(rare, N_ROWS, p=[0.4, 0.4, *[0.01] * 20]),
            "flag": rng.random(N_ROWS) < 0.5,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N_ROWS), "D"),
            "took": pd.to_timedelta(rng.uniform(0, 9e4, N_ROWS), "s"),
            "one": "x",
            "constant": 1.5,
            "gap": np.where(rng.random(N_ROWS) < 0.3, np.nan, rng.normal(size=N_ROWS)),
        }
    )


def _of_frame(rows):
    total = (rows["city"] == "a").to_numpy() * 1.0 + rows["flag"].to_numpy()
    total += rows["took"].dt.total_seconds().to_numpy() / 3e4
    days = (rows["day"] - pd.Timestamp("2020-01-01")).dt.days.to_numpy()
    return total * days / 100 + np.nan_to_num(rows["gap"].to_numpy(), nan=2.0)


def _thinned(fx):
    def thinned(effect):
        if isinstance(effect, rhale.Profile):
            return replace(effect, curves=effect.curves[KEPT], curve_x=effect.curve_x[KEPT])
        sample, tree = type(effect.sample)(*(column[KEPT] for column in effect.sample)), None
        if effect.regions is not None:
            tree = effect.regions
            parts = {
                name: tuple(replace(r, effect=thinned(r.effect)) for r in getattr(tree, name))
                for name in ("regions", "thirds")
            }
            tree = replace(tree, sampled=tree.sampled[KEPT], **parts)
        return replace(effect, sample=sample, regions=tree)

    rows = {n: getattr(fx, n)[KEPT] for n in ("predictions", "sample_x", "sample_weight")}
    return replace(fx, effects=tuple(map(thinned, fx.effects)), **rows)


def damaged(content, rng):
    """A copy with one to three things changed; most changes leave the structure as it is."""
    content = deepcopy(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        of_arrays = [_number, _number, _column, _length, _shape] if _arrays(content) else []
        change = rng.choice([*of_arrays, _thing, _removal, _swap])
        change(content, rng)
    return content


def _number(content, rng):
    numbers = rng.choice(_arrays(content))["array"]
    if numbers:
        numbers[rng.randrange(len(numbers))] = rng.choice(VALUES)


def _column(content, rng):
    array, factor = rng.choice(_arrays(content)), rng.choice([0.0, -1.0, 1e-160, 1e140, 1e300])
    changed = [v * factor if isinstance(v, float) else v for v in array["array"]]
    ways = [changed, changed[::-1], [rng.choice(VALUES)] * len(changed), sorted(changed, key=str)]
    array["array"] = rng.choice(ways)


def _length(content, rng):
    array = rng.choice(_arrays(content))
    array["array"] = array["array"][1:] if rng.random() < 0.5 else [*array["array"], 1.0]
    if len(array["shape"]) == 1:
        array["shape"] = [len(array["array"])]


def _shape(content, rng):
    array = rng.choice(_arrays(content))
    size = len(array["array"])
    array["shape"] = rng.choice([*SHAPES, [1, size], [size, 1], array["shape"][::-1]])
    array["type"] = rng.choice([array["type"], array["type"], *WORDS, "float32", "bool", None])


def _thing(content, rng):
    parent, key = _somewhere(content, rng)
    parent[key] = rng.choice([*THINGS, *VALUES, *WORDS, _nested(30), _nested(150)])


def _removal(content, rng):
    parent, key = _somewhere(content, rng)
    value = parent.pop(key)
    if isinstance(parent, dict) and rng.random() < 0.5:
        parent[rng.choice(WORDS)] = value


def _swap(content, rng):
    (parent, key), (other, place) = _somewhere(content, rng), _somewhere(content, rng)
    parent[key], other[place] = deepcopy(other[place]), deepcopy(parent[key])


def _nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def _somewhere(content, rng):
    """A random place: what holds it, and its name or number there."""
    node = content
    while True:
        names = list(node) if isinstance(node, dict) else range(len(node))
        key = rng.choice(names)
        inner = node[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.15:
            return node, key
        node = inner


def _arrays(node):
    if isinstance(node, dict) and isinstance(node.get("array"), list):
        return [node] if isinstance(node.get("shape"), list) and "type" in node else []
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [array for value in inside for array in _arrays(value)]
