"""
An effect along dates
=====================

What did a year do to the price? Dates are a feature like any other: bins and curves lie on the time
axis, and the lower panel tells the change per day. The model sees dates of the same type as those
in the table.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
START = pd.Timestamp("2019-01-01")
sales = pd.DataFrame(
    {
        "sold": START + pd.to_timedelta(rng.integers(0, 2_190, n), unit="D"),
        "area": rng.uniform(30, 150, n),
    }
)


def price(table):
    """The market rose until 2022, by square metre, and has stood still since."""
    years = (table["sold"] - START) / pd.Timedelta(days=365)
    return table["area"] * (2 + 0.3 * np.minimum(years, 3.5))


fx = rhale.explain(price, sales, units={"prediction": "thousand €"})
fx.plot("sold")

# %%
# Values are asked for by dates, too.
before, after = fx["sold"].curve(["2020-01-01", "2021-01-01"])
print(f"{after - before:.1f} thousand € more within 2020")
