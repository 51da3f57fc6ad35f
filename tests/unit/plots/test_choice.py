import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.plots import plot_effect, plot_profile
from rhale.plots.choice import choose_plot

ROWS = np.linspace(0.0, 1.0, 60).reshape(30, 2)


def test_bins_and_levels_are_drawn_as_effects_and_points_as_profiles(make_levels):
    fx = rhale.explain(lambda rows: rows[:, 0], ROWS, method="pdp")
    assert choose_plot(rhale.effect(ROWS[:, 0], ROWS[:, 1])) is plot_effect
    assert choose_plot(make_levels(("a", "b"), 1.0)) is plot_effect
    assert choose_plot(fx["x0"]) is plot_profile


@pytest.mark.parametrize("feature", ["x0", ["x0"], None])
def test_an_unknown_option_is_refused_with_those_that_are_known(feature):
    fx = rhale.explain(lambda rows: rows[:, 0], ROWS)
    with pytest.raises(BadSettingError, match=r"no option 'levle'; did you mean 'level'.*center"):
        fx.plot(feature, levle=0.9)
