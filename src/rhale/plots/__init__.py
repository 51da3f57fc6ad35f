"""Finished numbers to Matplotlib axes. Loaded on first use; never shows, never sets defaults.

| here | what it holds |
| --- | --- |
| `axes` | Results along a continuous axis or at the levels of a categorical one |
| `canvas` | Figures and axes: where to draw, their size, what every picture may be given |
| `categorical_axis` | The categorical axis: levels along x, or along y where their names are long |
| `choice` | Which plot draws a result, and with which options |
| `effect` | The two panels of one effect: the curve above, the bins it is made of below |
| `labels` | Labels of axes and outputs; names as text (never mathematics, never too long) |
| `levels` | The two panels of an effect of levels: dots above, the steps between levels below |
| `marks` | Marks: dots, whiskers, lines and bands, also of several trainings |
| `overview` | All features, or all outputs of one feature, in small panels with one y axis |
| `profile` | One profile: partial dependence with the rows' own curves, or the marginal plot |
| `proportion` | One effect among all of an explanation: a sentence on its size, and the panels of its picture |
| `row_curves` | Curves of single rows beside the mean |
| `style` | Colours, dashes and sizes of every plot. Nothing here is set globally |
| `theme` | What a style may change of every picture: colours, widths of lines, sizes; held by a context |
| `ticks` | The axis of a feature: plain numbers, dates, durations |
| `view` | The visible part of an axis, its scale, and the order of levels |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rhale.comparison.overlay import plot_compare
    from rhale.interaction.plot import plot_pair_lines, plot_pair_map
    from rhale.interaction.plot_all import plot_interactions, plot_matrix, plot_ranking
    from rhale.plots.effect import plot_effect
    from rhale.plots.overview import plot_all, plot_outputs
    from rhale.plots.profile import plot_profile
    from rhale.regions.plot import plot_regions
    from rhale.stability.plot import plot_refits, plot_replication

__all__ = [
    "plot_all",
    "plot_compare",
    "plot_effect",
    "plot_interactions",
    "plot_matrix",
    "plot_outputs",
    "plot_pair_lines",
    "plot_pair_map",
    "plot_profile",
    "plot_ranking",
    "plot_refits",
    "plot_regions",
    "plot_replication",
]
# Pictures of capabilities import parts of this package: it may not import them while it is loaded.
PLOT_MODULES = {
    "plot_all": "rhale.plots.overview",
    "plot_compare": "rhale.comparison.overlay",
    "plot_effect": "rhale.plots.effect",
    "plot_interactions": "rhale.interaction.plot_all",
    "plot_matrix": "rhale.interaction.plot_all",
    "plot_outputs": "rhale.plots.overview",
    "plot_pair_lines": "rhale.interaction.plot",
    "plot_pair_map": "rhale.interaction.plot",
    "plot_profile": "rhale.plots.profile",
    "plot_ranking": "rhale.interaction.plot_all",
    "plot_refits": "rhale.stability.plot",
    "plot_regions": "rhale.regions.plot",
    "plot_replication": "rhale.stability.plot",
}


def __getattr__(name: str) -> Any:
    """Import the module of a plot when the plot is used."""
    if name in PLOT_MODULES:
        return getattr(import_module(PLOT_MODULES[name]), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
