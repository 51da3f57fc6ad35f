import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.stability.plot import (
    SAME_ROWS_VERDICT,
    interval_between,
    tell_p,
    tell_return,
    tell_verdict,
    write_refit_importance,
)


@given(st.floats(0.001, 1.0))
def test_a_written_p_value_is_on_the_side_of_the_level_where_it_is(p):
    written = float(tell_p(p).removeprefix("p = "))
    assert (written <= 0.05) == (p <= 0.05)
    assert written == pytest.approx(p, rel=0.06)


def test_tiny_and_unknown_p_values_are_said_in_words():
    assert tell_p(1e-12) == "p < 0.001"
    assert tell_p(np.nan) == "p not known"
    assert tell_return(np.nan) == "p-value not known"
    assert tell_return(0.05) == "significant (p = 0.05)"
    assert tell_return(0.0500001) == "not significant (p = 0.0500001)"


def test_importance_is_written_with_its_interval(make_refits):
    effect = make_refits([1.0, 1.2, 0.8, 1.0])
    low, high = effect.importance_ci(0.9)
    words = write_refit_importance(effect, 0.9)
    assert words == f"importance {effect.importance:.3g} [{low:.3g}, {high:.3g}]"
    long, short = tell_verdict(effect, 0.9)
    assert long == f"{words}, {short}"
    assert short.startswith("significant")


def test_an_unknown_interval_is_not_written(make_refits):
    effect = make_refits([1.0, 1.2, 0.8], same_rows=True)
    assert "[" not in write_refit_importance(effect, 0.95)
    assert tell_verdict(effect, 0.95)[1] == SAME_ROWS_VERDICT


@given(st.floats(0.5, 0.99), st.integers(28, 60), st.booleans())
def test_the_name_of_the_interval_is_short_where_room_is(level, length, cut):
    words = interval_between(level, length, cut=cut)
    assert words.endswith("cut") == cut
    assert ("interval" in words) == (len(words) <= length and "interval" in words)
    assert "between retrainings" in words
