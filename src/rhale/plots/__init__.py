"""Finished numbers to Matplotlib axes. Loaded on first use; never shows, never sets defaults."""

from __future__ import annotations

from rhale.plots.compare import plot_compare
from rhale.plots.effect import plot_effect
from rhale.plots.grid import plot_all
from rhale.plots.outputs import plot_outputs
from rhale.plots.profile import plot_profile

__all__ = ["plot_all", "plot_compare", "plot_effect", "plot_outputs", "plot_profile"]
