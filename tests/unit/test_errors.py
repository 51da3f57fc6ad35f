import inspect

import pytest

from rhale import errors

EXPECTED = {
    "UnknownFeatureError": KeyError,
    "UnknownOutputError": KeyError,
    "UnknownModelError": TypeError,
    "NotDifferentiableError": TypeError,
    "BadTableError": ValueError,
    "BadSettingError": ValueError,
    "UnknownArgumentError": TypeError,
    "BadFileError": ValueError,
    "MissingFolderError": FileNotFoundError,
    "UnsafeFileError": ValueError,
    "BadEffectsError": ValueError,
    "WrongShapeError": ValueError,
    "BadPredictionError": ValueError,
    "ModelFailedError": RuntimeError,
    "MissingExtraError": ImportError,
    "CheckpointError": OSError,
}


@pytest.mark.parametrize(("name", "builtin"), EXPECTED.items(), ids=EXPECTED)
def test_an_error_can_be_caught_as_ours_and_as_the_builtin_one_expects(name, builtin):
    kind = getattr(errors, name)
    assert issubclass(kind, errors.RhaleError)
    assert issubclass(kind, builtin)


def test_every_error_is_in_the_family_and_says_what_it_is():
    kinds = [
        k for _, k in inspect.getmembers(errors, inspect.isclass) if k.__module__ == "rhale.errors"
    ]
    for kind in kinds:
        assert kind.__doc__
        assert issubclass(kind, errors.RhaleError | UserWarning)
    assert set(EXPECTED) <= {kind.__name__ for kind in kinds}


def test_a_missing_name_is_shown_as_a_sentence_and_not_as_a_quoted_key():
    assert str(errors.UnknownFeatureError("there is no feature 'a'")) == "there is no feature 'a'"
    assert str(errors.UnknownOutputError()) == ""
