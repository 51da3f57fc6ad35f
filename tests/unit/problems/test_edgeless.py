import numpy as np
import pytest

import problems


@pytest.mark.parametrize("share", [0.15, 0.3, 0.6])
def test_the_edge_of_a_rippled_gate_explains_its_share(share):
    problem = problems.rippled_gate(share)
    rows = problem.draw(200_000, seed=1)
    slopes = problem.gradient(rows)[:, 0]
    beyond = rows[:, 2] > 0
    between = (slopes[beyond].mean() - slopes[~beyond].mean()) ** 2 / 4
    assert between / slopes.var() == pytest.approx(share, abs=0.01)


def test_one_rule_explains_three_quarters_of_a_product():
    """Slopes are even on (-1, 1): the variance within a half is a quarter of that of the whole."""
    problem = problems.gradual_product()
    rows = problem.draw(100_000, seed=2)
    slopes = problem.gradient(rows)[:, 0]
    within = [slopes[rows[:, 1] > 0].var(), slopes[rows[:, 1] <= 0].var()]
    assert 1 - np.mean(within) / slopes.var() == pytest.approx(0.75, abs=0.01)
