from tests.unit.results.refitted import refit_lines

import rhale
from rhale.results.door_to_notebooks import show_pair, show_refit, show_result
from rhale.results.pair_effect import PairIndex


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
