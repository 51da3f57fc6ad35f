import numpy as np
import pytest

from rhale.data.pieces import cut, naming_source
from rhale.errors import ModelFailedError


def test_arrays_are_cut_alike():
    pieces = [(np.full((n, 2), n), np.arange(n)) for n in (3, 0, 5)]
    assert [len(rows) for rows, _ in cut(pieces, 4)] == [4, 4]
    assert [len(rows) for rows, _ in cut(pieces, 3)] == [3, 3, 2]


def test_errors_name_their_piece_once():
    with (
        pytest.raises(ModelFailedError, match=r"^file 1: broken$"),
        naming_source("file 1"),
        naming_source("file 1"),
    ):
        raise ModelFailedError("broken")  # noqa: EM101
    with pytest.raises(ModelFailedError, match=r"^broken$"), naming_source(""):
        raise ModelFailedError("broken")  # noqa: EM101
