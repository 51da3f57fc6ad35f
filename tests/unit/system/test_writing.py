import errno
import os
import threading

import pytest

from rhale.errors import BadFileError, MissingFolderError
from rhale.system.files import replace_durably, whole, write_text


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    def interrupted():
        with whole(tmp_path / "a.txt") as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
    with whole(tmp_path / "a.txt") as part:
        part.write_text("all")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "all")]


def test_writers_of_one_path_do_not_meet(tmp_path):
    """All are inside at the same time: whoever ends last wins, and nobody fails."""
    inside, failed = threading.Barrier(8), []

    def write(text):
        try:
            with whole(tmp_path / "a.txt") as part:
                part.write_text(text)
                inside.wait(timeout=60)
        except BaseException as error:  # noqa: BLE001 - looked at below
            failed.append(error)

    threads = [threading.Thread(target=write, args=(str(i) * 1000,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    (left,) = tmp_path.iterdir()
    assert left.read_text() in {str(i) * 1000 for i in range(8)}


def test_the_place_to_write_to_keeps_the_ending_and_cannot_be_guessed(tmp_path):
    with whole(tmp_path / "a.png") as one, whole(tmp_path / "a.png") as other:
        assert one != other
        assert one.suffix == other.suffix == ".png"
        assert one.parent == tmp_path
        one.write_text("1")
        other.write_text("2")


@pytest.mark.parametrize("name", [None, "part"])
def test_a_failure_of_the_disk_names_the_file(tmp_path, name):
    def full():
        with whole(tmp_path / "a.txt") as part:
            raise OSError(errno.ENOSPC, "No space left on device", *([str(part)] if name else []))

    with pytest.raises(OSError, match="No space left on device") as failed:
        full()
    assert failed.value.filename == str(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_errors_about_other_files_stay_as_they_are(tmp_path):
    def missing():
        with whole(tmp_path / "a.txt"):
            (tmp_path / "font.ttf").read_bytes()

    with pytest.raises(FileNotFoundError) as failed:
        missing()
    assert str(failed.value.filename).endswith("font.ttf")


def test_a_missing_folder_is_told_with_the_name_of_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as failed:
        write_text(tmp_path / "no" / "a.txt", "text")
    assert failed.value.filename == str(tmp_path / "no" / "a.txt")
    assert isinstance(failed.value, MissingFolderError)
    assert str(failed.value).endswith(f"there is no folder {tmp_path / 'no'}; make it first")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadFileError, match=r"pipe cannot be written: it is no regular file"):
        write_text(tmp_path / "pipe", "text")
    with pytest.raises(BadFileError, match="it is a folder"):
        write_text(tmp_path, "text")
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(os.name != "posix", reason="names of 255 bytes are POSIX'")
def test_the_longest_name_can_be_written(tmp_path):
    name = "n" * 250 + ".json"
    write_text(tmp_path / name, "text")
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX'")
def test_a_file_that_is_closed_to_others_stays_so(tmp_path):
    path = tmp_path / "kept"
    write_text(path, "old")
    path.chmod(0o600)
    write_text(path, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX'")
def test_a_link_is_replaced_and_has_no_say_in_who_may_write(tmp_path):
    path, other = tmp_path / "kept", tmp_path / "other"
    other.write_text("other")
    other.chmod(0o4777)
    path.symlink_to(other)
    write_text(path, "new")
    assert (path.is_symlink(), path.read_text(), other.read_text()) == (False, "new", "other")
    assert not path.stat().st_mode & 0o4000
    other.chmod(0o4755)
    write_text(other, "new")
    assert other.stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails_leaves_the_old_file_whole_and_nothing_beside_it(
    tmp_path, monkeypatch, step
):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "kept"
    replace_durably(path, b"old")
    monkeypatch.setattr(os if step == "fsync" else type(path), step, fail)
    with pytest.raises(OSError, match="No space left"):
        replace_durably(path, b"new")
    monkeypatch.undo()
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("kept", b"old")]
    replace_durably(path, b"new")
    assert path.read_bytes() == b"new"
