"""The suite itself: it notices what it is there to notice, and a case is the same each time."""

import re
import sys
from hashlib import blake2b
from io import BytesIO
from random import Random
from zipfile import ZipFile

import numpy as np
import pytest
from tests.fuzz.lies import lie_in_checkpoint, lie_in_lines
from tests.fuzz.mutations import lie_in_zip, zipped
from tests.fuzz.readers import READERS
from tests.fuzz.runner import run_cases
from tests.fuzz.stand_ins import MISBEHAVIOUR

from rhale.execution.checkpoint.folder import (
    CHECKPOINT_MAGIC,
    DIGEST_BYTES,
    encode_checkpoint_value,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and forks are Linux's")

EXPECTED = {
    "answers": "read",
    "prints": "read",
    "writes beside the file": "read",
    "refuses": "refused",
    "refuses without the name": "raw",
    "refuses in two lines": "raw",
    "refuses at length": "raw",
    "raises": "raw",
    "exits": "raw",
    "leaves": "crashed",
    "aborts": "crashed",
    "reads nowhere": "crashed",
    "is killed": "memory",
    "takes memory": "memory",
    "fills memory": "memory",
    "refuses for memory": "memory",
    "refuses for absurd memory": "refused",
    "turns for ever": "hung",
    "waits for ever": "hung",
    "writes": "ran",
    "removes": "ran",
    "starts a process": "ran",
    "runs a command": "ran",
    "runs text": "ran",
}


ENDLESS = [name for name, word in EXPECTED.items() if word == "hung"]


def words_for(names):
    """What the suite says of stand-ins; their numbers are those of good files, in order."""
    places = sorted(MISBEHAVIOUR)
    numbers = [places.index(name) for name in names]
    results = run_cases("stand-in", 0, numbers, module="tests.fuzz.stand_ins")
    return {result.variant: result.outcome for result in results}


def test_every_misbehaviour_has_its_word():
    names = [name for name in EXPECTED if name not in ENDLESS]
    assert words_for(names) == {name: EXPECTED[name] for name in names}
    assert EXPECTED.keys() == MISBEHAVIOUR.keys()


def test_what_never_ends_is_ended(monkeypatch):
    monkeypatch.setenv("RHALE_FUZZ_SECONDS", "1")
    monkeypatch.setenv("RHALE_FUZZ_WALL", "3")
    assert words_for(ENDLESS) == dict.fromkeys(ENDLESS, "hung")


def test_a_crash_of_the_child_is_held():
    results = run_cases("contained", 0, [0, 1], module="tests.fuzz.stand_ins")
    found = {result.variant: result.outcome for result in results}
    assert found == {"noticed": "held", "unnoticed": "crashed"}


@pytest.mark.parametrize(
    "name", ["csv-gz", *(pytest.param(n, marks=pytest.mark.slow) for n in READERS if n != "csv-gz")]
)
def test_the_same_number_is_the_same_file_in_every_process(name, tmp_path):
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        list(run_cases(name, 7, range(10, 18), keep=str(folder)))
        contents.append({p.relative_to(folder): p.read_bytes() for p in folder.glob("*/*")})
    assert contents[0] == contents[1]
    assert len(contents[0]) >= 8


def test_a_lie_in_an_archive_has_right_checksums():
    good = zipped([("a.json", b'{"a": [1, 2, 3]}'), ("b", bytes(50))], {})
    for number in range(50):
        bad = lie_in_zip(good, Random(number))
        with ZipFile(BytesIO(bad)) as archive:
            infos = archive.infolist()
            honest = [i for i in infos if i.file_size == i.compress_size and not i.compress_type]
            assert all(len(archive.read(info)) == info.file_size for info in honest)


def test_a_lie_in_a_model_of_lightgbm_has_right_sizes():
    good = b"tree\ntree_sizes=1 2\n\nTree=0\nnum_leaves=2\n\nTree=1\nnum_leaves=3\n\nend of trees\n"
    for number in range(50):
        bad = lie_in_lines(good, Random(number))
        sizes, first = (
            re.search(rb"^tree_sizes=(.*)$", bad, re.MULTILINE),
            re.search(rb"^Tree=\d+$", bad, re.MULTILINE),
        )
        if sizes and first and b"\nend of trees" in bad:
            assert sum(map(int, sizes[1].split())) == bad.index(b"end of trees") - first.start()


def test_a_lie_in_a_checkpoint_has_the_right_checksum():
    data = encode_checkpoint_value({"a": np.arange(5.0), "b": ("c", 1)})
    good = CHECKPOINT_MAGIC + bytes(DIGEST_BYTES) + data
    for number in range(50):
        bad = lie_in_checkpoint(good, Random(number))
        digest, data = (
            bad[len(CHECKPOINT_MAGIC) :][:DIGEST_BYTES],
            bad[len(CHECKPOINT_MAGIC) + DIGEST_BYTES :],
        )
        assert blake2b(data, digest_size=DIGEST_BYTES).digest() == digest
