from tests.compared_by_hand import drifted, explained, straight, with_everything

import rhale
from rhale.comparison.report import tell_feature, tell_overall


def test_curves_that_differ_are_told_with_size_share_and_place():
    told = tell_feature(straight()["x1"])
    assert told.startswith("The effects of x1 differ by 0.5")
    assert "of the larger effect (p" in told
    assert "The largest difference is at " in told


def test_the_same_curves_on_rows_that_moved_are_told_apart():
    told = tell_feature(drifted()["x0"])
    assert told.startswith("The effect of x0 is the same in 2024 and 2023.")
    assert "Data drift: in 2024 the median of x0 is 1" in told
    assert " instead of 0.5" in told
    assert "rows" not in tell_feature(drifted()["x1"])


def test_levels_that_gained_and_lost_are_named():
    told = tell_feature(with_everything()["city"])
    assert "more at “Paris” and fewer at “Rome”" in told
    assert "The largest difference is at “Oslo”: next is above by " in told


def test_what_is_not_known_points_to_the_notes():
    assert "cannot be compared" in tell_feature(with_everything()["one"])
    tiny = rhale.compare(explained(), explained((1.0, 1.005)))["x1"]
    assert "less than 1\u00a0% of the effect" in tell_feature(tiny)


def test_all_features_together_are_told_in_a_sentence():
    assert tell_overall(straight().comparisons, 0.95) == (
        "Effects differ in 1 of 2 features; no feature drifted."
    )
    assert tell_overall(drifted().comparisons, 0.95) == (
        "The effects agree; 1 of 2 features drifted."
    )
    many = drifted().comparisons * 10
    assert "about 1 would still differ by chance" in tell_overall(many, 0.95)
