import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.interaction.plot_all import plot_interactions


def test_the_matrix_stands_beside_the_ranking(make_pairs, find, one, render):
    left, right = plot_interactions(make_pairs({"ab": 1.0, "bc": 3.0}))
    assert left.figure is right.figure
    assert one(left, "strengths")
    assert len(find(right, "bars")) == 2
    assert render(left)


def test_one_axes_take_the_matrix_and_two_take_both(make_pairs, find, one):
    pairs = make_pairs({"ab": 1.0, "bc": 3.0})
    alone = Figure().add_subplot()
    assert plot_interactions(pairs, ax=alone) is alone
    assert one(alone, "strengths")
    panels = Figure().subplots(1, 2)
    assert plot_interactions(pairs, ax=panels, top=1) == tuple(panels)
    assert len(find(panels[1], "bars")) == 1
    with pytest.raises(BadSettingError, match="pair of them"):
        plot_interactions(pairs, ax=[alone])


def test_many_features_are_drawn_without_a_warning(make_pairs, render):
    assert render(plot_interactions(make_pairs(np.ones((50, 50))))[0])
