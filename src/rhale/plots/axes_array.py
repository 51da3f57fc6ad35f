"""What plots of several panels give back: axes that a notebook prints on one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

MAX_AXES_IN_REPR = 4


class AxesArray(np.ndarray):
    """An array of axes, which says how many there are instead of listing them."""

    def __repr__(self) -> str:
        names = [name for ax in self.ravel()[:MAX_AXES_IN_REPR] if (name := read_axes_name(ax))]
        more = ", ..." if names and self.size > MAX_AXES_IN_REPR else ""
        told = f": {', '.join(names)}{more}" if names else ""
        return f"<{self.size} panel{'' if self.size == 1 else 's'}{told}>"

    __str__ = __repr__


class TwoPanels(NamedTuple):
    """The two panels of one feature: its curve, and what it is made of."""

    top: Axes
    bottom: Axes

    def __repr__(self) -> str:
        return f"<2 panels: {read_axes_name(self.bottom) or read_axes_name(self.top)}>"


def read_axes_name(ax: Any) -> str:
    """Name axes by their title, or by what stands along x."""
    return " ".join((ax.get_title("left") or ax.get_xlabel()).split())


def as_axes_array(panels: Iterable[Axes]) -> AxesArray:
    """Put axes into an array of shape (n_panels,)."""
    panels = list(panels)
    array = np.empty(len(panels), dtype=object)
    array[:] = panels
    return array.view(AxesArray)
