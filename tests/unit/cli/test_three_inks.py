"""Three bands around one curve are those of the results, on one scale."""

import numpy as np
from matplotlib.collections import PolyCollection
from sklearn.linear_model import LinearRegression

import rhale
from rhale.cli.pictures import draw_spread_and_intervals
from rhale.output import colours

X = np.random.default_rng(0).normal(size=(200, 2))
Y = X[:, 0] + np.random.default_rng(1).normal(size=200)


def test_each_panel_has_the_band_and_the_ink_of_its_question():
    learner = LinearRegression()
    fx = rhale.explain(learner.fit(X, Y), X)
    rx = rhale.refit(learner, X, Y, n_refits=4)
    panels = draw_spread_and_intervals(fx["x0"], rx["x0"]).axes
    inks_seen = [band(panel).get_facecolor()[0, :3] for panel in panels]
    wanted = [colours.SPREAD_COLOUR, colours.UNCERTAINTY_COLOUR, colours.BETWEEN_COLOUR]
    for seen, ink in zip(inks_seen, wanted, strict=True):
        np.testing.assert_allclose(255 * seen, [int(ink[i : i + 2], 16) for i in (1, 3, 5)])
    low, high = rx["x0"].trace().low, rx["x0"].trace().high
    heights = band(panels[2]).get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [low.min(), high.max()])
    assert len({panel.get_ylim() for panel in panels}) == 1


def band(panel):
    return next(part for part in panel.collections if isinstance(part, PolyCollection))
