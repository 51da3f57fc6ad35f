"""Notes: a text for people that carries its kind for programs."""

import copy
import json
import pickle

import pytest

from rhale.output.text import Note, as_notes

NOTE = Note("gap", "no rows between 1 and 9")


def test_a_note_is_its_text_to_whoever_reads_it():
    assert NOTE == "no rows between 1 and 9"
    assert f"{NOTE}!" == "no rows between 1 and 9!"
    assert json.dumps([NOTE]) == '["no rows between 1 and 9"]'
    assert {NOTE: 1}["no rows between 1 and 9"] == 1


def test_the_text_alone_is_plain():
    assert type(NOTE.text) is str
    assert NOTE.text == "no rows between 1 and 9"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_kind_comes_along_to_another_process(protocol):
    found = pickle.loads(pickle.dumps(NOTE, protocol))  # noqa: S301 - our own bytes
    assert (type(found), found, found.kind) == (Note, NOTE, "gap")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_keeps_its_kind(copied):
    assert (copied(NOTE), copied(NOTE).kind) == (NOTE, "gap")


def test_what_is_made_of_a_note_is_plain_text():
    assert type(NOTE + ".") is str
    assert type(NOTE.upper()) is str


def test_a_note_has_a_kind_and_nothing_else():
    with pytest.raises(AttributeError):
        NOTE.colour = "red"


def test_a_plain_text_gets_no_kind():
    plain, same = as_notes(["a text", NOTE])
    assert (plain.kind, plain.text) == ("", "a text")
    assert same is NOTE
