"""Feature effects you can trust: RHALE for any model and any table."""

import typing as _typing
from importlib import import_module as _import_module

from rhale.effects.binning import choose as _partitions
from rhale.effects.binning.choose import *  # a new one is named in that list alone
from rhale.errors import RhaleError

if _typing.TYPE_CHECKING:
    from rhale import models
    from rhale.api import effect, explain
    from rhale.comparison.result import Comparison, compare
    from rhale.effects.effect import Effect
    from rhale.effects.explanation import Explanation
    from rhale.effects.level_effect import LevelEffect
    from rhale.effects.profile import Profile
    from rhale.interaction.api import interactions
    from rhale.interaction.pair_effect import PairEffect
    from rhale.interaction.result import Interactions
    from rhale.plots.style import style
    from rhale.regions.result import RegionTree
    from rhale.regions.settings import By, Regions
    from rhale.stability.api import refit, refits
    from rhale.stability.refit_effect import RefitEffect
    from rhale.stability.result import Refits, load

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
    "style",
]
__all__ += _partitions.__all__

# What `import rhale` does not wait for, as type checkers read it above: each name and its room.
_ROOMS = {
    "By": "regions.settings",
    "Comparison": "comparison.result",
    "Effect": "effects.effect",
    "Explanation": "effects.explanation",
    "Interactions": "interaction.result",
    "LevelEffect": "effects.level_effect",
    "PairEffect": "interaction.pair_effect",
    "Profile": "effects.profile",
    "RefitEffect": "stability.refit_effect",
    "Refits": "stability.result",
    "RegionTree": "regions.result",
    "Regions": "regions.settings",
    "compare": "comparison.result",
    "effect": "api",
    "explain": "api",
    "interactions": "interaction.api",
    "load": "stability.result",
    "refit": "stability.api",
    "refits": "stability.api",
    "style": "plots.style",
}
_MODULES = (
    *("comparison", "data", "effects", "execution", "features", "interaction", "models", "naming"),
    *("output", "plots", "regions", "report", "settings", "stability", "stats", "system"),
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
        return _import_module("rhale.pipeline").own_version()
    msg = f"module 'rhale' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """Names that people use: the calls, the results, the bin rules, and three modules."""
    return sorted({*__all__, "errors", "plots", "style", "__version__"})
