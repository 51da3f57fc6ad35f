import subprocess
import sys

import pytest

from rhale.cli.limits import can_limit, size_of, usual_memory

HUNGRY = """
from rhale.cli.limits import limit_this_process
limit_this_process({size}, 100)
try:
    kept = bytearray(2**30)
except MemoryError:
    print("refused")
else:
    print("given")
"""


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1024", 1024),
        ("2K", 2048),
        ("3m", 3 * 2**20),
        ("8GB", 2**33),
        ("0.5 GiB", 2**29),
        ("", None),
        ("8 G B", None),
        ("-1G", None),
        ("G", None),
    ],
)
def test_sizes_are_read_as_people_write_them(text, size):
    assert size_of(text) == size


def test_the_usual_limit_leaves_the_machine_alive():
    assert usual_memory() >= 2**31


@pytest.mark.skipif(not can_limit(), reason="this system has no limits")
@pytest.mark.parametrize(("size", "answer"), [(2**29, "refused"), (2**32, "given")])
def test_memory_beyond_the_limit_is_refused(size, answer):
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", HUNGRY.format(size=size)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == answer
