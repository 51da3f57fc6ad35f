"""All outputs for one feature: one small panel each, one y axis, one legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.kernels.curve import Center
from rhale.plots import canvas, panel, small_pictures, style, ticks
from rhale.plots.axes_array import AxesArray
from rhale.plots.fields import Layers
from rhale.plots.labels import output_names, value_label
from rhale.plots.lettering import LITERAL
from rhale.plots.view import Limits, Scale, Sort, read_view
from rhale.results.result import Result


def plot_outputs(
    effects: Sequence[Result],
    *,
    axes: Axes | Iterable[Axes] | None = None,
    columns: int | None = None,
    sharey: bool = True,
    center: Center = "mean",
    level: float = 0.95,
    smooth: bool = False,
    regions: bool = False,
    limits: Limits = None,
    xscale: Scale = "auto",
    sort: Sort | None = None,
) -> AxesArray:
    """Draw the effects of one feature on several outputs, in the given order.

    Parameters
    ----------
    effects : sequence of Effect, LevelEffect or Profile
        Of one feature, one for each output.
    axes : Axes or array-like of Axes, optional
        Where: one for each output, or a single one, in which each output has a colour of its
        own (as in `plot_all`). None makes a new figure.
    columns, sharey, center, level, smooth, regions
        As in `plot_all`.
    limits, xscale, sort
        As in `plot_effect`; levels stand by their effect on the output that they move most.

    Returns
    -------
    ndarray of Axes, shape (n_outputs,)
        In the given order. Artists carry a gid as in `plot_effect`.

    Examples
    --------
    >>> import numpy as np
    >>> import rhale
    >>> X = np.linspace(0, 1, 60).reshape(30, 2)
    >>> fx = rhale.explain(lambda X: X, X)
    >>> [ax.get_title("left") for ax in plot_outputs([fx["x0", "y0"], fx["x0", "y1"]])]
    ['prediction 1', 'prediction 2']
    """
    if isinstance(axes, Axes):
        shown: dict[str, Any] = {"limits": limits, "xscale": xscale, "sort": sort}
        return small_pictures.plot_all(
            effects, axes=axes, center=center, level=level, smooth=smooth, regions=regions, **shown
        )
    if regions:
        small_pictures.refuse_regions(effects, [])
    largest = max(effects, key=lambda e: np.nan_to_num(e.importance))
    layers, options = Layers(center, level), dict[str, Any](smooth=smooth, regions=regions)
    options["view"] = read_view([largest], limits, xscale, sort)
    names = output_names(effects)
    features = [panel.read_feature(names[e.output], [e], layers, **options) for e in effects]
    kept = features[: small_pictures.MAX_FEATURE_PANELS if axes is None else None]
    panels = small_pictures.open_feature_panels(axes, kept, columns, sharey=sharey)
    explained: list[Artist] = []
    for ax, feature in zip(panels, kept, strict=True):
        explained += panel.draw_effect_panel(ax, feature, [feature.first.output], level)
        panel.write_effect_title(ax, feature, effects)
    explained += small_pictures.set_panel_ylim(panels, kept, sharey=sharey)
    note = ", ".join(small_pictures.some_of(len(kept), len(features), "outputs"))
    length = canvas.frame_letters(panels[0], new=axes is None)
    label = value_label(effects, center, length, each=True)
    small_pictures.write_panel_labels(panels, explained, label, note, new=axes is None)
    write_feature(panels, effects[0], new=axes is None)
    return panels


def write_feature(panels: AxesArray, effect: Result, *, new: bool) -> None:
    """Write the name of the feature once, above all panels."""
    name = ticks.axis_name(effect, style.LABEL_LENGTH)
    if new:
        panels[0].figure.suptitle(name, fontsize="medium", **LITERAL)
    else:
        panels[-1].set_xlabel(name, **LITERAL)
