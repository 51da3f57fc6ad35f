"""
Groups that you name
====================

Does a discount pull alike in all states? ``rhale.By`` searches nothing: every feature
gets an effect in each group that you name. Groups are the values of a column, united levels, or the
parts of a column between cuts.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
shops = pd.DataFrame(
    {
        "discount": rng.uniform(0, 40, n).round(1),
        "state": rng.choice(["north", "coast", "south", "islands"], n),
        "size": rng.lognormal(5, 0.5, n),
    }
)


def sales(table):
    pull = table["state"].map({"north": 1.0, "coast": 1.2, "south": 3.0, "islands": 0.2})
    return pull * table["discount"] + np.sqrt(table["size"])


fx = rhale.explain(sales, shops, features=["discount"], regions=rhale.By("state"))
fx.plot("discount", regions=True)

# %%
# Some of the groups are wanted as one: unite them.
united = {"mainland": ["north", "coast", "south"], "islands": ["islands"]}
groups = rhale.By("state", groups=united)
fx = rhale.explain(sales, shops, features=["discount"], regions=groups)
fx.plot("discount", regions=True)
