"""Feature effects you can trust: RHALE for any model and any table."""

import typing as _typing
from importlib import import_module as _import_module

from rhale.errors import RhaleError
from rhale.kernels import partitions as _partitions
from rhale.kernels.partitions import *  # a new one is named in that list alone
from rhale.kernels.regions import By, Regions

if _typing.TYPE_CHECKING:
    from rhale import models
    from rhale._explain import effect, explain
    from rhale._interact import interactions
    from rhale._refit import refit, refits
    from rhale.comparison import Comparison, compare
    from rhale.explanation import Explanation
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

# What `import rhale` does not wait for, as type checkers read it above: each name and its room.
_ROOMS = {
    "Comparison": "comparison",
    "Effect": "results.effect",
    "Explanation": "explanation",
    "Interactions": "pairs",
    "LevelEffect": "results.level_effect",
    "PairEffect": "results.pair_effect",
    "Profile": "results.profile",
    "RefitEffect": "results.refit_effect",
    "Refits": "trainings",
    "RegionTree": "results.region_tree",
    "compare": "comparison",
    "effect": "_explain",
    "explain": "_explain",
    "interactions": "_interact",
    "load": "trainings",
    "refit": "_refit",
    "refits": "_refit",
    "style": "plots.theme",
}
_MODULES = (
    *("comparison", "engines", "explanation", "features", "gpu", "measures", "models", "names"),
    *("pairs", "plots", "results", "settings", "system", "tables", "trainings"),
)


def __getattr__(name: str) -> _typing.Any:
    """Load on first use what `import rhale` should not wait for: calls, results, plots, the version."""
    if name in _ROOMS:
        value = getattr(_import_module(f"rhale.{_ROOMS[name]}"), name)
        globals()[name] = value  # found at once the next time
        return value
    if name in _MODULES:
        return _import_module(f"rhale.{name}")
    if name == "__version__":
        return _import_module("rhale._run").own_version()
    msg = f"module 'rhale' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """Names that are here, and those that come on first use."""
    return sorted({*globals(), *__all__, *_ROOMS, *_MODULES, "__version__"})
