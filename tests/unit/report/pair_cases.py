"""Interactions of functions that are known in closed form, put together without a model."""

import numpy as np

from rhale.interaction.moments import PairAxis, measure_pair
from rhale.interaction.pair_effect import PairEffect
from rhale.interaction.result import Interactions
from rhale.interaction.strength import PairFit, find_squares


def make_axis(x, labels=(), n_cells=10, kind="number"):
    """Quantile cells, or levels 0, 1, ..."""
    if labels:
        return PairAxis(np.arange(len(labels), dtype=float), tuple(labels))
    edges = np.quantile(x, np.linspace(0, 1, n_cells + 1), method="inverted_cdf")
    return PairAxis(np.unique(edges), kind=kind)


def step_ends(axis, stand):
    """Lower and upper end of the steps that each row counts for, and whether there is one."""
    if not axis.is_levels:
        return [(axis.nodes[stand], axis.nodes[stand + 1], np.ones(stand.size, bool))]
    last = axis.nodes.size - 1
    below = axis.nodes[np.maximum(stand - 1, 0)], axis.nodes[stand], stand > 0
    above = axis.nodes[stand], axis.nodes[np.minimum(stand + 1, last)], stand < last
    return [below, above]


def moved(rows, values):
    changed = rows.copy()
    for column, value in values.items():
        changed[:, column] = value
    return changed


def make_main(function, rows, column, axis, place):
    """The accumulated effect of one feature at its nodes, zero on average over the rows."""
    total, count = np.zeros(axis.nodes.size), np.zeros(axis.nodes.size)
    for low, high, has in step_ends(axis, place.cell):
        change = function(moved(rows, {column: high})) - function(moved(rows, {column: low}))
        step = np.searchsorted(axis.nodes, high)
        np.add.at(total, step[has], change[has])
        np.add.at(count, step[has], 1.0)
    curve = np.cumsum(total / np.maximum(count, 1))
    after = curve[np.minimum(place.cell + 1, curve.size - 1)]
    return curve - np.mean(curve[place.cell] * (1 - place.place) + after * place.place)


def make_pair(function, rows, names, columns, axes, output="y", **fields):
    """One pair, from four corners of every row."""
    j, k = columns
    places = [axes[i].locate(rows[:, i]) for i in columns]
    ends = [step_ends(axes[i], place.cell) for i, place in zip(columns, places, strict=True)]
    deltas = []
    for low, high, has in ends[0]:
        for under, over, is_there in ends[1]:
            corners = [
                function(moved(rows, {j: a, k: b})) for a in (low, high) for b in (under, over)
            ]
            deltas.append((corners[3] - corners[2] - corners[1] + corners[0]) * (has & is_there))
    sides = (axes[j], axes[k])
    moments = measure_pair(sides, tuple(places), np.stack(deltas, axis=-1)[None])
    main = tuple(
        make_main(function, rows, i, axes[i], place)
        for i, place in zip(columns, places, strict=True)
    )
    square = find_squares([PairFit(sides, moments)])[0]
    told = (names[j], names[k]), output, sides, moments, main, square
    return PairEffect(*told, float(function(rows).var()), **fields)


def make_interactions(functions, rows, names, *, labels=None, kinds=None, n_cells=10, **fields):
    """All pairs of a table, of one function for each output."""
    axes = [
        make_axis(rows[:, i], (labels or {}).get(n, ()), n_cells, (kinds or {}).get(n, "number"))
        for i, n in enumerate(names)
    ]
    pairs = [
        make_pair(function, rows, names, (j, k), axes, output)
        for j in range(len(names))
        for k in range(j + 1, len(names))
        for output, function in functions.items()
    ]
    n_outputs = len(functions)
    importance = np.full((len(names), n_outputs), np.nan)
    for i, pair in enumerate(pairs):
        for side, name in enumerate(pair.names):
            main, axis = pair.main[side], pair.axes[side]
            middle = main if axis.is_levels else (main[1:] + main[:-1]) / 2
            square = np.average(middle**2, weights=pair.weight.sum(axis=1 - side))
            importance[names.index(name), i % n_outputs] = np.sqrt(square)
    variance = np.array([function(rows).var() for function in functions.values()])
    provenance = {"model": "function", "method": "ale", "rows": len(rows), "rhale": "0"}
    provenance |= {"columns": list(names), **fields.pop("provenance", {})}
    return Interactions(
        tuple(names), tuple(functions), tuple(pairs), importance, variance, provenance, **fields
    )


def three_numbers(n_rows=800):
    """y = age * income + rooms."""
    rows = np.random.default_rng(0).uniform(0, 2, size=(n_rows, 3))
    return make_interactions(
        {"y": lambda r: r[:, 0] * r[:, 1] + r[:, 2]}, rows, ["age", "income", "rooms"]
    )


def with_levels(n_rows=800):
    """A slope of -1, 0, 1 by region; two categories that interact."""
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=n_rows), rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)]
    labels = {"region": ("north", "middle", "south"), "owner": ("no", "yes")}
    return make_interactions(
        {"y": lambda r: r[:, 0] * (r[:, 1] - 1) + r[:, 1] * r[:, 2]},
        np.column_stack(columns),
        ["income", "region", "owner"],
        labels=labels,
    )


def with_a_hole(n_rows=1_000):
    """Rows along a diagonal; corners of the map have none."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, n_rows)
    rows = np.column_stack([x, 1 - x + rng.normal(0, 0.12, n_rows)])
    return make_interactions({"y": lambda r: r[:, 0] * r[:, 1]}, rows, ["long", "lat"])
