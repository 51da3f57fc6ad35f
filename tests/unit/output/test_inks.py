from rhale.output import colours


def test_pictures_and_pages_have_the_same_colours():
    from rhale.plots import style
    from rhale.report.page import PAGE_COLOURS

    drawn = (style.EFFECT, style.SPREAD, style.UNCERTAINTY, style.COUNT)
    pairs = (
        colours.BELOW_ZERO_COLOUR,
        colours.AT_ZERO_COLOUR,
        colours.ABOVE_ZERO_COLOUR,
        colours.STRENGTH_COLOUR,
    )
    wanted = (
        *drawn,
        *colours.REGION_COLOURS,
        *colours.THIRD_COLOURS,
        *pairs,
        colours.BETWEEN_COLOUR,
    )
    assert tuple(PAGE_COLOURS.values()) == wanted
    assert drawn == (
        colours.EFFECT_COLOUR,
        colours.SPREAD_COLOUR,
        colours.UNCERTAINTY_COLOUR,
        colours.ROW_COUNT_COLOUR,
    )


def test_pictures_of_regions_have_the_same_colours_too():
    from rhale.plots import style

    assert tuple(look.colour for look in style.REGIONS) == colours.REGION_COLOURS
    assert tuple(look.colour for look in style.THIRDS) == colours.THIRD_COLOURS


def test_regions_have_neither_the_ink_of_the_spread_nor_that_of_intervals():
    assert colours.REGION_COLOURS[0] == colours.EFFECT_COLOUR
    used = {*colours.REGION_COLOURS, *colours.THIRD_COLOURS}
    assert len(used) == 7
    assert not used & {colours.SPREAD_COLOUR, colours.UNCERTAINTY_COLOUR, colours.ROW_COUNT_COLOUR}


def luminance(ink):
    parts = [int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_curves_are_seen_on_white():
    # WCAG 2.1, 1.4.11: graphics have a contrast of 3 at least
    assert (
        min(
            1.05 / (luminance(ink) + 0.05)
            for ink in (*colours.SERIES_COLOURS, *colours.REGION_COLOURS)
        )
        > 3.4
    )


def test_no_curve_has_an_ink_that_means_something_else():
    assert colours.SERIES_COLOURS[0] == colours.EFFECT_COLOUR
    assert len(set(colours.SERIES_COLOURS)) == 8
    meant = {
        colours.SPREAD_COLOUR,
        colours.UNCERTAINTY_COLOUR,
        colours.BETWEEN_COLOUR,
        colours.ROW_COUNT_COLOUR,
        colours.STRENGTH_COLOUR,
    }
    assert not meant & {*colours.SERIES_COLOURS, *colours.REGION_COLOURS}


def test_curves_of_pictures_have_these_colours():
    from rhale.plots import style

    assert tuple(style.line_style(i).colour for i in range(8)) == colours.SERIES_COLOURS
