from tests.unit.effects.refitted import refit_lines

import rhale
from rhale.interaction.pair_effect import PairIndex
from rhale.output.doors import show_pair, show_refit, show_result


def test_a_single_result_shows_a_small_page(every_kind):
    for effect in every_kind:
        assert effect._repr_html_() == show_result(effect)
        assert show_result(effect).startswith("<div")


def test_a_pair_and_a_feature_in_trainings_do_so_too():
    index = PairIndex(("a", "b"), "y", "h", 0.5, 1.0)
    assert index._repr_html_() == show_pair(index)
    (effect, *_) = refit_lines().effects
    assert isinstance(effect, rhale.RefitEffect)
    assert effect._repr_html_() == show_refit(effect)
