import threading

import matplotlib as mpl
import pytest
from matplotlib.colors import to_hex

import rhale
from rhale.errors import BadSettingError
from rhale.plots import plot_effect, style


def test_nothing_stays_behind_a_style(effect, one):
    before = dict(mpl.rcParams)
    with rhale.style("dark", colors={"effect": "red"}, figsize=(3, 4), legend=False):
        inside = plot_effect(effect)[0]
    after = plot_effect(effect)[0]
    assert dict(mpl.rcParams) == before
    assert style.current() == style.DEFAULT_THEME
    assert (one(inside, "curve").get_color(), one(after, "curve").get_color()) == ("red", "#0072B2")
    assert inside.figure.get_size_inches().tolist() == [3, 4]
    assert inside.get_legend() is None
    assert after.get_legend() is not None


def test_a_style_ends_with_its_block_where_that_fails():
    with pytest.raises(KeyError), rhale.style("dark"):
        raise KeyError
    assert style.current() == style.DEFAULT_THEME


def test_styles_are_nested_and_add_up():
    with rhale.style("paper"):
        assert mpl.rcParams["font.size"] == 8
        with rhale.style("dark", colors="red"):
            assert mpl.rcParams["font.size"] == 8
            assert (style.EFFECT, style.current().size) == ("red", 0.8)
        assert style.EFFECT == "#0072B2"
    with rhale.style("paper", "slides"):
        assert mpl.rcParams["font.size"] == 14


def test_another_thread_has_the_inks_of_its_own():
    found = []
    with rhale.style(colors="red"):
        thread = threading.Thread(target=lambda: found.append(style.EFFECT))
        thread.start()
        thread.join()
    assert found == ["#0072B2"]


def test_settings_of_matplotlib_hold_inside():
    with rhale.style(rc={"font.family": ["serif"]}):
        assert mpl.rcParams["font.family"] == ["serif"]
    assert mpl.rcParams["font.family"] != ["serif"]


def test_paper_is_the_same_picture_smaller_and_finer(effect, one):
    usual = plot_effect(effect)[0]
    with rhale.style("paper"):
        small = plot_effect(effect)[0]
    sizes = [ax.figure.get_size_inches() for ax in (small, usual)]
    assert sizes[0] / sizes[1] == pytest.approx([0.8, 0.8])
    widths = [one(ax, "curve").get_linewidth() for ax in (small, usual)]
    assert widths[0] / widths[1] == pytest.approx(0.8)


def test_inks_of_a_dark_picture_stand_out(effect):
    def lightness(colour):
        red, green, blue = mpl.colors.to_rgb(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    with rhale.style("dark"):
        ground = lightness(plot_effect(effect)[0].figure.get_facecolor())
        held = style.current()
        inks = [style.line_style(i).colour for i in range(8)] + [
            look.colour for look in style.THIRDS
        ]
    inks += [held.effect, held.spread, held.interval, held.between, held.truth, held.notes]
    contrast = [(lightness(ink) + 0.05) / (ground + 0.05) for ink in inks]
    assert min(contrast) > 3


def test_every_ink_of_the_theme_is_drawn(effect, one):
    colors = {"effect": "#010101", "spread": "#020202", "interval": "#030303", "rows": "#040404"}
    ax = effect.plot(kind="curve", colors=colors)
    assert one(ax, "curve").get_color() == "#010101"
    found = [to_hex(one(ax, n).get_facecolor()[0]) for n in ("spread", "ci", "counts")]
    assert found == ["#020202", "#030303", "#040404"]


def test_what_is_no_colour_role_style_or_size_is_refused():
    with pytest.raises(BadSettingError, match=r"no colour for 'effect'"):
        style.read_colors("blakc")
    with pytest.raises(BadSettingError, match=r"role 'spraed'; did you mean 'spread'"):
        style.read_colors({"spraed": "red"})
    with pytest.raises(BadSettingError, match="at least one colour"):
        style.read_colors([])
    with pytest.raises(BadSettingError, match="three colours"):
        style.read_colors({"thirds": ["red"]})
    with (
        pytest.raises(BadSettingError, match=r"no style 'papre'; did you mean 'paper'"),
        rhale.style("papre"),
    ):
        pass
    for size in (3, (1, 2, 3), (0, 2), "ab", (float("nan"), 1)):
        with pytest.raises(BadSettingError, match="width and height in inches"):
            style.require_size(size)


def test_a_mapping_is_a_style_of_roles_arguments_and_settings_of_matplotlib():
    with rhale.style({"effect": "red", "legend": False, "font.size": 7}):
        assert (style.EFFECT, style.current().legend) == ("red", False)
        assert mpl.rcParams["font.size"] == 7
    assert style.EFFECT == "#0072B2"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"efect": "red"}, "no setting 'efect'.*did you mean 'effect'"),
        ({"effect": "no colour"}, "is no colour"),
        ({"legend": "no"}, "neither True nor False"),
        (["dark"], "no style"),
    ],
)
def test_what_is_no_style_is_refused_when_it_is_called(given, words):
    with pytest.raises(BadSettingError, match=words):
        rhale.style(given)


def test_a_style_is_a_decorator_too_and_says_how_it_is_used():
    @rhale.style("dark")
    def drawn():
        return style.EFFECT

    assert drawn() == "#4FB3F0"
    assert drawn() == "#4FB3F0"
    assert style.EFFECT == "#0072B2"
    assert "with rhale.style" in repr(rhale.style("dark"))


def test_style_is_a_public_name():
    assert "style" in rhale.__all__
