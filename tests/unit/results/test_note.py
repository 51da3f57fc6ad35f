import copy
import pickle

from rhale.results.note import Note, as_notes

NOTE = Note("gap", "no rows between 1 and 2")


def test_a_note_is_its_text():
    assert NOTE == "no rows between 1 and 2"
    assert f"{NOTE}; {NOTE.kind}" == "no rows between 1 and 2; gap"
    assert type(NOTE.text) is str


def test_a_note_keeps_its_kind_wherever_it_goes():
    for again in (pickle.loads(pickle.dumps(NOTE)), copy.deepcopy(NOTE)):  # noqa: S301
        assert (again.kind, again.text) == ("gap", "no rows between 1 and 2")


def test_a_plain_text_gets_no_kind():
    plain, same = as_notes(["a text", NOTE])
    assert (plain.kind, plain.text) == ("", "a text")
    assert same is NOTE
