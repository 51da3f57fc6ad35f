from rhale.results import inks


def test_pictures_and_pages_have_the_same_colours():
    from rhale.plots import style
    from rhale.report.render import COLOURS

    drawn = (style.EFFECT, style.SPREAD, style.UNCERTAINTY, style.COUNT)
    pairs = (inks.LOW, inks.ZERO, inks.HIGH, inks.STRENGTH)
    wanted = (*drawn, *inks.REGIONS, *inks.THIRDS, *pairs, inks.BETWEEN)
    assert tuple(COLOURS.values()) == wanted
    assert drawn == (inks.EFFECT, inks.SPREAD, inks.UNCERTAINTY, inks.COUNT)


def test_pictures_of_regions_have_the_same_colours_too():
    from rhale.plots import style

    assert tuple(look.colour for look in style.REGIONS) == inks.REGIONS
    assert tuple(look.colour for look in style.THIRDS) == inks.THIRDS


def test_regions_have_neither_the_ink_of_the_spread_nor_that_of_intervals():
    assert inks.REGIONS[0] == inks.EFFECT
    used = {*inks.REGIONS, *inks.THIRDS}
    assert len(used) == 7
    assert not used & {inks.SPREAD, inks.UNCERTAINTY, inks.COUNT}


def luminance(ink):
    parts = [int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_curves_are_seen_on_white():
    # WCAG 2.1, 1.4.11: graphics have a contrast of 3 at least
    assert min(1.05 / (luminance(ink) + 0.05) for ink in (*inks.LINES, *inks.REGIONS)) > 3.4


def test_no_curve_has_an_ink_that_means_something_else():
    assert inks.LINES[0] == inks.EFFECT
    assert len(set(inks.LINES)) == 8
    meant = {inks.SPREAD, inks.UNCERTAINTY, inks.BETWEEN, inks.COUNT, inks.STRENGTH}
    assert not meant & {*inks.LINES, *inks.REGIONS}


def test_curves_of_pictures_have_these_colours():
    from rhale.plots import style

    assert tuple(style.look(i).colour for i in range(8)) == inks.LINES
