"""
Missing values as a point of their own
======================================

What does the model do where a value is missing? Beside the curve stands a point: by how much the
prediction changes on average when the value is taken away. Here the model has learned that
those who do not pay often did not tell their income.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import rhale

rng = np.random.default_rng(0)
n = 3_000
loans = pd.DataFrame({"income": rng.lognormal(3.3, 0.5, n), "age": rng.integers(20, 75, n)})
default = rng.random(n) < 1 / (1 + np.exp(1.5 * np.log(loans["income"] / 12)))
hidden = rng.random(n) < np.where(default, 0.4, 0.05)
loans.loc[hidden, "income"] = np.nan

model = HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=6).fit(loans, default)
fx = rhale.explain(model, loans, output_names="default", units={"income": "thousand €"})
fx.plot("income", kind="curve", limits="1%..99%")

# %%
missing = fx["income"].missing
print(f"{missing.share:.0%} of the rows have none; taking it away adds {missing.mean:.2f}")
