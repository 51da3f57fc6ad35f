import numpy as np

import problems


def test_each_half_of_an_exclusive_or_has_the_same_mean_slope():
    """So no single rule explains anything."""
    problem = problems.either_or()
    rows = problem.draw(100_000, seed=1)
    slopes = problem.gradient(rows)[:, 0]
    for column in (1, 2):
        beyond = rows[:, column] > 0
        assert abs(slopes[beyond].mean() - slopes[~beyond].mean()) < 5 * 6 / np.sqrt(len(rows))


def test_light_rows_hardly_count_and_differ_by_another_feature():
    problem = problems.weighted_gate()
    rows = problem.draw(10_000, seed=2)
    weight, labels = problem.weigh(rows), problem.labels(rows)
    wrong = labels != (rows[:, 2] > 0)
    assert wrong.mean() > 0.2
    assert weight @ wrong < 0.001 * weight.sum()


def test_a_missing_value_is_a_region():
    problem = problems.missing_gate()
    rows = problem.draw(1_000, seed=3)
    missing = np.isnan(rows[:, 2])
    np.testing.assert_array_equal(problem.gradient(rows)[:, 0], np.where(missing, 2.0, -1.0))
    assert np.isfinite(problem.predict(rows)).all()
