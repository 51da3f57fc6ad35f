"""The process that holds the model, asked in this one: what it does, says and tells of errors."""

import json
import signal

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.child import forward_warnings
from rhale.cli.child import columns_left, columns_needed, read_training_rows, run_request
from rhale.cli.parent import Request
from rhale.data.files.table import open_files
from rhale.effects.explanation import restore_explanation
from rhale.errors import BadTableError
from rhale.stability.result import restore_result as unpacked_any

LEARNER = """
import numpy as np

def learn(rows, target):
    slopes = np.linalg.lstsq(rows.to_numpy(), np.asarray(target), rcond=None)[0]
    return lambda asked: asked.to_numpy() @ slopes
"""
MODEL = "def predict(rows):\n    return 2 * rows['a'].to_numpy() + rows['b'].to_numpy() ** 2\n"
ROWS = pd.DataFrame(np.random.default_rng(1).normal(size=(200, 4)), columns=["a", "b", "y", "w"])


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A request about a function and a table, with what is said while it is done."""
    (tmp_path / "priced_by_tests.py").write_text(MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    ROWS.assign(w=1.0).to_csv(tmp_path / "rows.csv", index=False)

    def ask(task, **options):
        said = []
        model, data = "priced_by_tests:predict", (str(tmp_path / "rows.csv"),)
        request = Request(task, model, data, target="y", **options)
        say = lambda **words: said.append(words)
        with forward_warnings(say):
            return run_request(request, say), said

    return ask


def test_an_explanation_comes_back_as_numbers_that_can_be_read_again(asked):
    answer, _ = asked("explain", asked={"weights": "w"})
    found = restore_explanation(json.loads(json.dumps(answer)), "the answer")
    expected = rhale.explain(
        lambda r: 2 * r["a"].to_numpy() + r["b"].to_numpy() ** 2, ROWS[["a", "b"]]
    )
    assert found.features == ("a", "b")
    for name in "ab":
        assert found[name].importance == pytest.approx(expected[name].importance, rel=1e-9)


def test_what_is_being_done_is_said_in_order_and_every_row_is_counted(asked):
    _, said = asked("explain", asked={"weights": "w"})
    doing = [words["doing"] for words in said if "doing" in words]
    assert doing == ["reading the table", "reading the model", "explaining"]
    done = [words for words in said if "of" in words]
    assert done[-1]["done"] == done[-1]["of"] > 0


def test_a_check_asks_about_a_few_rows_only(asked):
    answer, said = asked("check", asked={"weights": "w"})
    assert (answer["rows"], answer["columns"], answer["path"]) == (200, 2, "secants")
    assert said[-1] == {"doing": "trying a few rows"}


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, ["a", "b", "y", "w"]),
        ({"target": "y"}, ["a", "b", "w"]),
        ({"target": "y", "asked": {"weights": "w"}}, ["a", "b"]),
    ],
)
def test_neither_target_nor_weights_are_shown_to_the_model(options, left):
    assert columns_left(list(ROWS), Request("check", "m", ("t",), **options)) == left


def test_a_target_that_is_not_there_is_answered_with_near_names():
    with pytest.raises(BadTableError, match=r"no column 'weigth' to leave out.*'weight'"):
        columns_left(["age", "weight"], Request("check", "m", ("t",), target="weigth"))


def test_interactions_come_back_as_numbers_that_can_be_read_again(asked):
    answer, said = asked("interactions", asked={"weights": "w", "pairs": "all"})
    found = unpacked_any(json.loads(json.dumps(answer)), "the answer")
    expected = rhale.interactions(
        lambda r: 2 * r["a"].to_numpy() + r["b"].to_numpy() ** 2, ROWS[["a", "b"]]
    )
    assert [pair.names for pair in found.values()] == [("a", "b")]
    assert found["a", "b"].strength == pytest.approx(expected["a", "b"].strength, abs=1e-12)
    assert {"doing": "measuring pairs"} in said
    assert any("of" in words for words in said)


def test_what_all_pairs_cost_is_told_before_it_is_paid(asked):
    _, said = asked("interactions", asked={"pairs": "all"})
    notes = [words["note"] for words in said if "note" in words]
    (price,) = [note for note in notes if "pairs='all'" in note]
    assert "4 x 3 pairs x 200 rows = 2,400 rows" in price  # a, b and w
    place = said.index({"note": price})
    assert place < max(i for i, words in enumerate(said) if "done" in words)


# --- trainings ---------------------------------------------------------------------------------


@pytest.fixture
def trained(tmp_path, monkeypatch, interrupts):  # noqa: ARG001 - the last one ignores them
    """A request for trainings, with what is said while it is done."""
    (tmp_path / "taught_by_tests.py").write_text(LEARNER)
    monkeypatch.syspath_prepend(tmp_path)
    table = ROWS.assign(w=1.0, y=2 * ROWS["a"] - ROWS["b"] + ROWS["y"], who=np.arange(200) // 4)
    table.to_parquet(tmp_path / "rows.parquet")

    def ask(target="y", **options):
        said = []
        model, data = "taught_by_tests:learn", (str(tmp_path / "rows.parquet"),)
        request = Request("refit", model, data, target=target, **options)
        return run_request(request, lambda **words: said.append(words)), said

    return ask


def test_trainings_come_back_as_numbers_that_can_be_read_again(trained):
    asked = {"n_refits": 4, "groups": "who", "weights": "w", "seed": 3}
    answer, said = trained(asked=asked)
    found = unpacked_any(json.loads(json.dumps(answer)), "the answer")
    assert isinstance(found, rhale.Refits)
    assert (found.features, found.n_trainings) == (("a", "b"), 4)
    x = np.array([-1.0, 1.0])
    curves = [np.diff(found[name].curve(x))[0] for name in "ab"]
    assert curves == pytest.approx([4, -2], abs=3 * 2 / np.sqrt(200))  # slopes 2 and -1, noise 1
    doing = [words["doing"] for words in said if "doing" in words]
    assert doing[1:] == ["reading the learner", "reading the rows", "training"]
    assert said[-1] == {"done": 4, "of": 4, "unit": "trainings"}


def test_once_all_trainings_are_done_an_interrupt_comes_too_late(trained):
    trained(asked={"n_refits": 2})
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_columns_that_are_named_are_read_with_what_else_is_needed(trained):
    answer, _ = trained(asked={"n_refits": 2, "columns": ["b", "a"], "groups": "who"})
    found = unpacked_any(answer, "the answer")
    assert found.features == ("b", "a")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "yy"}, "--target yy: the table has no such column; did you mean 'y'"),
        ({"asked": {"groups": "wo"}}, "--groups wo: the table has no such column.*'who'"),
        ({"asked": {"weights": "v"}}, "--weights v: the table has no such column"),
    ],
)
def test_columns_that_are_not_there_are_answered_with_near_names(trained, options, words):
    with pytest.raises(BadTableError, match=words):
        trained(**options)


def test_rows_that_cannot_fit_are_refused_before_they_are_read(tmp_path):
    ROWS.assign(who=1).to_parquet(tmp_path / "rows.parquet")
    table = open_files(str(tmp_path / "rows.parquet"))
    assert len(read_training_rows(table, 200 * 5 * 8)) == 200
    words = r"200 rows of 5 columns take 0\.00763 MiB or more, and 0\.00762 MiB are allowed"
    with pytest.raises(BadTableError, match=words):
        read_training_rows(table, 200 * 5 * 8 - 10)
    few = columns_needed(table, Request("refit", "m", ("t",), "y", asked={"columns": ["a"]}))
    assert list(read_training_rows(few, 200 * 5 * 8 - 10).columns) == ["a", "y"]
