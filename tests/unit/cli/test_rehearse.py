from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, VotingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import rhale
from rhale.cli.child import rehearse

X = np.random.default_rng(0).normal(size=(3_000, 2))


def test_rows_asked_are_close_to_those_of_the_whole_run():
    def model(rows):
        return rows[:, 0] * rows[:, 1]

    told = rehearse(model, X)
    asked = rhale.explain(model, X).provenance["rows_asked"]
    assert told.rows == 3_000
    assert told.rows_asked == pytest.approx(asked, rel=0.3)
    assert told.path == "secants"


@pytest.mark.parametrize("regions", [True, rhale.Regions(depth=1), rhale.By("x1", cuts=[0])])
def test_regions_cost_at_most_another_pass(regions, monkeypatch):
    """The second pass asks about less than all rows that are asked about; the third about no more."""
    tried = []

    def explained(model, data, **settings):
        tried.append(settings.get("regions"))
        return rhale.explain(model, data, **{**settings, "regions": None})

    monkeypatch.setattr("rhale.cli.child.explain", explained)
    told = rehearse(lambda rows: rows[:, 0] * rows[:, 1], X, regions=regions)
    assert tried == [None, None, regions]  # the last one finds names that are not there
    assert told.rows_for_regions == told.rows_asked
    assert told.seconds_for_regions == told.seconds > 0


def test_without_regions_they_cost_nothing():
    told = rehearse(lambda rows: rows[:, 0], X)
    assert (told.rows_for_regions, told.seconds_for_regions) == (0, 0.0)


def test_seconds_grow_with_the_rows_asked_after_the_start(monkeypatch):
    """250 rows take 7 s, 1,000 take 3 s: a start of 4 s or less, and 3 s for what 1,000 rows ask."""

    def model(rows):
        return rows[:, 0]

    asked = rhale.explain(model, X, n_rows=1_000).provenance["rows_asked"]
    ticks = iter([0.0, 7.0, 10.0])
    clock = SimpleNamespace(perf_counter=lambda: next(ticks))
    monkeypatch.setattr("rhale.cli.child.time", clock)
    told = rehearse(model, X)
    assert told.seconds == pytest.approx(4 + 3 * told.rows_asked / asked)


def test_trees_are_walked():
    pytest.importorskip("treelite")
    pytest.importorskip("numba")
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, X[:, 0])
    told = rehearse(model, X, n_rows=500)
    assert (told.path, told.rows) == ("walked trees", 500)


def test_the_reason_why_trees_are_not_walked_is_told_and_nothing_else():
    pytest.importorskip("treelite")
    pytest.importorskip("numba")
    rows = np.where(X > 2, np.nan, X)  # which every effect has a note about
    piped = make_pipeline(FunctionTransformer(), HistGradientBoostingRegressor(max_iter=2))
    model = VotingRegressor([("a", piped)])
    told = rehearse(model.fit(rows, X[:, 0]), rows, n_rows=500)
    assert [note.kind for note in told.notes] == ["black box"]
    assert "parts of VotingRegressor" in told.notes[0]


@pytest.mark.parametrize(
    ("settings", "path"),
    [({"method": "pdp"}, "profiles"), ({"method": "ale"}, "secants over bins")],
)
def test_methods_have_their_paths(settings, path):
    assert rehearse(lambda rows: rows[:, 0], X[:300], **settings).path == path


def test_a_few_rows_of_files_tell_the_price_of_all(tmp_path):
    """Reading counts twice, and not once for every few rows."""
    rows = pd.DataFrame(np.tile(X, (100, 1)), columns=["a", "b"]).assign(w=1.0, t="left out")
    rows.to_parquet(tmp_path / "rows.parquet")
    asked = {"columns": ["a", "b"], "weights": "w"}
    seen = set()

    def model(rows):
        seen.add(tuple(rows.columns))
        return rows["a"].to_numpy()

    def gradient(rows):
        return np.tile([1.0, 0.0], (len(rows), 1))

    told = rehearse(model, tmp_path / "rows.parquet", gradient=gradient, **asked)
    assert (told.rows, told.columns, told.path) == (300_000, 2, "gradient")
    assert seen == {("a", "b")}
    wanted = rehearse(model, rows, gradient=gradient, **asked)
    assert told.rows_asked == wanted.rows_asked
    assert rehearse(model, tmp_path / "rows.parquet", n_rows=400, **asked).rows == 400
