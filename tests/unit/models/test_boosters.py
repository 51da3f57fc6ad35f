import numpy as np
import pytest

from rhale.errors import BadTableError
from rhale.models import boosters
from rhale.models.boosters import shorten_names


def test_many_names_are_cut_short():
    assert shorten_names(["a", "b"]) == "a, b"
    assert shorten_names([str(i) for i in range(9)]) == "0, 1, 2, 3, 4, 5, ... (9)"


def test_arrays_have_no_names_to_be_wrong():
    ask = boosters.partial(boosters._ask_in_order, ("a", "b"), len)
    assert ask(np.zeros((3, 2))) == 3
    pandas = pytest.importorskip("pandas")
    assert ask(pandas.DataFrame({"a": [1.0], "b": [2.0]})) == 1
    with pytest.raises(BadTableError, match="other names"):
        ask(pandas.DataFrame({"a": [1.0], "c": [2.0]}))
