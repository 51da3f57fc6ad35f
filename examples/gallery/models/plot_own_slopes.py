"""
From slopes that you already have
=================================

Some models are asked at a price, or run elsewhere, and leave only values and slopes in a file. One
effect is made of these two columns, without any model: ``rhale.effect`` takes the values of the
feature and the local effect of every row.
"""

import numpy as np

import rhale

rng = np.random.default_rng(0)
n = 800
temperature = rng.uniform(-10, 35, n)
per_degree = np.where(temperature < 15, -4.0, 0.0) + 2.5 * np.maximum(temperature - 22, 0) / 5
per_degree += rng.normal(0, 0.8, n)  # homes differ

demand = rhale.effect(temperature, per_degree, name="temperature")
demand.plot(title="Demand for energy, by temperature")
