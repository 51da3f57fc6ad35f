import io
import pickle
import zipfile

import pytest

from rhale.models.files.load import kind_of_content
from rhale.models.files.pickles import find_pickle


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("value", [{"a": [1, 2]}, ValueError("x"), object()])
def test_every_protocol_is_recognised(protocol, value):
    assert find_pickle(pickle.dumps(value, protocol)) == "pickle"


def test_members_of_an_archive_are_looked_into():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights", pickle.dumps([1]))
    assert find_pickle(held.getvalue()) == "pickle"
    assert find_pickle(held.getvalue()[:-30]) is None  # no archive any more


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"tree\nversion=v4\nnum_class=1\n",
        b'{"learner": {}}',
        b"CBM1\x00\x00",
        b"\x08\x07\x12\x04skl2",
        b"PK\x05\x06" + bytes(18),
        b"PK broken",
        b"some text that is a text\n",
        b"\x89HDF\r\n",
    ],
)
def test_other_files_are_not(content):
    assert find_pickle(content) is None


def test_no_damage_of_an_archive_is_more_than_damage():
    """Each byte in turn; offsets that lead before the beginning are a ValueError of zipfile's."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("schema.json", "{}")
    whole = held.getvalue()
    for place in range(2, len(whole)):
        for byte in (0, 127, 255):
            damaged = whole[:place] + bytes([byte]) + whole[place + 1 :]
            assert find_pickle(damaged) is None
            assert kind_of_content(damaged) in ("skops", None)
