import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale
from rhale.rehearse import rehearse

X = np.random.default_rng(0).normal(size=(3_000, 2))


def test_rows_asked_are_close_to_those_of_the_whole_run():
    def model(rows):
        return rows[:, 0] * rows[:, 1]

    told = rehearse(model, X)
    asked = rhale.explain(model, X).provenance["rows_asked"]
    assert told.rows == 3_000
    assert told.rows_asked == pytest.approx(asked, rel=0.3)
    assert told.path == "secants"
    assert 0 < told.seconds < 60


def test_trees_are_walked():
    pytest.importorskip("treelite")
    pytest.importorskip("numba")
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, X[:, 0])
    told = rehearse(model, X, n_rows=500)
    assert (told.path, told.rows) == ("walked trees", 500)


@pytest.mark.parametrize(
    ("settings", "path"),
    [({"method": "pdp"}, "profiles"), ({"method": "ale"}, "secants over bins")],
)
def test_methods_have_their_paths(settings, path):
    assert rehearse(lambda rows: rows[:, 0], X[:300], **settings).path == path
