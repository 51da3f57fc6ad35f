"""Finished numbers to Matplotlib axes. Loaded on first use; never shows, never sets defaults."""

from __future__ import annotations

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
