"""Which plot draws a result, and with which options."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from rhale.errors import BadSettingError
from rhale.names import near_names
from rhale.plots.effect_plot import plot_effect
from rhale.plots.profile_plot import plot_profile
from rhale.plots.region_plot import plot_regions
from rhale.results.result import Parts, Result

Plot = Callable[..., Any]
DETAILS: dict[Parts, Plot] = {"bins": plot_effect, "levels": plot_effect, "points": plot_profile}
REGIONS = "regions"  # the option that asks for another plot


def choose_plot(result: Result) -> Plot:
    """Find the plot that shows one result in detail."""
    return DETAILS[result.parts]


def draw(plot: Plot, what: Any, **options: Any) -> Any:
    """Draw results with options that the user gave, once they are known to be understood.

    Notes
    -----
    `regions=True` draws a single effect by another plot, with options of its own.
    """
    known = list(signature(plot).parameters)[1:]
    if REGIONS not in known:
        if options.pop(REGIONS, False):
            plot, known = plot_regions, list(signature(plot_regions).parameters)[1:]
        known = [*known, REGIONS]
    for name in options:
        if name not in known:
            msg = f"{plot.__name__} has no option {name!r}; {near_names(name, known)}"
            raise BadSettingError(msg)
    return plot(what, **options)
