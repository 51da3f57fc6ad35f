from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import rhale
from rhale.regions.plot import draw_rule_tree, grow_twigs, name_end, tree_size
from rhale.regions.result import Region, RegionTree, Split

EFFECT = rhale.effect(np.linspace(0, 1, 50), np.ones(50))


def make_tree(splits, shares):
    regions = tuple(Region(f"region {k}", 10, share, EFFECT) for k, share in enumerate(shares))
    return RegionTree("age", "y", "found", "", regions, tuple(splits))


@pytest.fixture
def tree():
    """Smokers are told apart among men only, whose region comes last."""
    return make_tree(
        [
            Split(0, "sex", 1, None, ("f",), others=("m",), first=-1, second=1),
            Split(1, "bmi", 2, 25.0, first=-2, second=-3),
        ],
        [0.5, 0.2, 0.3],
    )


def test_conditions_stand_from_top_to_bottom_each_before_what_hangs_on_it(tree):
    twigs = grow_twigs(tree)
    assert [t.words for t in twigs] == ["all rows", "sex = f", "sex = m", "bmi ≤ 25", "bmi > 25"]
    assert [t.depth for t in twigs] == [0, 1, 1, 2, 2]
    assert [t.parent for t in twigs] == [-1, 0, 0, 2, 2]
    assert [t.region for t in twigs] == [None, 0, None, 1, 2]


def test_a_branch_may_grow_on_the_first_side():
    turned = make_tree(
        [
            Split(0, "a", 0, 1.0, first=1, second=-1),
            Split(1, "b", 1, 2.0, first=-2, second=2),
            Split(2, "c", 2, 3.0, first=-3, second=-4),
        ],
        [0.4, 0.3, 0.2, 0.1],
    )
    twigs = grow_twigs(turned)
    assert [t.words for t in twigs[1:]] == ["a ≤ 1", "b ≤ 2", "b > 2", "c ≤ 3", "c > 3", "a > 1"]
    assert [t.regions for t in twigs[1:]] == [(1, 2, 3), (1,), (2, 3), (2,), (3,), (0,)]


@pytest.mark.parametrize(
    ("split", "first", "second"),
    [
        (Split(0, "x", 0, 2.5), "x ≤ 2.5", "x > 2.5"),
        (Split(0, "x", 0, 2.5, missing="first"), "x ≤ 2.5 or missing", "x > 2.5"),
        (Split(0, "d", 0, 18262.0, kind="date"), "d ≤ 2020-01-01", "d > 2020-01-01"),
        (Split(0, "c", 0, None, ("a", "b"), "second", others=("z",)), "c = a or b", "c = z or missing"),
    ],
)  # fmt: skip
def test_both_sides_of_a_split_are_written(split, first, second):
    tree = make_tree([split], [0.5, 0.5])
    assert [name_end(tree, ((split, side),), 40) for side in (True, False)] == [first, second]


def test_splits_of_one_feature_are_told_in_one():
    tree = make_tree(
        [
            Split(0, "city", 0, None, ("a", "b", "c"), others=("d", "e"), first=1, second=-1),
            Split(1, "city", 0, None, ("a",), others=("b", "c", "d", "e"), first=-2, second=-3),
        ],
        [0.4, 0.3, 0.3],
    )
    words = [twig.words for twig in grow_twigs(tree)[1:]]
    assert words == ["city = a, b or c", "city = a", "city = b or c", "city = d or e"]


def test_regions_have_the_colour_of_their_curve_and_their_share_of_rows(tree):
    ax = Figure().subplots()
    texts = draw_rule_tree(ax, tree, {0: "#0072B2", 2: "#E69F00"})
    words = ["all rows", "sex = f  50 %", "sex = m  50 %", "bmi ≤ 25  20 %", "bmi > 25  30 %"]
    assert [text.get_text() for text in texts] == words
    edges = [to_hex(text.get_bbox_patch().get_edgecolor()) for text in texts]
    assert (edges[1], edges[4]) == ("#0072b2", "#e69f00")
    assert edges[0] == edges[2] == edges[3]
    assert not ax.axison


def test_lines_stand_below_one_another(tree):
    figure = Figure(figsize=(4, 3))
    texts = draw_rule_tree(figure.subplots(), tree, {})
    figure.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    assert all(above.y0 > below.y1 for above, below in pairwise(boxes))


@pytest.mark.parametrize("width", [2.0, 3.0, 6.0])
def test_long_conditions_stay_within_given_axes(width):
    tree = make_tree([Split(0, "a_long_name_" * 5, 0, 2.5)], [0.5, 0.5])
    figure = Figure(figsize=(width, 2))
    ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    texts = draw_rule_tree(ax, tree, {0: "C0", 1: "C1"})
    figure.draw_without_rendering()
    right = ax.get_window_extent().x1
    assert all(text.get_window_extent().x1 <= right for text in texts)
    assert texts[1].get_text().endswith("≤ 2.5  50 %")


def test_a_tree_is_as_high_as_its_conditions(tree):
    (width, height), (_, lower) = tree_size(tree), tree_size(make_tree(tree.splits[1:], [0.5] * 3))
    assert height > lower
    assert 1 < width < 3
