import numpy as np
import pytest

import rhale
from rhale.effects.difference import CurveDifference
from rhale.errors import BadSettingError

X = np.linspace(0, 1, 2000)


def differ(first, second, **settings):
    return CurveDifference("a", "b", first, second, first, **settings)


def test_lines_of_two_slopes_differ_by_a_line_that_is_zero_over_the_rows_of_the_first():
    """x and 3 x on the same rows: 2 (x - 1/2), of deviation 2 / sqrt 12, and no error."""
    found = differ(rhale.effect(X, 0 * X + 1), rhale.effect(X, 0 * X + 3))
    assert found.difference([0.0, 0.5, 1.0]) == pytest.approx([-1, 0, 1], abs=1e-3)
    assert found.size == pytest.approx(2 / 12**0.5, rel=0.03)  # without the outermost rows
    assert found.p_value == 0
    assert found.differs
    assert abs(found.peak.difference) == pytest.approx(1, abs=0.05)
    assert found.peak.difference * (found.peak.x - 0.5) > 0


def test_the_same_line_over_other_rows_does_not_differ_and_its_rows_moved():
    found = differ(rhale.effect(X, 0 * X + 2), rhale.effect(X + 0.5, 0 * X + 2))
    assert found.size == 0
    assert found.difference([0.6, 1.0]).tolist() == [0, 0]
    assert np.isnan(found.difference(0.2))  # the second has no rows there
    assert (found.p_value, found.differs) == (1, False)
    assert found.drift.moved
    assert found.drift.shift == pytest.approx(0.5, abs=0.01)
    assert found.places.part == pytest.approx(0.5, abs=0.01)


def test_errors_of_both_curves_add_up():
    """Slopes 1 and 2 with noise in one bin: the change over [0, 1] has both variances, s² / n."""
    rng = np.random.default_rng(0)
    noisy = [slope + rng.normal(size=2000) for slope in (1.0, 2.0)]
    first, second = (rhale.effect(X, d, bins=1) for d in noisy)
    found = differ(first, second, zero_at=0.0)
    low, high = found.ci(1.0)
    error = np.sqrt(sum(d.var(ddof=1) / 2000 for d in noisy))
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.01)
    assert (low + high) / 2 == pytest.approx(noisy[1].mean() - noisy[0].mean(), abs=1e-9)
    wider = found.ci(1.0, level=0.99)
    assert wider[1] - wider[0] == pytest.approx(2 * 2.5758 * error, rel=0.01)


def test_at_the_zero_nothing_is_unsure():
    rng = np.random.default_rng(1)
    first, second = (rhale.effect(X, rng.normal(size=2000)) for _ in range(2))
    found = differ(first, second, zero_at=0.3)
    assert found.difference(0.3) == 0
    assert np.ptp(found.ci(0.3)) == pytest.approx(0, abs=1e-9)


def test_two_draws_of_the_same_noise_are_seldom_said_to_differ():
    """Sixty pairs of the same slope with noise: 5 % are expected, more than nine have chance .2 %."""
    rng = np.random.default_rng(2)
    told = [
        differ(
            *(rhale.effect(rng.normal(size=400), rng.normal(1, 2, 400)) for _ in range(2))
        ).differs
        for _ in range(60)
    ]
    assert sum(told) <= 9


def test_half_a_slope_more_is_seen_through_noise():
    rng = np.random.default_rng(3)
    first, second = (
        rhale.effect(rng.normal(size=2000), slope + rng.normal(size=2000)) for slope in (1.0, 1.5)
    )
    found = differ(first, second)
    assert found.differs
    assert found.size == pytest.approx(0.5, abs=3 * found.size_error)
    assert found.chance_size < found.size


def test_levels_are_compared_by_name(make_levels):
    """Levels a, b, c at -1, 0, 1 and c, b, a at -2, 0, 2: a is 3 higher, c 3 lower."""
    found = differ(make_levels(["a", "b", "c"], 1.0), make_levels(["c", "b", "a"], 2.0))
    assert found.difference(["a", "b", "c"]) == pytest.approx([3, 0, -3])
    assert found.trace().x.tolist() == [0, 1, 2]
    with pytest.raises(BadSettingError, match="no level 'd'"):
        found.difference("d")


def test_a_level_that_only_one_has_is_not_known(make_levels):
    found = differ(make_levels(["a", "b", "c"], 1.0), make_levels(["b", "c", "d"], 1.0))
    assert np.isnan(found.difference("a"))
    assert found.size == 0


def test_what_cannot_be_compared_is_nan_and_does_not_differ(make_levels):
    apart = differ(rhale.effect(X, X), rhale.effect(X + 5, X))
    mixed = differ(rhale.effect(X, X), make_levels(["a", "b"], 1.0))
    for found in (apart, mixed):
        assert not found.is_known
        assert np.isnan([found.size, found.p_value, found.share, found.size_error]).all()
        assert not found.differs
        assert found.trace().x.size == 0
    assert mixed.drift is None


def test_a_difference_below_a_hundredth_of_the_effect_is_none():
    found = differ(rhale.effect(X, 0 * X + 1), rhale.effect(X, 0 * X + 1.005))
    assert found.p_value == 0
    assert not found.differs
