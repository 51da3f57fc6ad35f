"""A child reads a model file first; whatever happens to it, this process stays."""

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import rhale
from rhale.errors import BadFileError, ModelFileError
from rhale.models.files import trial
from rhale.models.files.load import load_file
from rhale.models.files.trial import require_survivor
from rhale.models.files.trial_child import ask, tables_for, width_of

X = np.random.default_rng(0).normal(size=(60, 3))
PLAIN = "import json, sys; sys.stdin.readline(); print(json.dumps({'result': {}}), flush=True)"


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trial, "SURVIVED", set())


def file_of(library, name):
    model = pytest.importorskip(library)
    if library == "xgboost":
        model.XGBRegressor(n_estimators=2, max_depth=2).fit(X, X[:, 0]).save_model(name)
    else:
        settings = {"verbose": -1, "n_jobs": 1, "min_child_samples": 5}
        fitted = model.LGBMRegressor(n_estimators=2, **settings).fit(X, X[:, 0])
        fitted.booster_.save_model(name)
    return Path(name)


def trying(monkeypatch, code):
    """Let the child run other code, and count how often it is started."""
    runs = []
    real = trial.started
    monkeypatch.setattr(trial, "START", code)
    monkeypatch.setattr(trial, "started", lambda *a, **k: runs.append(1) or real(*a, **k))
    return runs


def test_a_whole_file_is_tried_and_then_read():
    place = file_of("xgboost", "m.json")
    fx = rhale.explain(str(place), X)
    assert [stamp[0] for stamp in trial.SURVIVED] == [str(place.resolve())]
    assert fx.features == ("x0", "x1", "x2")


def test_a_file_is_tried_once_until_its_size_or_time_changes(monkeypatch):
    runs = trying(monkeypatch, PLAIN)
    place = Path("m.txt")
    place.write_text("one")
    require_survivor(place)
    require_survivor(place)
    assert len(runs) == 1
    place.write_text("another")
    require_survivor(place)
    assert len(runs) == 2
    os.utime(place, ns=(0, 10**18))
    require_survivor(place)
    assert len(runs) == 3
    require_survivor(place, trust=["a.B"])
    assert len(runs) == 4


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_crash_is_an_error_that_names_the_file_and_is_no_survivor(monkeypatch):
    trying(monkeypatch, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    place = file_of("xgboost", "m.json")
    with pytest.raises(ModelFileError, match=r"^m.json crashes .* ended with SIGSEGV; save"):
        load_file(place)
    assert not trial.SURVIVED


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('told at the end')", r"exit code 1 \(told at the end\)"),
        ("print('no json', flush=True)", "into rhale's own pipe"),
        ("import time; time.sleep(600)", "longer than 0.2 seconds"),
    ],
)
def test_every_other_end_of_the_child_is_told(monkeypatch, code, words):
    monkeypatch.setattr(trial, "MAX_SECONDS", 0.2 if "sleep" in code else 120.0)
    trying(monkeypatch, code)
    Path("m.txt").write_text("x")
    with pytest.raises(ModelFileError, match=rf"m.txt .*{words}"):
        require_survivor(Path("m.txt"))


def test_words_that_come_late_are_told(monkeypatch):
    usual = trial.last_words

    @contextmanager
    def late(child):
        words = bytearray()
        try:
            with usual(child):
                yield words
        finally:
            words.extend(b"first\ntold late\n")

    monkeypatch.setattr(trial, "last_words", late)
    trying(monkeypatch, "import sys; sys.exit(1)")
    Path("m.txt").write_text("x")
    with pytest.raises(ModelFileError, match=r"exit code 1 \(told late\)"):
        require_survivor(Path("m.txt"))


def test_what_the_child_has_against_a_file_is_raised_here(monkeypatch):
    words = json.dumps({"error": {"kind": "BadFileError", "message": "m.txt is cut off"}})
    trying(monkeypatch, f"print('''{words}''', flush=True)")
    Path("m.txt").write_text("x")
    with pytest.raises(BadFileError, match=r"m.txt is cut off"):
        require_survivor(Path("m.txt"))


def test_a_real_file_that_its_library_does_not_survive(monkeypatch):
    """The check of LightGBM's text is left out here and in the child: what is left is the trial."""
    place = file_of("lightgbm", "m.txt")
    many = f"num_tree_per_iteration={2**31 - 1}"
    place.write_text(place.read_text().replace("num_tree_per_iteration=1", many))
    unchecked = (
        "import rhale.models.files.booster_files as b; b.check_lightgbm = lambda content: None;"
        "from rhale.models.files.trial_child import main; main(request)"
    )
    trying(monkeypatch, trial.START.rpartition("from rhale")[0] + unchecked)
    with pytest.raises(ModelFileError, match=r"m.txt crashes what reads it"):
        load_file(place)


def test_a_contained_process_needs_no_trial(monkeypatch):
    runs = trying(monkeypatch, "")
    assert load_file(file_of("xgboost", "m.json"), contained=True) is not None
    assert runs == []


def test_a_file_that_changes_between_trial_and_reading_is_refused(monkeypatch):
    place = file_of("xgboost", "m.json")
    monkeypatch.setattr(
        "rhale.models.files.load.require_survivor", lambda *_: os.utime(place, ns=(0, 10**18))
    )
    with pytest.raises(BadFileError, match=r"m.json changed while it was being read"):
        load_file(place)


def test_the_child_finds_modules_where_this_process_does(monkeypatch, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "only_here.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "far"))
    code = "import only_here; print('{\"result\": {}}', flush=True)"
    trying(monkeypatch, trial.START.rpartition("from rhale")[0] + code)
    Path("m.txt").write_text("x")
    require_survivor(Path("m.txt"))


def test_a_python_that_does_not_know_its_program_says_so(monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    Path("m.txt").write_text("x")
    with pytest.raises(ModelFileError, match=r"m.txt cannot be tried .* pass the object"):
        require_survivor(Path("m.txt"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_no_model_and_is_not_waited_for():
    os.mkfifo("m.txt")
    with pytest.raises(BadFileError, match=r"'m.txt'; it is no regular file"):
        load_file("m.txt")


# --- what the child asks ------------------------------------------------------------------------


class Counting:
    """A model that refuses texts and rows with gaps."""

    n_features_in_ = 4

    def __init__(self):
        self.seen = []

    def predict(self, rows):
        self.seen.append(np.asarray(rows))
        if rows.dtype == object or np.isnan(rows).any():
            msg = "no such rows"
            raise ValueError(msg)
        return rows[:, 0]


def test_a_model_is_asked_about_two_rows_of_each_kind_and_may_refuse_them():
    model = Counting()
    ask(model)
    assert [rows.shape for rows in model.seen] == [(2, 4)] * 3
    assert [rows.dtype.kind for rows in model.seen] == ["f", "f", "O"]


def test_lack_of_memory_is_no_refusal():
    class Hoarding(Counting):
        def predict(self, rows):
            raise MemoryError(len(rows))

    with pytest.raises(MemoryError):
        ask(Hoarding())


def test_columns_come_with_their_names_where_a_model_knows_them():
    model = Counting()
    model.feature_names_in_ = ["a", "b", "c", "d"]
    frames = [rows for rows in tables_for(model) if not isinstance(rows, np.ndarray)]
    assert [list(frame.columns) for frame in frames] == [model.feature_names_in_] * 3


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_the_width_of_a_model_file_is_known(library):
    name = {"xgboost": "m.ubj", "lightgbm": "m.txt"}[library]
    assert width_of(load_file(file_of(library, name), contained=True)) == 3


def test_a_model_that_does_not_tell_its_width_gets_one_column():
    assert width_of(lambda rows: rows) == 1
