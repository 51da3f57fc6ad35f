"""Colours, the same in pictures, on pages and in notebooks."""

from __future__ import annotations

# Okabe and Ito's palette: told apart by readers of any colour vision, and in grey by lightness.
EFFECT_COLOUR = "#0072B2"
SPREAD_COLOUR = "#009E73"  # how rows differ: band, whiskers, violins
UNCERTAINTY_COLOUR = "#D55E00"  # how well the mean is known: ribbon
BETWEEN_COLOUR = "#CC79A7"  # how trainings differ: their curves, and the interval between them
ROW_COUNT_COLOUR = "#8C8C8C"  # where rows are

# Several curves, classes or models in one picture. None of the colours above is among them but that
# of curves: green says how rows differ, orange how well a mean is known, and nothing else. All are
# seen on white (contrast 3.4 and more) and told apart by readers of any colour vision.
SERIES_COLOURS = (
    EFFECT_COLOUR,
    "#8B1E55",
    "#A3860C",
    "#1A1A1A",
    "#9B72F2",
    "#6E4A1E",
    "#1F2F8C",
    "#7D8A94",
)

# Curves of regions: that of curves first, and never those of the spread or of intervals.
REGION_COLOURS = (EFFECT_COLOUR, SERIES_COLOURS[2], SERIES_COLOURS[1], SERIES_COLOURS[4])
THIRD_COLOURS = ("#8CC4E8", "#2F8FCB", "#0B4F80")  # one hue, from light to dark

# Surfaces of pairs: below zero, at zero, above. Blue and red are told apart by all readers.
BELOW_ZERO_COLOUR, AT_ZERO_COLOUR, ABOVE_ZERO_COLOUR = "#2166AC", "#F7F7F7", "#B2182B"
STRENGTH_COLOUR = "#5E3C99"  # how strongly two features interact
