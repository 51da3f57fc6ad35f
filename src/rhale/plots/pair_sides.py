"""The two sides of a pair on a picture: where cells and levels lie, how they are named, their rows."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.times import format_axis_value
from rhale.plots import canvas, style, ticks
from rhale.plots.board import OrientedAxes
from rhale.plots.lettering import LITERAL, fit_name
from rhale.plots.slots import LevelLayout
from rhale.results.captions import NO_CAPTIONS, Captions
from rhale.results.pair_effect import PairMethod

Along = Literal["x", "y"]
LARGE_LETTERS = 11.0  # of the name of an axis, in an inch
RUG_START = 1.01  # of a strip outside of the axes, in shares of them


class DrawnPair(Protocol):
    """What pictures ask of a pair that has a surface, whatever it was measured by."""

    @property
    def names(self) -> tuple[str, str]:
        """The two features."""

    @property
    def output(self) -> str:
        """The output of the model."""

    @property
    def captions(self) -> Captions:
        """What people read for both, and for the output."""

    @property
    def method(self) -> PairMethod:
        """What it was measured by."""

    @property
    def axes(self) -> tuple[PairAxis, PairAxis]:
        """Limits of cells, or levels."""

    @property
    def weight(self) -> FloatArray:
        """Weight of the rows by where they stand."""

    @property
    def measured(self) -> BoolArray:
        """Where rows stand: nothing is shown elsewhere."""

    @property
    def main(self) -> tuple[FloatArray, FloatArray]:
        """Effects of both features alone, at the nodes."""

    @property
    def heights(self) -> FloatArray:
        """The surface at the nodes."""

    @property
    def standard_error(self) -> FloatArray:
        """Its standard error; nan where it is not known."""

    @property
    def strength(self) -> float:
        """Deviation of the surface over the rows."""

    @property
    def strength_error(self) -> float:
        """Its standard error; nan where it is not known."""

    @property
    def share(self) -> float:
        """Squared strength, of the variance of the predictions."""

    @property
    def variance(self) -> float:
        """Of the predictions."""

    def transposed(self) -> DrawnPair:
        """The same pair, sides exchanged."""


class ColourCells(NamedTuple):
    """Parts of the cells of a side, small enough for one colour each; levels are not divided.

    Attributes
    ----------
    limits : ndarray of shape (n_parts + 1,)
        Where parts end in a picture.
    stand : ndarray of shape (n_parts,)
        The cell or level that each is of.
    shares : ndarray of shape (n_parts, n_nodes)
        How much each node counts in the middle of a part.
    """

    limits: FloatArray
    stand: IntArray
    shares: FloatArray


class DrawnPairFeature(NamedTuple):
    """One feature of a pair.

    Attributes
    ----------
    name : str
        The feature.
    axis : PairAxis
        Its cells or levels.
    weight : ndarray of shape (n_stands,)
        Weight of the rows in each.
    main : ndarray of shape (n_nodes,)
        Its own effect.
    captions : Captions
        What people read.
    """

    name: str
    axis: PairAxis
    weight: FloatArray
    main: FloatArray
    captions: Captions = NO_CAPTIONS

    @property
    def words(self) -> str:
        """What people read for the feature."""
        return self.captions.feature(self.name)

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to go along."""
        nodes = self.axis.nodes
        return nodes.size < 2 or not nodes[-1] > nodes[0]

    @property
    def ends(self) -> tuple[float, float]:
        """First and last value."""
        return float(self.axis.nodes[0]), float(self.axis.nodes[-1])

    @property
    def slots(self) -> LevelLayout:
        """Places of levels in a picture: evenly, one after the other."""
        places = np.arange(float(len(self.axis.labels)))
        return LevelLayout(self.axis.labels, places, is_number=False, has_missing=False)

    @property
    def places(self) -> FloatArray:
        """Where nodes lie in a picture."""
        return self.slots.places if self.axis.is_levels else self.axis.nodes

    @property
    def limits(self) -> FloatArray:
        """Where stands end in a picture, (n_stands + 1,)."""
        if not self.axis.is_levels:
            return self.axis.nodes
        return np.arange(float(self.axis.nodes.size + 1)) - 0.5

    @property
    def density(self) -> FloatArray:
        """Weight of the rows by the width of their cell in a picture; 1 where most rows are."""
        density = self.weight / np.diff(self.limits)
        return (
            np.asarray(density / density.max()) if density.size and density.max() > 0 else density
        )

    def divide(self, parts: int) -> ColourCells:
        """Divide cells into about so many parts of like width, each cell into two at least."""
        if self.axis.is_levels:
            every = np.arange(self.axis.nodes.size)
            return ColourCells(self.limits, every, np.eye(every.size))
        share = self.axis.widths / self.axis.widths.sum()
        n_parts = np.maximum(2, np.ceil(share * parts)).astype(np.intp)
        cell = np.repeat(np.arange(n_parts.size), n_parts)
        nth = np.arange(cell.size) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
        place = (nth + 0.5) / n_parts[cell]
        shares = np.zeros((cell.size, self.axis.nodes.size))
        every = np.arange(cell.size)
        shares[every, cell], shares[every, cell + 1] = 1 - place, place
        starts = self.axis.nodes[cell] + nth / n_parts[cell] * self.axis.widths[cell]
        return ColourCells(np.append(starts, self.axis.nodes[-1]), cell, shares)


def read_drawn_pair_features(pair: DrawnPair) -> tuple[DrawnPairFeature, DrawnPairFeature]:
    """Read both features of a pair."""
    first, second = (pair.weight.sum(axis=1), pair.weight.sum(axis=0))
    return (
        DrawnPairFeature(pair.names[0], pair.axes[0], first, pair.main[0], pair.captions),
        DrawnPairFeature(pair.names[1], pair.axes[1], second, pair.main[1], pair.captions),
    )


def dress_side(ax: Axes, side: DrawnPairFeature, along: Along, *, count: int = 8) -> None:
    """Write the values of a feature along an axis as what they are, and name it."""
    if side.axis.is_levels:
        OrientedAxes(ax, turned=along == "y").name_levels(side.slots)
    else:
        if along == "y":
            canvas.write_plain_numbers(ax, 8)
        ticks.dress_places(ax, side.axis.kind, side.ends, ticks=count, along=along)
    box = ax.get_window_extent()
    inches = (box.width if along == "x" else box.height) / ax.figure.dpi
    length = int(np.clip(LARGE_LETTERS * inches, 8, style.LABEL_LENGTH))
    name = ticks.places_name(side.captions.axis(side.name), side.axis.kind, side.ends, length)
    (ax.set_xlabel if along == "x" else ax.set_ylabel)(name, **LITERAL)


def draw_row_density(ax: Axes, side: DrawnPairFeature, along: Along, *, beyond: bool) -> Polygon:
    """Draw a strip that is high where many rows are.

    Parameters
    ----------
    ax : Axes
        Where.
    side : DrawnPairFeature
        Whose rows.
    along : {"x", "y"}
        The axis of the feature.
    beyond : bool
        Outside of the axes, above or at the right; else inside, at the bottom.
    """
    height = np.where(side.weight > 0, np.maximum(side.density, style.STRIP_FLOOR), 0.0)
    floor, most = (RUG_START, style.RUG_HEIGHT) if beyond else (0.0, style.STRIP_HEIGHT)
    places = np.repeat(side.limits, 2)
    heights = floor + most * np.concatenate([[0.0], np.repeat(height, 2), [0.0]])
    outline = np.column_stack([places, heights] if along == "x" else [heights, places])
    transform = ax.get_xaxis_transform() if along == "x" else ax.get_yaxis_transform()
    strip = Polygon(outline, closed=True, transform=transform)
    strip.set(color=style.COUNT, alpha=style.COUNT_ALPHA, linewidth=0, zorder=2)
    strip.set(gid="rhale:counts", label="where rows are")
    ax.add_artist(strip)  # no part of the limits of the axes, as a patch would be
    strip.set_clip_on(not beyond)
    return strip


def is_blank(sides: tuple[DrawnPairFeature, DrawnPairFeature]) -> bool:
    """Whether there is nothing to draw: one value only, or no row that has both."""
    return any(side.is_constant or not side.weight.any() for side in sides)


def say_blank(ax: Axes, sides: tuple[DrawnPairFeature, DrawnPairFeature]) -> None:
    """Write which features have one value, or that no row has both, in place of a picture."""
    told = list[str]()
    for side in sides:
        if side.is_constant:
            name = fit_name(side.words, canvas.letters(ax, "width") - 12)
            told.append(f"{name} is constant: {write_only_pair_value(side.axis)}")
    told = [*told, "no interaction"] if told else ["no row has a value of both", "nothing is known"]
    words = "\n".join(told)
    note = ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", **LITERAL)
    note.set(gid="rhale:constant", color=style.NOTE, fontsize=style.LEGEND_TEXT)
    ax.set(xticks=[], yticks=[])


def write_only_pair_value(axis: PairAxis) -> str:
    """Write the one value of a constant feature."""
    if not axis.nodes.size:
        return "no value"
    return (
        fit_name(axis.labels[0], 20)
        if axis.labels
        else format_axis_value(float(axis.nodes[0]), axis.kind)
    )
