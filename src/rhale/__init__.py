"""Feature effects you can trust: RHALE for any model and any table."""

from typing import Any as _Any

from rhale import models
from rhale._explain import effect, explain
from rhale._interact import interactions
from rhale._refit import refit, refits
from rhale._run import own_version as _own_version
from rhale.comparison import Comparison, compare
from rhale.errors import RhaleError
from rhale.explanation import Explanation
from rhale.kernels import partitions as _partitions
from rhale.kernels.partitions import *  # a new one is named in that list alone
from rhale.kernels.regions import By, Regions
from rhale.pairs import Interactions
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.pair_effect import PairEffect
from rhale.results.profile import Profile
from rhale.results.refit_effect import RefitEffect
from rhale.results.region_tree import RegionTree
from rhale.trainings import Refits, load

__all__ = [
    "By",
    "Comparison",
    "Effect",
    "Explanation",
    "Interactions",
    "LevelEffect",
    "PairEffect",
    "Profile",
    "RefitEffect",
    "Refits",
    "RegionTree",
    "Regions",
    "RhaleError",
    "compare",
    "effect",
    "explain",
    "interactions",
    "load",
    "models",
    "refit",
    "refits",
]
__all__ += _partitions.__all__


def __getattr__(name: str) -> _Any:
    """Load on first use what `import rhale` should not wait for: the version, plots and their style."""
    if name == "__version__":
        return _own_version()
    if name == "style":
        from rhale.plots.theme import style

        return style
    if name in ("plots", "problems"):
        from importlib import import_module

        return import_module(f"rhale.{name}")
    msg = f"module 'rhale' has no attribute {name!r}"
    raise AttributeError(msg)
