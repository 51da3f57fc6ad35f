"""
A function of JAX
=================

Any function that JAX can differentiate is a model, and its exact gradients are used. Here it is a
physical law, the flow of heat through a wall, and the picture tells what each quantity does to it
over the homes in a table.
"""

import jax.numpy as jnp
import numpy as np

import rhale

rng = np.random.default_rng(0)
n = 1_000
X = np.column_stack([rng.uniform(5, 40, n), rng.uniform(5, 30, n), rng.uniform(20, 200, n)])


def heat_loss(rows):
    """Watts through a wall: more the colder it is outside, less with thick insulation."""
    degrees, centimetres, area = jnp.moveaxis(rows, 1, 0)
    return area * degrees * 0.04 / (centimetres / 100)


fx = rhale.explain(
    heat_loss,
    X,
    feature_names=["difference", "insulation", "area"],
    output_names="heat",
    units={"difference": "°C", "insulation": "cm", "area": "m²", "heat": "W"},
)
fx.plot(columns=2)
