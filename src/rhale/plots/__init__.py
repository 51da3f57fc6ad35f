"""Finished numbers to Matplotlib axes. Loaded on first use; never shows, never sets defaults."""

from __future__ import annotations

from rhale.plots.compare import plot_compare
from rhale.plots.effect_plot import plot_effect
from rhale.plots.outputs import plot_outputs
from rhale.plots.pair_lines import plot_pair_lines
from rhale.plots.pair_map import plot_pair_map
from rhale.plots.pair_overview import plot_interactions
from rhale.plots.profile_plot import plot_profile
from rhale.plots.refit_plot import plot_refits
from rhale.plots.region_plot import plot_regions
from rhale.plots.replication_plot import plot_replication
from rhale.plots.small_pictures import plot_all
from rhale.plots.strength_matrix import plot_matrix
from rhale.plots.strength_ranking import plot_ranking

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
