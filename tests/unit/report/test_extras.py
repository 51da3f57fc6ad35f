import math

import pytest

from rhale.errors import MissingExtraError
from rhale.report.extras import load


def test_a_library_that_is_there_is_imported():
    assert load("math") is math


def test_a_library_that_is_not_there_is_told_with_what_to_install():
    with pytest.raises(
        MissingExtraError, match=r"needs no_such_library.*pip install 'rhale\[report\]'"
    ):
        load("no_such_library")
