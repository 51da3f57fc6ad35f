"""Feature effects you can trust: RHALE for any model and any table."""

from typing import Any as _Any

from rhale import models
from rhale._explain import effect, explain
from rhale._explain import own_version as _own_version
from rhale.errors import RhaleError
from rhale.explanation import Explanation, load
from rhale.kernels.adaptive import Adaptive
from rhale.kernels.fixed import Edges, Fixed, Quantile
from rhale.kernels.optimal import Optimal
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.profile import Profile

__all__ = [
    "Adaptive",
    "Edges",
    "Effect",
    "Explanation",
    "Fixed",
    "LevelEffect",
    "Optimal",
    "Profile",
    "Quantile",
    "RhaleError",
    "effect",
    "explain",
    "load",
    "models",
]


def __getattr__(name: str) -> _Any:
    """Load on first use what `import rhale` should not wait for: the version, and the plots."""
    if name == "__version__":
        return _own_version()
    if name in ("plots", "problems"):
        from importlib import import_module

        return import_module(f"rhale.{name}")
    msg = f"module 'rhale' has no attribute {name!r}"
    raise AttributeError(msg)
