import os
import socket
from pathlib import Path

import pytest

from rhale.data.files.regular import RegularFile, stat_path
from rhale.data.files.table import open_files
from rhale.errors import BadTableError

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes")


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("n,x\n1,2\n3,4\n", encoding="utf-8")
    return path


def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


def link_in_a_circle(path):
    Path(path).symlink_to("other.csv")
    Path("other.csv").symlink_to(path)


def link_to_nothing(path):
    Path(path).symlink_to("gone.csv")


SPECIAL = [
    (make_pipe, "r.csv is a pipe, no regular file; write its rows to a file"),
    (make_socket, "r.csv is a socket, no regular file"),
    (link_in_a_circle, r"(r|other).csv is a link that leads in a circle"),
    (link_to_nothing, "r.csv is a link to gone.csv, which is not there"),
]


@pytest.mark.parametrize("asked", ["r.csv", ["a.csv", "r.csv"], "?.csv", ".", "*"])
@pytest.mark.parametrize(("make", "message"), SPECIAL)
def test_what_is_no_regular_file_is_named_and_nobody_waits(asked, make, message):
    write("a.csv")
    make("r.csv")
    with pytest.raises(BadTableError, match=message):
        open_files(asked)


def test_a_device_is_no_regular_file():
    with pytest.raises(BadTableError, match=r"^/dev/zero is a device, no regular file"):
        open_files("/dev/zero")


def test_what_is_not_named_as_a_table_may_lie_in_a_folder():
    write("rows/a.csv")
    make_pipe("rows/control")
    link_to_nothing("rows/latest")
    assert open_files("rows").n_rows == 2


def test_a_pipe_in_a_dataset_is_named():
    for name in ("a.parquet", "b.parquet"):
        pq.write_table(pa.table({"x": [1, 2]}), name)
    data = ds.dataset(["a.parquet", "b.parquet"])
    Path("b.parquet").unlink()
    make_pipe("b.parquet")
    with pytest.raises(BadTableError, match=r"b.parquet is not a regular file"):
        open_files(data)


def test_a_pipe_that_takes_the_place_of_a_file_is_refused_after_it_was_opened(monkeypatch):
    """Nobody waits: a pipe that is opened without waiting for a writer is there at once."""
    write("r.csv")
    regular = stat_path("r.csv")
    Path("r.csv").unlink()
    make_pipe("r.csv")
    monkeypatch.setattr("rhale.data.files.regular.stat_path", lambda _: regular)
    with pytest.raises(BadTableError, match=r"r.csv is a pipe"):
        RegularFile("r.csv")


def test_folders_that_links_lead_back_into_are_named_instead_of_walked_for_ever():
    write("rows/deep/a.csv")
    for name in ("one", "two", "three"):  # three links: 3 ** 40 ways to go
        Path(f"rows/deep/{name}").symlink_to("..", target_is_directory=True)
    with pytest.raises(BadTableError, match=r"leads to rows/* again, by a link"):
        open_files("rows/**/*.csv")
    assert open_files("rows").n_rows == 2  # which follows no links


def test_links_that_lead_elsewhere_are_followed_by_patterns():
    write("elsewhere/a.csv")
    write("rows/b.csv")
    Path("rows/more").symlink_to(Path("elsewhere").resolve(), target_is_directory=True)
    assert open_files("rows/**/*.csv").n_rows == 4


def test_a_file_is_read_up_to_its_end_and_no_further():
    write("r.csv")
    with RegularFile("r.csv") as file:
        assert file.read(2**62) == b"n,x\n1,2\n3,4\n"  # which would not fit into any memory
        assert file.read(1) == b""
        assert file.read_at(4, 3) == b"1,2"
        for place, size in ((4, 2**62), (-1, 3), (3, -1), (12, 1)):
            with pytest.raises(ValueError, match="but it is 12 bytes long"):
                file.read_at(place, size)


def test_a_file_that_becomes_shorter_gives_what_is_left():
    write("r.csv")
    with RegularFile("r.csv") as file:
        os.truncate("r.csv", 4)
        assert file.read() == b"n,x\n"
