import pytest

from rhale.errors import BadSettingError, BadTableError, ModelStoppedError
from rhale.execution.worker import describe_loss, find_error_line

TRACE = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "model.py", line 3, in predict
shop.errors.PriceError: no price for 'tea'
"""


def test_the_error_itself_is_found_in_a_trace():
    assert find_error_line(TRACE) == "PriceError: no price for 'tea'"


def test_words_without_an_error_end_with_the_last_line():
    assert find_error_line("first\n\n  last \n") == "last"
    assert find_error_line("") == "no reason was given"


@pytest.mark.parametrize(
    ("trace", "is_dead", "kind", "said"),
    [
        (TRACE, False, BadTableError, "Spark could not compute it: PriceError"),
        (TRACE, True, ModelStoppedError, "the workers of Spark died"),
        ("No module named 'rhale.execution'", False, BadSettingError, "do not have rhale"),
        ("No module named 'rhale'", True, BadSettingError, "do not have rhale"),
    ],
)
def test_an_engine_that_gives_up_is_told_of(trace, is_dead, kind, said):
    error = describe_loss("Spark", trace, is_dead=is_dead)
    assert type(error) is kind
    assert said in str(error)
