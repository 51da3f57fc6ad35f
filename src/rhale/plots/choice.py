"""Which plot draws a result, and with which options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from rhale.effects.result import Parts, Result
from rhale.errors import BadSettingError
from rhale.interaction.plot import DrawnPair, plot_pair_lines, plot_pair_map
from rhale.naming import near_names
from rhale.plots.canvas import AXES_OPTIONS, FRAME, read_frame
from rhale.plots.effect import plot_effect
from rhale.plots.profile import plot_profile
from rhale.regions.plot import plot_regions
from rhale.stability.plot import plot_refits
from rhale.stability.refit_effect import RefitEffect

Plot = Callable[..., Any]
DETAILS: dict[Parts, Plot] = {"bins": plot_effect, "levels": plot_effect, "points": plot_profile}
PAIR_PLOTS: dict[str, Plot] = {"map": plot_pair_map, "lines": plot_pair_lines}
REGIONS_OPTION = "regions"  # the option that asks for another plot
OTHER_WORDS = {  # what other libraries call an option
    **dict.fromkeys(("color", "colour", "colours", "palette", "c", "cmap"), "colors"),
    **dict.fromkeys(("max_features", "max_display", "n_features", "n"), "top"),
    **dict.fromkeys(("xlim", "percentiles", "quantiles", "range"), "limits"),
    **dict.fromkeys(("logx", "log", "log_scale", "scale"), "xscale"),
    **dict.fromkeys(("size", "figure_size", "width", "height"), "figsize"),
    **dict.fromkeys(("order", "sorted", "sort_by"), "sort"),
    **dict.fromkeys(("ncols", "n_cols", "cols"), "columns"),
    **dict.fromkeys(("rows", "n_rows", "ice", "ice_lines"), "max_curves"),
}


def choose_plot(result: Result) -> Plot:
    """Find the plot that shows one result in detail."""
    return DETAILS[result.parts]


def plot_result_by_options(result: Result, **options: Any) -> Any:
    """Draw one result in detail."""
    return draw(choose_plot(result), result, **options)


def plot_refit_by_options(effect: RefitEffect, **options: Any) -> Any:
    """Draw one feature in all trainings."""
    return draw(plot_refits, effect, **options)


def draw(plot: Plot, what: Any, **options: Any) -> Any:
    """Draw results with options that the user gave, once they are known to be understood."""
    # `regions=True` draws a single effect by another plot, with options of its own.
    is_single = plot in DETAILS.values()
    if is_single and options.pop(REGIONS_OPTION, False):
        plot = plot_regions
    return draw_with(plot, what, options, also=[REGIONS_OPTION] if is_single else [])


def draw_pair(pair: DrawnPair, kind: Any, **options: Any) -> Any:
    """Draw one pair in one of two ways."""
    if not isinstance(kind, str) or kind not in PAIR_PLOTS:
        msg = (
            f"there is no kind {kind!r} of picture of a pair; {near_names(kind, list(PAIR_PLOTS))}"
        )
        raise BadSettingError(msg)
    return draw_with(PAIR_PLOTS[kind], pair, options)


def draw_with(plot: Plot, what: Any, options: Mapping[str, Any], also: Sequence[str] = ()) -> Any:
    """Draw with the options of a plot; refuse others, and name those that are known.

    `options` holds those of this plot and those of every plot; `also` names options that a user may
    give and that were taken out before.
    """
    known = list(signature(plot).parameters)[1:]
    for name in options:
        if name not in (*known, *FRAME):
            raise BadSettingError(tell_options(plot, name, [*known, *also]))
    given = {name: option for name, option in options.items() if name in known}
    for name in AXES_OPTIONS:
        panels = np.asarray(given.get(name), dtype=object).ravel()
        if given.get(name) is not None and not all(isinstance(panel, Axes) for panel in panels):
            msg = (
                f"{name}={given[name]!r:.60} are no axes; pass those of matplotlib, or leave it out"
            )
            raise BadSettingError(msg)
    frame = read_frame({name: options[name] for name in FRAME if name in options})
    is_new = all(given.get(name) is None for name in AXES_OPTIONS)
    if frame.figsize is not None and not is_new:
        msg = "figsize= is the size of a new figure, and ax= has one already; leave one of them out"
        raise BadSettingError(msg)
    with frame.apply_theme():
        drawn = plot(what, **given)
        frame.write_title(drawn, is_new=is_new)
    return drawn


def tell_options(plot: Plot, name: str, known: Sequence[str]) -> str:
    """Say that a plot has no such option, and which ones it has."""
    if name == "kind":
        return (
            f"kind= chooses the panels of one feature and one output, and {plot.__name__} draws "
            "something else; name both: fx.plot('age', output=..., kind='curve')"
        )
    if name in ("rows", "color") and plot not in DETAILS.values():
        return (
            f"{name}= draws curves of single rows of one feature and one output, and "
            f"{plot.__name__} draws something else; name both: fx.plot('age', output=..., rows=50)"
            f"{'; colors= is the colour of curves' if name == 'color' else ''}"
        )
    is_ours = OTHER_WORDS.get(name) in (*known, *FRAME)
    meant = f"did you mean {OTHER_WORDS[name]!r}? " if is_ours else ""
    names = near_names(name, [*known, *FRAME], limit=len(known) + len(FRAME))
    return f"{plot.__name__} has no option {name!r}; {meant}{names}"
