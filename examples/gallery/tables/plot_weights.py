"""
Rows that count more than others
================================

A survey asked as many people in towns as in the country, though four of five live in towns. With
weights every mean is that of the population. Where the model treats all rows alike nothing changes;
where an effect differs between the groups, the curve moves to the group that counts.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
survey = pd.DataFrame({"town": rng.random(n) < 0.5, "km": rng.uniform(0, 40, n).round(1)})
weight = np.where(survey["town"], 0.8, 0.2)


def hours(table):
    """Hours on the way: in towns each kilometre takes longer."""
    return table["km"] * np.where(table["town"], 0.06, 0.02)


names = {"output_names": "hours on the way"}
as_asked = rhale.explain(hours, survey, **names)
as_lived = rhale.explain(hours, survey, weights=weight, **names)

as_asked.compare({"weighted": as_lived}, "km", name="all rows alike")
