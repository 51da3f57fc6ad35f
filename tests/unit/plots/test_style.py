import pytest

from rhale.plots import style


def test_eight_lines_differ_in_colour_and_in_dash():
    looks = [style.line_style(i) for i in range(8)]
    assert len({look.colour for look in looks}) == 8
    assert len({look.dash for look in looks}) == 8


def test_past_eight_colours_repeat_with_other_dashes():
    looks = [style.line_style(i) for i in range(16)]
    assert [look.colour for look in looks[8:]] == [look.colour for look in looks[:8]]
    assert len({(look.colour, look.dash) for look in looks}) == 16


def test_what_a_style_changes_is_read_anew_each_time():
    usual = style.EFFECT, style.REGIONS, style.LINE_WIDTH
    with style.changed(effect="red", curves=("red", "blue"), lines=2.0):
        assert style.ALONE.colour == style.EFFECT == "red"
        assert [look.colour for look in style.REGIONS] == ["red", "blue", "red", "blue"]
        assert [look.dash for look in style.REGIONS] == [look.dash for look in usual[1]]
        assert [style.line_style(i).colour for i in range(3)] == ["red", "blue", "red"]
        assert 2 * usual[2] == style.LINE_WIDTH
    assert usual == (style.EFFECT, style.REGIONS, style.LINE_WIDTH)


def test_what_is_not_there_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'EFECT'"):
        style.EFECT  # noqa: B018
