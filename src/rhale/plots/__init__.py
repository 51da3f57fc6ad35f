"""Finished numbers to Matplotlib axes. Loaded on first use; never shows, never sets defaults.

| here | what it holds |
| --- | --- |
| `axes` | The two axes that every picture draws on: continuous, with lines and bands; categorical, with dots and whiskers |
| `canvas` | Figures, panels and legends: where to draw, their size, what every picture may be given |
| `categorical_axis` | Levels along x, or along y where their names are long: places, names, strokes |
| `choice` | Which plot draws a result, and with which options |
| `effect` | One effect in detail: its curve above, the bins or steps below; how large it is among all |
| `labels` | Labels of axes and outputs as text (never mathematics, never too long), and ticks |
| `overview` | All features, or all outputs of one feature, in small panels with one y axis |
| `profile` | One profile: partial dependence with the rows' own curves, or the marginal plot |
| `row_curves` | Curves of single rows beside the mean |
| `style` | Colours, dashes and sizes of every picture, and the styles that change them for a block |
| `view` | The visible part of an axis, its scale, and the order of levels |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rhale.comparison.plot import plot_compare
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
    "plot_compare": "rhale.comparison.plot",
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
