from rhale.plots import style


def test_eight_lines_differ_in_colour_and_in_dash():
    looks = [style.look(i) for i in range(8)]
    assert len({look.colour for look in looks}) == 8
    assert len({look.dash for look in looks}) == 8


def test_past_eight_colours_repeat_with_other_dashes():
    looks = [style.look(i) for i in range(16)]
    assert [look.colour for look in looks[8:]] == [look.colour for look in looks[:8]]
    assert len({(look.colour, look.dash) for look in looks}) == 16
