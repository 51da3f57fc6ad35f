from types import SimpleNamespace

import numpy as np
import pytest

from rhale.errors import BadSettingError, UnknownOutputError
from rhale.interaction.plan import screen_pairs
from rhale.regions.partners import PartnerMatrix

NAN = float("nan")


def explained(sizes, names=("a", "b", "c"), outputs=("y",), proxies=()):
    sizes = np.array(sizes, dtype=float)
    share, own = np.full(sizes.shape, 0.8), np.full(sizes.shape, NAN)
    proxy_of = np.full(sizes.shape, -1)
    for place in proxies:
        own[place], proxy_of[place] = 0.0, 0
    matrix = PartnerMatrix(
        names=names,
        share=share,
        standard_error=share,
        p_value=share,
        own_share=own,
        proxy_of=proxy_of,
        size=sizes,
        unexplained=np.zeros(len(sizes)),
        rows=np.full(len(sizes), 9),
    )
    return SimpleNamespace(features=("a", "b", "c"), outputs=outputs, partner_matrix=matrix)


def test_the_larger_direction_counts():
    fx = explained([[NAN, 1.0, 0.2], [0.5, NAN, 0.0], [3.0, 0.1, NAN]])
    assert screen_pairs(fx) == [("a", "c", 3.0), ("a", "b", 1.0), ("b", "c", 0.1)]


def test_proxies_come_later():
    fx = explained([[NAN, 1.0, 2.0], [1.0, NAN, 0.0], [0.0, 0.1, NAN]], proxies=[(0, 2)])
    assert screen_pairs(fx) == [("a", "b", 1.0), ("b", "c", 0.1), ("a", "c", 0.0)]


def test_outputs_alone_or_the_largest_of_all():
    sizes = [[NAN, 1, 0], [NAN, 0, 2], [1, NAN, 0], [0, NAN, 0], [0, 0, NAN], [0, 0, NAN]]
    fx = explained(sizes, outputs=("y", "z"))
    assert screen_pairs(fx)[:2] == [("a", "c", 2.0), ("a", "b", 1.0)]
    assert screen_pairs(fx, "y")[0] == ("a", "b", 1.0)
    assert screen_pairs(fx, 1)[0] == ("a", "c", 2.0)
    with pytest.raises(UnknownOutputError):
        screen_pairs(fx, "q")


def test_partners_that_are_not_explained_make_no_pairs():
    fx = explained([[9.0, 1.0], [9.0, NAN], [9.0, 0.5]], names=("other", "b"))
    assert screen_pairs(fx) == [("a", "b", 1.0), ("b", "c", 0.5), ("a", "c", 0.0)]


def test_without_partners_there_is_no_screen():
    fx = SimpleNamespace(features=("a",), outputs=("y",), partner_matrix=None)
    with pytest.raises(BadSettingError, match="partners=True"):
        screen_pairs(fx)
