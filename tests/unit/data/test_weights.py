import numpy as np
import pandas as pd
import polars as pl
import pytest

from rhale.data import open_table
from rhale.data.open import check_pieced_weights, check_weights, find_weights
from rhale.errors import BadTableError


def test_weights_become_floats_of_their_own():
    own = np.array([1, 2, 3])
    found = check_weights(own, 3)
    assert found.dtype == np.float64
    found[0] = 9
    assert own[0] == 1
    assert check_weights(pd.Series([1, 2], index=[5, 6]), 2).tolist() == [1.0, 2.0]
    assert check_weights(pl.Series([1, 2]), 2).tolist() == [1.0, 2.0]


def test_huge_weights_in_memory_keep_their_ratios():
    assert check_weights([1e200, 3e200], 2)[1] == 3 * check_weights([1e200, 3e200], 2)[0] < 2.0


def test_huge_weights_in_pieces_are_refused_as_nobody_knows_the_others():
    with pytest.raises(BadTableError, match="neither huge nor tiny; row 7 has 1e"):
        check_pieced_weights(np.array([1.0, 1e200]), np.array([3, 7]))


def test_weights_are_a_column_of_numbers():
    table = open_table(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    assert find_weights("a", table) == 0
    with pytest.raises(BadTableError, match="weights='b' is a column without numbers"):
        find_weights("b", table)
