from rhale.output import colours as inks


def test_pictures_and_pages_have_the_same_colours():
    from rhale.plots import style
    from rhale.report.render import PAGE_COLOURS

    drawn = (style.EFFECT, style.SPREAD, style.UNCERTAINTY, style.COUNT)
    pairs = (
        inks.BELOW_ZERO_COLOUR,
        inks.AT_ZERO_COLOUR,
        inks.ABOVE_ZERO_COLOUR,
        inks.STRENGTH_COLOUR,
    )
    wanted = (*drawn, *inks.REGION_COLOURS, *inks.THIRD_COLOURS, *pairs, inks.BETWEEN_COLOUR)
    assert tuple(PAGE_COLOURS.values()) == wanted
    assert drawn == (
        inks.EFFECT_COLOUR,
        inks.SPREAD_COLOUR,
        inks.UNCERTAINTY_COLOUR,
        inks.ROW_COUNT_COLOUR,
    )


def test_pictures_of_regions_have_the_same_colours_too():
    from rhale.plots import style

    assert tuple(look.colour for look in style.REGIONS) == inks.REGION_COLOURS
    assert tuple(look.colour for look in style.THIRDS) == inks.THIRD_COLOURS


def test_regions_have_neither_the_ink_of_the_spread_nor_that_of_intervals():
    assert inks.REGION_COLOURS[0] == inks.EFFECT_COLOUR
    used = {*inks.REGION_COLOURS, *inks.THIRD_COLOURS}
    assert len(used) == 7
    assert not used & {inks.SPREAD_COLOUR, inks.UNCERTAINTY_COLOUR, inks.ROW_COUNT_COLOUR}


def luminance(ink):
    parts = [int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_curves_are_seen_on_white():
    # WCAG 2.1, 1.4.11: graphics have a contrast of 3 at least
    assert (
        min(1.05 / (luminance(ink) + 0.05) for ink in (*inks.SERIES_COLOURS, *inks.REGION_COLOURS))
        > 3.4
    )


def test_no_curve_has_an_ink_that_means_something_else():
    assert inks.SERIES_COLOURS[0] == inks.EFFECT_COLOUR
    assert len(set(inks.SERIES_COLOURS)) == 8
    meant = {
        inks.SPREAD_COLOUR,
        inks.UNCERTAINTY_COLOUR,
        inks.BETWEEN_COLOUR,
        inks.ROW_COUNT_COLOUR,
        inks.STRENGTH_COLOUR,
    }
    assert not meant & {*inks.SERIES_COLOURS, *inks.REGION_COLOURS}


def test_curves_of_pictures_have_these_colours():
    from rhale.plots import style

    assert tuple(style.line_style(i).colour for i in range(8)) == inks.SERIES_COLOURS
