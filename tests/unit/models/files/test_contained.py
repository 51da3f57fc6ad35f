"""A child that does the work: what it answers, how it ends, what is shown of its words."""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.children import PATIENCE

from rhale.child import described
from rhale.cli.parent import Request, limits_of
from rhale.errors import BadFileError, BadTableError, ModelStoppedError
from rhale.models.files import sandbox
from rhale.models.files.sandbox import (
    INTERRUPTED_REFIT_MESSAGE,
    ChildLimits,
    describe_child_end,
    rebuild_child_error,
    run_child,
)
from rhale.system import closed
from rhale.system.processes import ExitedError, NotUnderstoodError, SilentError, TooLongError

LIMITS = ChildLimits(2**30, PATIENCE, "--max-memory", "--max-seconds allows more")
CHILD = """
import json, sys
sys.stdin.readline()
line = sys.stdin.readline()
def say(**words): print(json.dumps(words), flush=True)
"""


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What comes of a request that a few lines of Python answer, and what is heard on the way."""

    def ask(code, *, hear=None, **options):
        (tmp_path / "child.py").write_text(CHILD + code)
        monkeypatch.setattr(closed, "__file__", str(tmp_path / "child.py"))
        words, request = [], {"asked": [1.5, "x"]}
        return run_child("m", request, LIMITS, hear or words.append, opened=None, **options), words

    return ask


def test_the_child_gets_the_request_and_its_answer_comes_back(asked):
    answer, _ = asked("say(result={'request': json.loads(line)})")
    assert answer == {"request": {"asked": [1.5, "x"]}}


def test_what_it_says_before_its_answer_is_passed_on(asked):
    code = "say(doing='reading'); say(done=1, of=2); say(note='n'); say(result={})"
    assert asked(code)[1] == [{"doing": "reading"}, {"done": 1, "of": 2}, {"note": "n"}]


def test_its_error_is_raised_here_as_what_it_was(asked):
    with pytest.raises(BadTableError, match="no rows"):
        asked("say(error={'kind': 'BadTableError', 'message': 'no rows', 'trace': 't'})")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit(3)", "ended its process with exit code 3"),
        ("print('hello', flush=True)", "does not understand"),
    ],
)
def test_a_child_without_an_answer_is_a_model_that_stopped(asked, code, words):
    with pytest.raises(ModelStoppedError, match=words):
        asked(code)


@pytest.mark.parametrize(("debug", "shown"), [(False, ""), (True, "[2Jhello\n")])
def test_what_it_prints_is_shown_to_those_who_ask_without_steering_the_terminal(
    asked, capsys, debug, shown
):
    asked("print('\\x1b[2Jhello', file=sys.stderr, flush=True); say(result={})", debug=debug)
    assert capsys.readouterr().err == shown


def test_errors_of_the_child_bring_their_traceback_to_those_who_ask():
    told = {"kind": "BadTableError", "message": "m", "trace": "t"}
    assert not hasattr(rebuild_child_error(told, debug=False), "__notes__")
    assert rebuild_child_error(told, debug=True).__notes__ == ["t"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TooLongError(), "took longer than 9 seconds and was stopped; --max-seconds allows more"),
        (NotUnderstoodError(), "does not understand"),
        (SilentError(""), "closed the pipe"),
        (ExitedError("exit code 3"), "ended its process with exit code 3"),
        (SilentError("SIGXCPU"), "processor time"),
        (SilentError("SIGSEGV"), r"ended by SIGSEGV. .* need more than 1 GiB of memory"),
    ],
)
def test_each_end_of_the_child_has_its_sentence(error, words):
    with pytest.raises(ModelStoppedError, match=words):
        raise describe_child_end(error, replace(LIMITS, max_seconds=9))


KEEPING = """
import time
try:
    say(doing='training')
    time.sleep(600)
except KeyboardInterrupt:
    {then}
"""


def pressing(words):
    """Hear what is said, and answer with Ctrl-C once the work has begun."""

    def hear(said):
        words.append(said)
        if "doing" in said:
            os.kill(os.getpid(), signal.SIGINT)

    return hear


@pytest.mark.skipif(sys.platform == "win32", reason="consoles tell both processes")
@pytest.mark.usefixtures("interrupts")
def test_the_first_interrupt_of_trainings_is_the_childs_which_gives_what_it_has(asked):
    words = []
    code = KEEPING.format(then="say(result={'kept': 3})")
    answer, _ = asked(code, keeps=True, hear=pressing(words))
    assert answer == {"kept": 3}
    assert words == [{"doing": "training"}, {"note": INTERRUPTED_REFIT_MESSAGE}]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(sys.platform == "win32", reason="consoles tell both processes")
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize(
    "then",
    [
        "say(error={'kind': 'ModelFailedError', 'message': 'm', 'trace': 't'})",
        "sys.exit(1)",
        "say(doing='ignoring it'); time.sleep(600)",  # which is answered with the second one
    ],
)
def test_a_child_that_has_nothing_to_give_is_an_interrupt(asked, then):
    with pytest.raises(KeyboardInterrupt):
        asked(KEEPING.format(then=then), keeps=True, hear=pressing([]))


@pytest.mark.usefixtures("interrupts")
def test_without_an_interrupt_errors_of_trainings_are_errors(asked):
    with pytest.raises(ModelStoppedError, match="exit code 3"):
        asked("sys.exit(3)", keeps=True)


def test_trainings_that_took_too_long_are_told_how_to_keep_them():
    request = Request("refit", "m:f", ("t",), max_seconds=9)
    with pytest.raises(
        ModelStoppedError, match=r"9 seconds .* --checkpoint keeps finished retrainings"
    ):
        raise describe_child_end(TooLongError(), limits_of(request))


@pytest.mark.usefixtures("interrupts")
def test_interrupts_that_are_ignored_stay_so(asked):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    found = []
    hear = lambda _: found.append(signal.getsignal(signal.SIGINT))
    answer, _ = asked("say(doing='training'); say(result={'kept': 2})", keeps=True, hear=hear)
    assert (answer, found) == ({"kept": 2}, [signal.SIG_IGN])
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (BadFileError("it is damaged"), "BadFileError", "it is damaged"),
        (MemoryError(), "ModelStoppedError", "too much"),
        (RuntimeError("std::bad_alloc"), "ModelStoppedError", "too much"),
        (
            GeneratorExit("bye"),
            "ModelFailedError",
            "raised GeneratorExit, which ends a program: bye",
        ),
        (KeyError("a"), "RhaleError", "something unexpected happened (KeyError: 'a'); look there"),
        (FileNotFoundError(2, "no such file", "a.json"), "OSError", "no such file"),
    ],
)
def test_every_error_has_a_kind_a_sentence_and_its_traceback(error, kind, words):
    with pytest.raises(type(error)) as caught:
        raise error
    told = described(caught.value, "too much", "look there")
    assert told["kind"] == kind
    assert words in told["message"]
    assert type(error).__name__ in told["trace"]
    assert "Traceback" in told["trace"]


def test_an_error_of_the_system_is_that_error_here():
    told = {"kind": "OSError", "message": "m", "errno": 2, "filename": "a.json", "trace": "t"}
    error = rebuild_child_error(told, debug=False)
    assert isinstance(error, FileNotFoundError)
    assert error.filename == "a.json"
    assert isinstance(rebuild_child_error({**told, "errno": "2"}, debug=False), BaseException)


def test_what_a_closed_child_compiled_is_compiled_again_once_by_a_process_of_ours(
    tmp_path, monkeypatch
):
    own, kept, ran = tmp_path / "own", tmp_path / "kept", []
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    monkeypatch.setattr(sandbox, "run", lambda command, **_: ran.append(command[-1]))
    folder = Path("rhale", "compiled", "numba-1")
    (kept / folder).mkdir(parents=True)
    (kept / folder / "old.nbi").write_text("index")
    places = sandbox.own_places(str(own))
    assert Path(places["XDG_CACHE_HOME"], folder, "old.nbi").read_text() == "index"
    sandbox.keep_compiled_tree_loops(str(own), ".txt", "explain", {})
    assert ran == []  # it found all there was
    Path(places["XDG_CACHE_HOME"], folder, "new.nbi").write_text("code of a stranger")
    for ending in (".onnx", ".txt", ".txt"):
        sandbox.keep_compiled_tree_loops(str(own), ending, "explain", {})
    assert ran == [
        "from rhale.child import compile_tree_loops; compile_tree_loops('.txt', 'explain')"
    ]
    assert sorted(one.name for one in (kept / folder).iterdir()) == ["again-explain", "old.nbi"]


def test_names_and_patterns_of_tables_are_what_a_child_may_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a/1.csv", "a/2.csv", "b/3.csv", "m.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("x")
    found = sandbox.open_for(["m.txt"], ["a/*.csv", Path("b")], "kept")
    assert sorted(found["reads"][1:]) == ["a/1.csv", "a/2.csv", "b", "m.txt"]
    assert (found["lists"], found["writes"]) == (["a"], ["kept"])


@pytest.mark.parametrize(("name", "value"), [("executable", ""), ("frozen", True)])
def test_a_program_around_python_is_told_to_load_the_model_itself(asked, monkeypatch, name, value):
    monkeypatch.setattr(sys, name, value, raising=False)
    with pytest.raises(ModelStoppedError, match="load the model yourself"):
        asked("say(result={})")
