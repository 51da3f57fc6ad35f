from dataclasses import replace

import numpy as np
import pytest
from tests.unit.conftest import MISSING


def test_the_error_of_the_mean_shrinks_with_the_rows():
    assert MISSING.standard_error == pytest.approx(0.5 / np.sqrt(25.0))


def test_without_rows_the_error_is_not_known():
    assert np.isnan(replace(MISSING, rows=0.0).standard_error)
