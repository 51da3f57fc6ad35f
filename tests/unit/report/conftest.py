from dataclasses import replace

import numpy as np
import pytest
from tests.unit.conftest import make

import rhale
from rhale.regions.result import Region, RegionTree

NASTY = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "line\u2028and\u2029paragraph",
    "half a letter \ud800",
    "{{ 7 * 7 }}{% raw %}",
)


def divide(x, slopes, *, bins=10, state="found", name="age", **fields):
    """An effect with regions of equal size, each over all x, by the slope in each."""
    made = [
        rhale.effect(x, np.broadcast_to(slope, x.size), bins=bins, name=name)
        for slope in slopes.values()
    ]
    whole = sum(np.broadcast_to(slope, x.size) for slope in slopes.values()) / len(slopes)
    regions = [
        Region(rule, x.size, 1 / len(made), one) for rule, one in zip(slopes, made, strict=True)
    ]
    tree = RegionTree(name, "y0", state, "", tuple(regions), **fields)
    return replace(rhale.effect(x, whole, bins=bins, name=name), regions=tree)


@pytest.fixture(scope="session")
def fx():
    """Two features, two outputs."""
    rows = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    return rhale.explain(lambda r: np.column_stack([r[:, 0] ** 2, r[:, 0] * r[:, 1]]), rows)


@pytest.fixture(scope="session")
def nasty(fx):
    """Names that want to be more than names; saved files may hold such, whatever tables can."""
    level = make(["<b>x</b>", "</script><svg onload=alert(3)>"], [1.0], name="]]> <!-- level")
    effects = (*(replace(fx["x0", "y0"], name=name) for name in NASTY), level)
    provenance = {**fx.provenance, "model": "<img src=x onerror=alert(6)>"}
    names = tuple(effect.name for effect in effects)
    return replace(fx, features=names, outputs=("y0",), effects=effects, provenance=provenance)
