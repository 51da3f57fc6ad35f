"""Refits are written with all that they hold, and what all trainings share once."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
from tests.refits_by_hand import HALVES, N_ROWS, curve, make_refits

import rhale
from rhale.effects import store
from rhale.effects.explanation import restore_explanation as unpacked_explanation
from rhale.errors import BadFileError, BadSettingError
from rhale.stability.result import Failure, restore_result
from rhale.stability.storage import MAX_STORED_HEIGHTS, MAX_STORED_TRAININGS, require_storable

TABLE = np.random.default_rng(0).normal(size=(N_ROWS, 2))


@pytest.fixture(scope="module")
def rx():
    made = make_refits(curve, TABLE, pairs=[("x0", "x1")])
    return replace(made, failures=(Failure(5, "no convergence"),))


def content_of(rx):
    packed = {store.VERSION: store.FORMAT, **store.pack_refits(rx)}
    return json.loads(json.dumps(packed, allow_nan=False))


def test_what_is_saved_comes_back_without_the_models(rx, tmp_path):
    rx.save(tmp_path / "rx.json")
    again = rhale.load(tmp_path / "rx.json")
    assert isinstance(again, rhale.Refits)
    assert again == rx
    assert str(again) == str(rx)
    assert again.trained is None
    assert again.failures == (Failure(5, "no convergence"),)
    assert [type(note) for note in again.notes] == [type(note) for note in rx.notes]


def test_the_file_says_what_it_is(rx):
    content = content_of(rx)
    assert (content["rhale_format"], content["kind"]) == (12, "refits")


def test_what_all_trainings_share_stands_there_once(rx):
    content = content_of(rx)
    trainings = [*content["explanations"], content["own"]]
    for name in ("sample_x", "sample_weight"):
        assert len({json.dumps(one[name]) for one in trainings}) == 1
    for name in ("edges", "count", "row_places"):
        assert len({json.dumps(one["effects"][0][name]) for one in trainings}) == 1
    assert len({json.dumps(one["predictions"]) for one in trainings}) == 5
    again = restore_result(content, "it")
    assert again.explanations[0].sample_x.base is again.explanations[3].sample_x.base


def test_more_trainings_take_little_more(rx):
    twice = make_refits(curve, TABLE, factors=(1.0, 1.1, 0.9, 1.2) * 2, train=HALVES * 2)
    few, many = (len(json.dumps(content_of(one))) for one in (replace(rx, pairs=()), twice))
    assert many < 1.7 * few


def test_pairs_get_the_overlap_back(rx):
    content = content_of(rx)
    assert "overlap" not in content["pairs"][0]
    assert restore_result(content, "it").pairs == rx.pairs


@pytest.mark.parametrize(
    ("n_trainings", "n_rows", "told"),
    [
        (MAX_STORED_TRAININGS + 1, 1, "10001 trainings, more than 10000"),
        (1_000, MAX_STORED_HEIGHTS, "1000 trainings at 67108864 rows"),
    ],
)
def test_more_than_a_file_holds_is_refused(n_trainings, n_rows, told):
    with pytest.raises(BadSettingError, match=f"{told}.*n_refits="):
        require_storable(n_trainings, n_rows)
    require_storable(20, 2_000)


def test_refits_are_no_explanation(rx):
    with pytest.raises(BadFileError, match="holds refits, where an explanation belongs"):
        unpacked_explanation(content_of(rx), "it")


def test_a_file_of_format_9_is_read():
    """Trainings on four halves of 24 rows: slopes 1, 3, 2 and 2 of x0, and levels b above a."""
    rx = rhale.load(Path(__file__).parents[1] / "samples" / "format_9_refits.json")
    assert rx.overlap.n_train.tolist() == [12] * 4
    assert rx["x0"].curves([0.0, 1.0], center="start")[:, 1].tolist() == [1.0, 3.0, 2.0, 2.0]
    np.testing.assert_allclose(np.diff(rx["c"].curves(["a", "b"]))[:, 0], [10, 30, 20, 20])
    assert rx["x0"].between(1.0, center="start") == pytest.approx(np.sqrt(2 / 3))
    assert rx.own["x0"].curve(1.0, center="start") == 5.0
    assert rx.failures == (Failure(3, "ValueError: it was asked to"),)
    assert rx.replication(backend="pandas")["feature"].tolist() == ["c", "x0"]
