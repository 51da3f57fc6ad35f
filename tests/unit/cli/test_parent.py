"""A child that does the work: what it answers, how it ends, what is shown of its words."""

import os
import signal
import sys
from dataclasses import replace

import pytest
from tests.children import PATIENCE

from rhale.cli import parent
from rhale.cli.parent import INTERRUPTED, retold, run_child, stopped
from rhale.cli.request import Request, read_request
from rhale.errors import BadTableError, ModelStoppedError
from rhale.system.processes import ExitedError, NotUnderstoodError, SilentError, TooLongError

REQUEST = Request("check", "m.onnx", ("a.csv",), max_seconds=PATIENCE)
CHILD = """
import json, sys
line = sys.stdin.readline()
def say(**words): print(json.dumps(words), flush=True)
"""


@pytest.fixture
def asked(monkeypatch):
    """What comes of a request that a few lines of Python answer, and what is heard on the way."""

    def ask(code, *, task="check", hear=None, **options):
        monkeypatch.setattr(parent, "COMMAND", (sys.executable, "-c", CHILD + code))
        words = []
        return run_child(replace(REQUEST, task=task), hear or words.append, **options), words

    return ask


def test_the_child_gets_the_request_and_its_answer_comes_back(asked):
    answer, _ = asked("say(result={'line': line})")
    assert read_request(answer["line"].encode()) == REQUEST


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
    assert not hasattr(retold(told, debug=False), "__notes__")
    assert retold(told, debug=True).__notes__ == ["t"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TooLongError(), "took longer than 9 seconds"),
        (NotUnderstoodError(), "does not understand"),
        (SilentError(""), "closed the pipe"),
        (ExitedError("exit code 3"), "ended its process with exit code 3"),
        (SilentError("SIGXCPU"), "processor time"),
        (SilentError("SIGSEGV"), r"ended by SIGSEGV. .* need more than 1 GiB of memory"),
    ],
)
def test_each_end_of_the_child_has_its_sentence(error, words):
    request = Request("check", "m", ("t",), max_memory=2**30, max_seconds=9)
    with pytest.raises(ModelStoppedError, match=words):
        raise stopped(error, request)


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
    answer, _ = asked(code, task="refit", hear=pressing(words))
    assert answer == {"kept": 3}
    assert words == [{"doing": "training"}, {"note": INTERRUPTED}]
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
        asked(KEEPING.format(then=then), task="refit", hear=pressing([]))


@pytest.mark.usefixtures("interrupts")
def test_without_an_interrupt_errors_of_trainings_are_errors(asked):
    with pytest.raises(ModelStoppedError, match="exit code 3"):
        asked("sys.exit(3)", task="refit")


def test_trainings_that_took_too_long_are_told_how_to_keep_them():
    request = Request("refit", "m:f", ("t",), max_seconds=9)
    with pytest.raises(ModelStoppedError, match=r"9 seconds .* --checkpoint keeps trainings"):
        raise stopped(TooLongError(), request)


@pytest.mark.usefixtures("interrupts")
def test_interrupts_that_are_ignored_stay_so(asked):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    found = []
    hear = lambda _: found.append(signal.getsignal(signal.SIGINT))
    answer, _ = asked("say(doing='training'); say(result={'kept': 2})", task="refit", hear=hear)
    assert (answer, found) == ({"kept": 2}, [signal.SIG_IGN])
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
