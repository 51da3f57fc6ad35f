import pickle

import pytest

from rhale import errors
from rhale.errors import BadTableError, RhaleError
from rhale.system.processes import ErrorRecord

KINDS = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, RhaleError)]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_ours_comes_back_as_what_it_was(kind):
    try:
        raise kind("one sentence")  # noqa: EM101
    except RhaleError as error:
        told = pickle.loads(pickle.dumps(ErrorRecord.of(error)))  # noqa: S301
    assert type(told.error()) is kind
    assert str(told.error()) == "one sentence"
    assert "test_failure.py" in told.trace


@pytest.mark.parametrize("kind", ["NewError", "annotations", "RhaleError", "__name__"])
def test_a_kind_that_is_not_known_here_is_still_one_of_ours(kind):
    assert type(ErrorRecord(kind, "words").error()) is RhaleError


def test_what_a_child_tells_is_text_whatever_it_is():
    assert (
        type(ErrorRecord.read({"kind": "BadTableError", "message": "m"}).error()) is BadTableError
    )
    assert str(ErrorRecord.read({"kind": 3}).error()) == "None"
