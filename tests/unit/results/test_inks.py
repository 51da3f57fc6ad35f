from rhale.results import inks


def test_pictures_and_pages_have_the_same_colours():
    from rhale.plots import style
    from rhale.report.render import COLOURS

    drawn = (style.EFFECT, style.SPREAD, style.UNCERTAINTY, style.COUNT)
    assert tuple(COLOURS.values()) == (*drawn, *inks.REGIONS, *inks.THIRDS)
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
