"""California Housing: bins fitted to 1000 rows, compared with what all rows say."""

from __future__ import annotations

from typing import Any

import numpy as np
from california import FEATURES, NET_A, NET_B, fitted_net, housing_from_arguments
from california_bins import local_effects
from parts import FloatArray, centred_gap, geometric_mean, read_at, write_part
from random_problems import TEXT, WAYS
from report import table

import rhale

N_RUNS, N_ROWS, N_DENSE, SEED = 30, 1000, 80, 2026
ABOUT = """
## California Housing

`accuracy/california_subsets.py`. Two nets (the paper's code, the paper's text) and eight features: the
effect in 80 dense bins of all 15,639 training rows stands for the truth; bins are fitted to {n} samples
of 1,000 rows, within the limits of the paper's figures. Ratios of the mean errors to the paper's text,
geometric means over the 16 pairs; the settings of `Adaptive` were chosen on other samples.
"""


def errors(
    x: FloatArray, d: FloatArray, limits: tuple[float, float], bins: Any, dense: rhale.Effect
) -> list[float]:
    """Errors of effect, spread and curve of one sample, against the dense bins."""
    found = rhale.effect(x, d, bins=bins, limits=limits)
    z = 0.5 * (dense.edges[1:] + dense.edges[:-1])
    mean, std = read_at(found, z)
    known = np.isfinite(std) & np.isfinite(dense.std)
    return [
        float(np.abs(mean - dense.mean).mean()),
        float(np.abs(std - dense.std)[known].mean()),
        centred_gap(found.curve(dense.edges), dense.curve(dense.edges)),
    ]


def measure(
    x: FloatArray, slopes: FloatArray, limits: list[tuple[float, float]], ways: list[Any]
) -> FloatArray:
    """Mean errors of one net, shape (n_ways, n_features, 3)."""
    rng = np.random.default_rng(SEED)
    samples = [rng.choice(len(x), N_ROWS, replace=False) for _ in range(N_RUNS)]
    total = np.zeros((len(ways), len(FEATURES), 3))
    for s in range(len(FEATURES)):
        dense = rhale.effect(x[:, s], slopes[:, s], bins=N_DENSE, limits=limits[s])
        for rows in samples:
            for way, bins in enumerate(ways):
                total[way, s] += errors(x[rows, s], slopes[rows, s], limits[s], bins, dense)
    return total / N_RUNS


def main() -> None:
    """Write the section."""
    housing = housing_from_arguments(__doc__)
    limits = [housing.limits(s) for s in range(len(FEATURES))]
    ways = [TEXT, *WAYS.values()]
    nets = [
        measure(*local_effects(fitted_net(net, housing), housing), limits, ways)
        for net in (NET_A, NET_B)
    ]
    found = np.concatenate(nets, axis=1)
    ratios = found[1:] / found[0]
    rows = [[name, *(f"{v:.3f}" for v in geometric_mean(ratios[k]))] for k, name in enumerate(WAYS)]
    pairs = [
        [f"{net} {feature}", *(f"{v:.2f}" for v in ratios[0, 8 * n + s])]
        for n, net in enumerate("AB")
        for s, feature in enumerate(FEATURES)
    ]
    head = ["bins", "effect", "spread", "curve"]
    write_part(
        "california_subsets",
        ABOUT.format(n=N_RUNS),
        table(head, rows),
        "`Adaptive()`, net by net and feature by feature:",
        table(["net and feature", *head[1:]], pairs),
    )


if __name__ == "__main__":
    main()
