from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.effects.table import Missing

X = np.linspace(0.0, 10.0, 41)
MISSING = Missing(5, 0.2, -1.5, 0.5, 25.0)
X = np.linspace(0.0, 10.0, 41)


@pytest.fixture
def every_kind(make_levels):
    number = rhale.effect(X, np.ones(41), bins=2, name="number")
    return [
        replace(number, missing=MISSING),
        replace(number, name="date", kind="date"),
        replace(number, name="duration", kind="duration"),
        make_levels(("1", "2", "5"), [2.0, 6.0], edges=[1.0, 2.0, 5.0], name="steps"),
        make_levels(("b", "a"), 3.0, rows=[10, 30], name="categories", missing=MISSING),
        make_levels(("only",), (), name="one"),
    ]
