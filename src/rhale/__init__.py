"""Feature effects you can trust: RHALE for any model and any table."""

from rhale import models
from rhale.effect import Effect
from rhale.errors import RhaleError
from rhale.explain import effect, explain
from rhale.explanation import Explanation, load
from rhale.kernels.partition import Edges, Fixed, Optimal, Quantile
from rhale.profile import Profile

__all__ = [
    "Edges",
    "Effect",
    "Explanation",
    "Fixed",
    "Optimal",
    "Profile",
    "Quantile",
    "RhaleError",
    "effect",
    "explain",
    "load",
    "models",
]
