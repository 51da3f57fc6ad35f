import numpy as np
from tests.compared_by_hand import drifted, straight, with_everything


def test_the_size_is_the_largest_of_all_and_nan_comes_last():
    cx = with_everything()
    city = cx["city"]
    assert city.size == max(one.size for one in city.differences)
    ranked = cx.ranked()
    assert ranked[0].name == "city"
    assert np.isnan(ranked[-1].size)
    assert ranked[-1].name == "one"


def test_lifts_bring_all_curves_to_one_zero():
    """x - 1/2 and x - 1 over rows that moved by 1/2: the second is lifted by 1/2."""
    one = drifted()["x0"]
    assert np.allclose(one.lifts, (0.0, 0.5), atol=1e-6)
    assert straight()["x1"].lifts[0] == 0


def test_a_comparison_of_a_feature_tells_itself_in_a_line():
    told = repr(straight()["x1"])
    assert told.startswith("FeatureComparison('x1', against 'old': 'new': size=0.5")
