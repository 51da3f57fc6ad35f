"""Colours of what results show: the same in pictures, on the page and in notebooks."""

from __future__ import annotations

# Okabe and Ito's palette: told apart by readers of any colour vision, and in grey by lightness.
EFFECT = "#0072B2"
SPREAD = "#009E73"  # how rows differ: band, whiskers, violins
UNCERTAINTY = "#D55E00"  # how well the mean is known: ribbon
COUNT = "#8C8C8C"  # where rows are
