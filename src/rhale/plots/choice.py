"""Which plot draws a result, and with which options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from rhale.errors import BadSettingError
from rhale.names import near_names
from rhale.plots.effect_plot import plot_effect
from rhale.plots.pair_lines import plot_pair_lines
from rhale.plots.pair_map import plot_pair_map
from rhale.plots.pair_sides import DrawnPair
from rhale.plots.profile_plot import plot_profile
from rhale.plots.region_plot import plot_regions
from rhale.results.result import Parts, Result

Plot = Callable[..., Any]
DETAILS: dict[Parts, Plot] = {"bins": plot_effect, "levels": plot_effect, "points": plot_profile}
PAIRS: dict[str, Plot] = {"map": plot_pair_map, "lines": plot_pair_lines}
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
    is_single = plot in DETAILS.values()
    if is_single and options.pop(REGIONS, False):
        plot = plot_regions
    return draw_with(plot, what, options, also=[REGIONS] if is_single else [])


def draw_pair(pair: DrawnPair, kind: str, **options: Any) -> Any:
    """Draw one pair in one of two ways."""
    if kind not in PAIRS:
        msg = f"there is no kind {kind!r} of picture of a pair; {near_names(kind, list(PAIRS))}"
        raise BadSettingError(msg)
    return draw_with(PAIRS[kind], pair, options)


def draw_with(plot: Plot, what: Any, options: Mapping[str, Any], also: Sequence[str] = ()) -> Any:
    """Draw with the options of a plot; refuse others, and name those that are known.

    Parameters
    ----------
    plot : callable
        What draws.
    what : object
        What is drawn.
    options : mapping
        As the user gave them.
    also : sequence of str
        Options that the user may give, and that were taken out already.
    """
    known = [*list(signature(plot).parameters)[1:], *also]
    for name in options:
        if name not in known:
            msg = f"{plot.__name__} has no option {name!r}; {near_names(name, known)}"
            raise BadSettingError(msg)
    return plot(what, **options)
