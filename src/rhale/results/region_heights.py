"""Where the curve of a region stands beside the curve of all rows."""

from __future__ import annotations

from rhale.results.differences import offset
from rhale.results.result import Result, is_constant


def align(region_effect: Result, common: Result) -> float:
    """How far to move a region's curve, so that it is zero where the common curve is.

    Parameters
    ----------
    region_effect : Effect or LevelEffect
        The effect in the region, zero on average over the region's own rows.
    common : Effect or LevelEffect
        The effect of the same feature in all rows.

    Returns
    -------
    float
        What to add to the region's curve: its mean difference from the common one is then zero,
        over the region's rows.

    Notes
    -----
    A curve is known up to a constant. Each of them zero over its own rows, two regions in which
    the effect is the same would show two parallel curves where their rows lie apart.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 4, 801)
    >>> some = x > 2
    >>> common, region = rhale.effect(x, 0 * x + 1), rhale.effect(x[some], 0 * x[some] + 1)
    >>> round(align(region, common), 2)  # curves x - 2 and x - 3
    1.0
    """
    if is_constant(region_effect) and not region_effect.labels:  # one point, at zero
        return 0.0 if is_constant(common) else float(common.height(region_effect.axis[:1])[0])
    return 0.0 - offset(region_effect, common)
