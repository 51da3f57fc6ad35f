"""Finished trainings are kept: the same call goes on, and another call is refused."""

import errno
import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import rhale
from rhale.errors import CheckpointError
from rhale.execution.checkpoint.folder import Checkpoint
from rhale.execution.checkpoint.kept_trainings import (
    KeptTrainings,
    fingerprint_value,
    name_training,
)
from rhale.system.files import replace_durably

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(60, 2))
TARGET = TABLE[:, 0] + TABLE[:, 0] * TABLE[:, 1] + RNG.normal(size=60)
N_TRAININGS = 8


class Learner:
    """Fits a surface; stops, or fails, in the trainings that it is told to."""

    def __init__(self, power=2):
        self.power, self.calls, self.stop, self.fail = power, [], None, ()

    def get_params(self, deep=True):  # noqa: ARG002, FBT002 - as scikit-learn has it
        return {"power": self.power}

    def set_params(self, **params):
        self.power = params.get("power", self.power)
        return self

    def __sklearn_clone__(self):
        return self

    def fit(self, rows, target):
        self.calls.append(len(self.calls))
        if self.calls[-1] == self.stop:
            raise KeyboardInterrupt
        if self.calls[-1] in self.fail:
            msg = "it was asked to"
            raise ValueError(msg)
        slopes = np.linalg.lstsq(self._terms(rows), target, rcond=None)[0]
        return Surface(slopes, self._terms)

    def _terms(self, rows):
        a, b = rows[:, 0], rows[:, 1]
        return np.column_stack([a, b, a * b, np.abs(a) ** self.power, np.sign(b)])


class Surface:
    def __init__(self, slopes, terms):
        self.slopes, self.terms = slopes, terms

    def predict(self, rows):
        return self.terms(rows) @ self.slopes


def train(learner=None, table=TABLE, target=TARGET, **options):
    options = {"n_refits": N_TRAININGS, "pairs": [("x0", "x1")], "batch_size": 40, **options}
    return rhale.refit(learner or Learner(), table, target, **options)


def same(a, b):
    """The same numbers, to the last bit."""
    assert a.explanations == tuple(
        _dated(fx, like) for fx, like in zip(b.explanations, a.explanations, strict=True)
    )
    assert (a.overlap, a.pairs, a.failures) == (b.overlap, b.pairs, b.failures)
    for own, other in zip(a.values(), b.values(), strict=True):
        assert own.gram.tobytes() == other.gram.tobytes()
    return True


def _dated(fx, like):
    created = like.provenance["created"]
    return replace(fx, provenance={**fx.provenance, "created": created})


@pytest.fixture(scope="module")
def whole():
    return train()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "trainings"


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupted_call_goes_on_and_ends_with_the_same_numbers(folder, whole, n_jobs):
    learner = Learner()
    learner.stop = 3
    part = train(learner, checkpoint=folder, n_jobs=n_jobs)
    assert 2 <= part.n_trainings <= 3
    files = sorted(p.name for p in folder.glob("training-*"))
    again = Learner()
    resumed = train(again, checkpoint=folder, n_jobs=n_jobs)
    assert len(again.calls) == N_TRAININGS - len(files)
    assert same(resumed, whole if n_jobs is None else train(n_jobs=n_jobs))
    assert resumed.trained is None
    assert "models" not in [note.kind for note in resumed.notes]  # pairs were measured
    assert len(resumed.replication(pairs=True)) == 1


def test_a_call_that_keeps_trainings_gives_what_one_without_gives(folder, whole):
    kept = train(checkpoint=folder)
    assert same(kept, whole)
    assert kept.trained is not None
    again = Learner()
    assert same(train(again, checkpoint=folder), whole)
    assert again.calls == []


def test_without_pairs_a_note_says_that_models_were_not_kept(folder):
    train(checkpoint=folder, pairs=None, n_refits=2)
    again = train(checkpoint=folder, pairs=None, n_refits=2)
    assert again.trained is None
    (told,) = [note.text for note in again.notes if note.kind == "models"]
    assert "come from the checkpoint of an earlier call, which keeps no models" in told
    assert "pairs=" in told


def test_all_pairs_are_the_same_whether_trainings_are_kept_or_not(folder, caplog):
    table = np.column_stack([TABLE, TABLE[:, 0].round(), np.ones(len(TABLE))])
    options = {"table": table, "pairs": "all", "n_refits": 3}
    whole = train(**options)
    caplog.clear()
    assert same(train(checkpoint=folder, **options), whole)
    assert [pair.names for pair in whole.pairs] == list(combinations(whole.features, 2))
    assert len([text for text in caplog.messages if "pairs='all' evaluates" in text]) == 1


def test_trainings_that_failed_are_tried_again(folder, whole):
    learner = Learner()
    learner.fail = (1, 4)
    first = train(learner, checkpoint=folder)
    assert [failure.number for failure in first.failures] == [2, 5]
    again = Learner()
    assert same(train(again, checkpoint=folder), whole)
    assert len(again.calls) == 2


def test_the_model_of_the_user_is_explained_anew(folder):
    own = Learner().fit(TABLE, TARGET)
    first = train(checkpoint=folder, model=own, n_refits=3)
    again = train(checkpoint=folder, model=own, n_refits=3)
    assert again.own.effects == first.own.effects
    assert again.explanations == first.explanations


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"learner": Learner(power=3)}, "learner, parameters, power was 2, now 3"),
        ({"table": TABLE + 1e-9}, "table, content"),
        ({"target": TARGET + 1e-9}, "target"),
        ({"seed": 1}, "rows of trainings"),
        ({"n_refits": 6}, "trainings was 8, now 6"),
        ({"scheme": "bootstraps"}, "rows of trainings"),
        ({"method": "pdp"}, "method was 'rhale', now 'pdp'"),
        ({"bins": 5}, "bins was None, now 5"),
        ({"pairs": None}, "pairs was"),
        ({"weights": np.arange(60.0)}, "weights was None"),
        ({"n_rows": 50}, "n_rows was None, now 50"),
        ({"features": ["x0"], "pairs": [("x0", "x1")]}, "features"),
    ],
)
def test_another_call_in_the_same_folder_is_refused(folder, changes, told):
    learner = Learner()
    learner.stop = 2
    train(learner, checkpoint=folder)
    with pytest.raises(CheckpointError, match=f"another run: .*{told}"):
        train(checkpoint=folder, **changes)


def test_another_function_is_refused(folder):
    def first(rows, target):
        return Learner().fit(rows, target)

    def second(rows, target):
        return Learner().fit(rows, target)

    train(first, checkpoint=folder, n_refits=2)
    with pytest.raises(CheckpointError, match=r"learner, name was .*first.*, now .*second"):
        train(second, checkpoint=folder, n_refits=2)


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-7], lambda b: b[:0], lambda b: b[:99] + b"x" + b[100:]]
)
def test_a_damaged_file_is_refused_by_its_name(folder, damage):
    train(checkpoint=folder, n_refits=4)
    path = folder / "training-3.checkpoint"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CheckpointError, match=r"training-3\.checkpoint is damaged"):
        train(checkpoint=folder, n_refits=4)
    path.unlink()
    learner = Learner()
    train(learner, checkpoint=folder, n_refits=4)
    assert len(learner.calls) == 1


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"{}", b"3", b"\xff", b'{"explanation": {}, "pairs": null}', 4]
)
def test_a_whole_file_with_other_content_is_refused_by_its_name(folder, content):
    with Checkpoint.open(folder, {}) as memory:
        memory.save(name_training(0), 1, content)
        with pytest.raises(CheckpointError, match=r"training-1\.checkpoint is damaged"):
            KeptTrainings(memory).load(0)
        assert KeptTrainings(memory).load(1) is None


def test_a_folder_of_others_is_left_alone(folder):
    folder.mkdir()
    (folder / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"letter\.txt"):
        train(checkpoint=folder)


def test_a_disk_that_says_no_is_no_failure_of_the_learner(folder, monkeypatch):
    def write(path, data):
        if path.name.startswith("training"):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace_durably(path, data)

    learner = Learner()
    monkeypatch.setattr("rhale.execution.checkpoint.folder.replace_durably", write)
    with pytest.raises(CheckpointError, match="No space left"):
        train(learner, checkpoint=folder)
    assert learner.calls == [0]


def test_values_are_described_alike_in_every_process():
    assert (
        fingerprint_value(np.arange(3))
        == fingerprint_value(np.arange(3))
        != fingerprint_value(np.arange(3.0))
    )
    assert (
        fingerprint_value(["a"] * 200)
        == fingerprint_value(("a",) * 200)
        != fingerprint_value(["b"] * 200)
    )
    assert fingerprint_value({"a": Learner(), "b": None}) == {"a": "Learner", "b": None}
    assert "0x" not in json.dumps(fingerprint_value([Learner, np.mean, fingerprint_value]))
