from rhale.results import inks


def test_pictures_and_pages_have_the_same_colours():
    from rhale.plots import style
    from rhale.report.render import COLOURS

    drawn = (style.EFFECT, style.SPREAD, style.UNCERTAINTY, style.COUNT)
    assert tuple(COLOURS.values()) == drawn
    assert drawn == (inks.EFFECT, inks.SPREAD, inks.UNCERTAINTY, inks.COUNT)
