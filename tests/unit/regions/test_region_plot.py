from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import rhale
from rhale.effects.table import Missing
from rhale.plots import plot_regions, style
from rhale.regions.result import Split

X = np.linspace(0, 1, 400)
LONG = "the_income_of_the_household_before_taxes_in_thousands_of_usd"


def title(ax):
    return ax.get_legend().get_title().get_text()


def tree_axes(ax):
    return [other for other in ax.figure.axes if other.get_gid() == "rhale:tree"]


def test_curves_of_regions_stand_over_the_common_one(by_sex, find, one):
    ax = plot_regions(by_sex)
    common, lines = one(ax, "common"), find(ax, "curve")
    np.testing.assert_allclose(common.get_ydata(), by_sex.curve(common.get_xdata()))
    for line, slope in zip(lines, (1, 3), strict=True):
        np.testing.assert_allclose(line.get_ydata(), slope * (line.get_xdata() - 0.5), atol=1e-9)
    assert common.get_linewidth() < lines[0].get_linewidth()
    assert [line.get_color() for line in lines] == [look.colour for look in style.REGIONS[:2]]


def test_the_legend_tells_rules_rows_and_the_share_of_the_spread(by_sex, legend):
    ax = plot_regions(by_sex)
    assert title(ax) == "sex explains 92 ± 1 % of the spread"
    assert [words for words in legend(ax) if words] == [
        "sex = f, 48 % of rows",
        "sex = m, 52 % of rows",
        "all rows",
        "95 % interval of the mean",
        "where rows are",
    ]


def test_the_tree_of_rules_stands_beside_in_the_same_colours(by_sex, find):
    (beside,) = tree_axes(plot_regions(by_sex))
    texts = find(beside, "rule")
    assert [text.get_text() for text in texts] == ["all rows", "sex = f  48 %", "sex = m  52 %"]
    edges = [to_hex(text.get_bbox_patch().get_edgecolor()) for text in texts[1:]]
    assert edges == [look.colour.lower() for look in style.REGIONS[:2]]


def test_bands_have_the_colours_of_their_curves_and_can_be_left_out(by_sex, find, legend):
    ax = plot_regions(by_sex)
    inks = [to_hex(band.get_facecolor()[0][:3]) for band in find(ax, "ci")]
    assert inks == [look.colour.lower() for look in style.REGIONS[:2]]
    bare = plot_regions(by_sex, uncertainty=False)
    assert not find(bare, "ci")
    assert "95 % interval of the mean" not in legend(bare)


def test_groups_that_were_given_have_no_tree(by_sex, legend):
    tree = replace(by_sex.regions, state="given", splits=(), share=0.0)
    ax = plot_regions(replace(by_sex, regions=tree))
    assert not tree_axes(ax)
    assert title(ax) == ""
    assert legend(ax)[0] == "sex = f, 48 % of rows"


def test_an_effect_that_changes_gradually_is_drawn_in_thirds(by_sex, find, legend):
    thirds = tuple(replace(by_sex.regions[0], rule=f"income {k}") for k in range(3))
    tree = replace(by_sex.regions, thirds=thirds, gradual="income")
    ax = plot_regions(replace(by_sex, regions=tree))
    assert [line.get_color() for line in find(ax, "curve")] == [t.colour for t in style.THIRDS]
    assert title(ax) == "changes gradually with income (92 ± 1 %)"
    assert legend(ax)[0] == "lowest third: income 0"
    assert not tree_axes(ax)


@pytest.mark.parametrize(("state", "start"), [("none", "no regions"), ("doubtful", "doubtful")])
def test_without_regions_the_common_curve_is_drawn_and_says_why(by_sex, one, find, state, start):
    tree = replace(
        by_sex.regions, state=state, why="rows hardly differ", splits=(),
        regions=(replace(by_sex.regions[0], rule="all rows", effect=replace(by_sex, regions=None)),),
    )  # fmt: skip
    ax = plot_regions(replace(by_sex, regions=tree))
    assert one(ax, "curve").get_color() == style.EFFECT
    assert title(ax) == f"{start}: rows hardly differ"
    assert not find(ax, "common")
    assert not tree_axes(ax)


def test_of_six_groups_four_are_drawn_and_the_others_are_counted(
    by_sex, with_regions, find, legend
):
    effect = with_regions(by_sex, dict.fromkeys("abcdef", by_sex.regions[0].effect), state="given")
    ax = plot_regions(effect)
    assert len(find(ax, "curve")) == 4
    assert legend(ax)[4] == "and 2 more groups, 33 % of rows"


def test_levels_of_regions_stand_side_by_side(make_levels, with_regions, find, one):
    common = make_levels(("a", "b", "c"), [1.0, 1.0], noise=0.1)
    regions = {"one": make_levels(("a", "b", "c"), 2.0), "two": make_levels(("c", "a"), 0.0)}
    ax = plot_regions(with_regions(common, regions))
    first, second = (np.asarray(dots.get_offsets()) for dots in find(ax, "levels"))
    np.testing.assert_allclose(first[:, 1], [-2, 0, 2], atol=1e-9)
    np.testing.assert_allclose(np.round(first[:, 0]), [0, 1, 2])
    np.testing.assert_allclose(np.round(second[:, 0]), [2, 0])  # no dot at b
    assert (first[:, 0] < [0, 1, 2]).all()
    assert (second[:, 0] > [2, 0]).all()
    strokes = np.array(one(ax, "common").get_segments())
    np.testing.assert_allclose(strokes[:, 0, 1], common.curve())


def test_long_names_of_levels_stand_below_one_another(make_levels, with_regions, find):
    names = [f"a level with quite a long name, number {i}" for i in range(6)]
    effect = make_levels(names, 1.0)
    ax = plot_regions(with_regions(effect, {"one": effect, "two": effect}))
    assert ax.yaxis_inverted()
    np.testing.assert_allclose(np.round(find(ax, "levels")[0].get_offsets()[:, 1]), np.arange(6))


def test_missing_values_of_regions_stand_beside(by_sex, find):
    missing = Missing(40, 0.1, 1.0, 0.3, 360.0)
    regions = tuple(
        replace(r, effect=replace(r.effect, missing=missing)) for r in by_sex.regions.regions
    )
    effect = replace(by_sex, regions=replace(by_sex.regions, regions=regions))
    ax = plot_regions(effect)
    dots = find(ax, "missing")
    np.testing.assert_allclose([dot.get_offsets()[0, 1] for dot in dots], [1.0, 1.0], atol=1e-9)


def test_one_given_axes_has_the_curves_and_no_tree(by_sex, legend):
    ax = Figure().subplots()
    assert plot_regions(by_sex, ax=ax) is ax
    assert ax.figure.axes == [ax]
    assert legend(ax) == ["sex = f, 48 %", "sex = m, 52 %", "all rows"]


def test_a_given_pair_has_curves_and_tree(by_sex):
    pair = Figure(figsize=(8, 4)).subplots(1, 2)
    assert plot_regions(by_sex, ax=pair) is pair[0]
    assert tree_axes(pair[0]) == [pair[1]]


def test_a_pair_without_a_tree_leaves_its_place_empty(by_sex):
    pair = Figure(figsize=(8, 4)).subplots(1, 2)
    plot_regions(replace(by_sex, regions=replace(by_sex.regions, splits=())), ax=pair)
    assert not pair[1].axison


def test_the_legend_in_given_axes_hides_no_curve(by_sex, find):
    ax = Figure(figsize=(4, 3)).subplots()
    plot_regions(by_sex, ax=ax)
    ax.figure.draw_without_rendering()
    lowest = ax.get_legend().get_window_extent().y0
    highest = max(ax.transData.transform((0, max(li.get_ydata())))[1] for li in find(ax, "curve"))
    assert highest < lowest


def test_long_names_stay_within_the_figure(by_sex, with_regions, find, render):
    regions = {
        f"{LONG} ≤ 2.5 and sex = f": by_sex,
        f"{LONG} > 2.5 or missing": by_sex,
    }
    split = Split(0, LONG, 1, 2.5, missing="second")
    effect = with_regions(
        replace(by_sex, name=LONG, output=LONG), regions, splits=(split,), share=0.9
    )
    ax = plot_regions(effect)
    assert render(ax)
    texts = [*find(tree_axes(ax)[0], "rule"), *ax.get_legend().get_texts(), ax.get_legend()]
    boxes = [text.get_window_extent() for text in texts]
    whole = ax.figure.bbox
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)
    panel, tree = ax.get_window_extent(), find(tree_axes(ax)[0], "rule")[0]
    assert panel.x1 < tree.get_window_extent().x0
    assert panel.width > 0.5 * whole.width


def test_hostile_rules_are_shown_letter_by_letter(by_sex, with_regions, legend, render):
    effect = with_regions(by_sex, {"$\\frac{a}$ = b": by_sex, "_x": by_sex}, state="given")
    ax = plot_regions(effect)
    assert legend(ax)[:2] == ["$\\frac{a}$ = b, 50 % of rows", "_x, 50 % of rows"]
    assert render(ax)


def test_dates_are_written_as_dates(by_sex, render):
    dated = replace(rhale.effect(19000 + 100 * X, 0 * X + 1, name="when"), kind="date")
    regions = tuple(replace(region, effect=dated) for region in by_sex.regions)
    ax = plot_regions(replace(dated, regions=replace(by_sex.regions, regions=regions)))
    assert render(ax)
    assert "2022" in ax.xaxis.get_major_formatter().get_offset()


@pytest.mark.parametrize("smooth", [False, True])
def test_stepped_curves_are_drawn_smooth_or_as_they_are(stepped, with_regions, find, smooth):
    ax = plot_regions(with_regions(stepped, {"a": stepped, "b": stepped}), smooth=smooth)
    for line in find(ax, "curve"):
        expected = stepped.curve(line.get_xdata(), smooth=smooth)
        np.testing.assert_allclose(line.get_ydata(), expected, atol=1e-9)


def test_a_constant_feature_has_no_curve(make_effect, by_sex, one, render):
    constant = make_effect(np.full(5, 3.0), np.ones(5), [3, 3])
    tree = replace(by_sex.regions, state="none", why="one value", splits=(), regions=())
    ax = plot_regions(replace(constant, regions=tree))
    assert "one value 3" in one(ax, "constant").get_text()
    assert render(ax)


def test_numbers_that_are_levels_have_a_common_line(make_levels, with_regions, one, find):
    effect = make_levels(("1", "2", "5"), [2.0, 3.0], edges=[1.0, 2.0, 5.0])
    ax = plot_regions(with_regions(effect, {"one": effect, "two": effect}))
    np.testing.assert_allclose(one(ax, "common").get_xdata(), [1, 2, 5])
    np.testing.assert_allclose(one(ax, "common").get_ydata(), effect.curve())
    assert len(find(ax, "levels")) == 2


def test_missing_values_of_all_rows_stand_beside_in_grey(by_sex, one):
    missing = Missing(40, 0.1, 1.0, 0.3, 360.0)
    dot = one(plot_regions(replace(by_sex, missing=missing)), "missing")
    assert to_hex(dot.get_edgecolor()[0]) == style.COMMON.colour
    assert dot.get_offsets()[0, 1] == 1.0


def test_a_region_with_one_value_is_drawn_as_a_dot(by_sex, make_effect, with_regions, find, render):
    constant = make_effect(np.full(5, 0.75), np.ones(5), [0.75, 0.75])
    ax = plot_regions(with_regions(by_sex, {"a": constant, "b": by_sex.regions[0].effect}))
    dot, line = find(ax, "curve")
    assert dot.get_marker() == "o"
    assert dot.get_xydata().tolist() == [[0.75, pytest.approx(0.5)]]
    assert line.get_marker() == "None"
    assert render(ax)


@pytest.mark.parametrize("size", [7, 10, 16])
def test_any_size_of_letters_leaves_room_for_the_curves(by_sex, size, render, find):
    with rc_context({"font.size": size}):
        ax = plot_regions(by_sex)
        assert render(ax)
        (beside,) = tree_axes(ax)
        texts = find(beside, "rule")
        boxes = [text.get_bbox_patch().get_window_extent() for text in texts]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))
        whole, panel = ax.figure.bbox, ax.get_window_extent()
        assert all(box.x1 <= whole.x1 and box.y0 >= whole.y0 for box in boxes)
        assert panel.width > 0.6 * whole.width
        assert panel.height > 0.5 * whole.height


def test_many_steps_are_smoothed_beside_those_of_other_regions_and_only_there(
    stepped, with_regions, one
):
    def drawn(n_steps, **options):
        places = np.linspace(0.1, 3.9, n_steps)
        shape = {"places": places, "jumps": np.tile([1.0, -1.0], n_steps)[:n_steps]}
        shape |= {
            "near_shares": np.full(n_steps, 0.1),
            "row_shares": np.full(n_steps + 1, 1 / (n_steps + 1)),
        }
        stairs = replace(stepped.stairs, **shape, influence=np.zeros((2, n_steps)))
        effect = replace(stepped, stairs=stairs, row_places=stepped.row_places)
        tree = with_regions(effect, {"a": effect, "b": effect})
        return one(plot_regions(tree, uncertainty=False, **options), "common").get_ydata()

    assert np.ptp(drawn(60)) < 0.6 * np.ptp(drawn(60, smooth=False))
    np.testing.assert_array_equal(drawn(5), drawn(5, smooth=False))
