"""
RHALE beside ALE and partial dependence
=======================================

Two features go together, and the model does something odd where both differ, which no row does.
Partial dependence asks about such rows and shows the odd part. ALE and RHALE stay near the rows,
and RHALE chooses its bins.
"""

import numpy as np

import rhale

rng = np.random.default_rng(0)
first = rng.uniform(0, 1, 1_000)
X = np.column_stack([first, first + rng.normal(0, 0.05, 1_000)])


def model(rows):
    """The sum of both, and a cliff where no row is."""
    far = np.abs(rows[:, 0] - rows[:, 1]) > 0.4
    return rows[:, 0] + rows[:, 1] + 3 * far * (rows[:, 0] - rows[:, 1])


found = {name: rhale.explain(model, X, method=name) for name in ("rhale", "ale", "pdp")}
found["rhale"].compare(
    {"ALE": found["ale"], "partial dependence": found["pdp"]}, "x0", name="RHALE"
)
