"""Names for people between the command line and `explain`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.cli.values import names_as_typed, read_equations
from rhale.errors import BadSettingError

WORDS = st.text(min_size=1).map(str.strip).filter(bool)


def test_nothing_typed_is_nothing_asked():
    assert names_as_typed({"name": [], "output_name": None, "unit": [], "target": None}) == {}


def test_the_target_is_what_is_predicted_unless_it_is_called_otherwise():
    assert names_as_typed({"target": "y"}) == {"output_names": "y"}
    assert names_as_typed({"target": "y", "output_name": "price"}) == {"output_names": "price"}


@given(st.dictionaries(WORDS.filter(lambda key: "=" not in key), WORDS))
def test_what_is_typed_is_what_is_read(words):
    typed = [f"{key} = {word}" for key, word in words.items()]
    assert read_equations("--name", typed) == words


@pytest.mark.parametrize("typed", ["bmi", "=Body", "bmi=", " = "])
def test_what_names_nothing_is_refused(typed):
    with pytest.raises(BadSettingError, match="names nothing"):
        read_equations("--unit", [typed])
