import pytest

import rhale
from rhale.cli.values import parse_bins_option
from rhale.errors import BadSettingError


@pytest.mark.parametrize(
    ("text", "bins"),
    [
        (None, None),
        ("20", 20),
        ("adaptive", rhale.Adaptive()),
        ("Optimal", rhale.Optimal()),
        ("optimal:50", rhale.Optimal(max_bins=50)),
        ("fixed:7", rhale.Fixed(7)),
        ("quantile", rhale.Quantile(20)),
    ],
)
def test_text_becomes_bins(text, bins):
    assert parse_bins_option(text) == bins


def test_edges_are_numbers():
    assert parse_bins_option("edges:0,10,50").edges == (0, 10, 50)


@pytest.mark.parametrize("text", ["", "many", "fixed:few", "fixed:0", "edges:3,1", "-4"])
def test_other_text_is_an_error(text):
    with pytest.raises(BadSettingError):
        parse_bins_option(text)
