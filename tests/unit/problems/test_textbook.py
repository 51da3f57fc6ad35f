import numpy as np

import problems


def test_a_threshold_changes_the_prediction_without_a_spread_of_slopes():
    problem = problems.threshold()
    low, high = problem.draw(100_000, seed=9), problem.draw(100_000, seed=9)
    low[:, 0], high[:, 0] = 0.4, 0.6
    change = problem.predict(high) - problem.predict(low)
    assert abs(change.std() - 1) <= 5 / np.sqrt(2 * len(change))
    assert np.all(problem.truths["x1"].std(change) == 0)
