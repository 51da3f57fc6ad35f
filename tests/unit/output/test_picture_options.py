import inspect

import pytest

import rhale
from rhale import plots
from rhale.comparison.plot import plot_difference, plot_differences
from rhale.interaction.pair_profile import PairProfile
from rhale.output.picture_options import OPTION_GROUPS

FRAME = {"colors", "figsize", "legend", "title"}
METHODS = {
    rhale.Explanation.plot: (plots.plot_effect, plots.plot_profile, plots.plot_all, plots.plot_outputs, plots.plot_regions),
    rhale.Effect.plot: (plots.plot_effect, plots.plot_profile, plots.plot_regions),
    rhale.LevelEffect.plot: (plots.plot_effect, plots.plot_profile, plots.plot_regions),
    rhale.Refits.plot: (plots.plot_refits, plots.plot_replication),
    rhale.RefitEffect.plot: (plots.plot_refits,),
    rhale.PairEffect.plot: (plots.plot_pair_map, plots.plot_pair_lines),
    PairProfile.plot: (plots.plot_pair_map, plots.plot_pair_lines),
    rhale.Interactions.plot: (plots.plot_pair_map, plots.plot_pair_lines, plots.plot_interactions),
    rhale.Comparison.plot: (plot_difference, plot_differences),
}  # fmt: skip
IS_GIVEN = {"self", "feature", "pair", "output", "ax", "axes", "among", "kind", "regions"}


def options(call):
    return inspect.signature(call).parameters


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__qualname__)
def test_a_method_shows_the_options_of_its_pictures_with_their_defaults(method):
    shown = options(method)
    assert not any(one.kind is one.VAR_KEYWORD for one in shown.values())
    drawn = [dict(list(options(plot).items())[1:]) for plot in METHODS[method]]
    wanted = set().union(*drawn) | FRAME
    assert set(shown) - IS_GIVEN == wanted - IS_GIVEN
    for name in wanted - IS_GIVEN - FRAME:
        assert shown[name].default in [one[name].default for one in drawn if name in one]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__qualname__)
def test_every_option_has_a_type_and_words_in_the_help(method):
    text = inspect.getdoc(method)
    for name, one in options(method).items():
        assert name == "self" or f"\n{name} : " in text
        assert one.annotation is not one.empty or name == "self"
    assert "**options" not in text


@pytest.mark.parametrize("group", OPTION_GROUPS, ids=lambda group: group.__name__)
def test_the_help_of_a_group_names_its_own_options_and_no_others(group):
    inherited = {name for one in OPTION_GROUPS if one is not group for name in one.__annotations__
                 if one.__annotations__.items() < group.__annotations__.items()}  # fmt: skip
    own = set(group.__annotations__) - inherited
    lines = inspect.getdoc(group).splitlines()[1:]
    assert {line.partition(" ")[0] for line in lines if line and line[0] != " "} == own
