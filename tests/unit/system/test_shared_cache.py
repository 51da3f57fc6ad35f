"""Compiled functions are kept where all environments of a user find them, and nobody else writes."""

import os

import pytest

numba = pytest.importorskip("numba")

from rhale.system import shared_cache
from rhale.system.shared_cache import digest_of_sources, find_folder, is_private, keep_for_all

posix = pytest.mark.skipif(os.name == "nt", reason="who may write is told by other means there")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setattr(shared_cache, "AppDirs", lambda *_, **__: Home(tmp_path / "rhale"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    find_folder.cache_clear()
    yield tmp_path
    find_folder.cache_clear()


class Home:
    def __init__(self, folder):
        self.user_cache_dir = str(folder)


def made():
    @numba.njit
    def thrice(number):
        return 3 * number

    keep_for_all(thrice)
    return thrice


@posix
def test_the_folder_is_made_for_the_user_alone(home):
    folder = find_folder()
    assert folder.is_relative_to(home)
    assert numba.__version__ in folder.name
    assert [one.stat().st_mode & 0o777 for one in (folder, folder.parent)] == [0o700] * 2


def test_what_was_compiled_once_is_found_by_whoever_comes_later():
    first, later = made(), made()
    assert first(2) == later(2) == 6
    assert sum(first.stats.cache_hits.values()) == 0
    assert sum(later.stats.cache_hits.values()) == 1
    assert first.stats.cache_path == str(find_folder())


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_to_is_left_to_numba(home, mode):
    inner = find_folder()
    for folder in (inner, inner.parent, home / "rhale"):
        folder.chmod(mode)
        assert not is_private(inner)
        find_folder.cache_clear()
        assert find_folder() is None
        assert made().stats.cache_path != str(inner)
        folder.chmod(0o700)
    assert is_private(inner)


@posix
def test_others_cannot_replace_folders_in_one_where_each_keeps_to_his_own(home):
    folder = find_folder()
    (home / "rhale").chmod(0o1777)
    assert is_private(folder)


@posix
def test_a_folder_of_somebody_else_is_left_to_numba(monkeypatch):
    folder = find_folder()
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert not is_private(folder)


def test_a_folder_that_the_user_has_chosen_is_used(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "chosen"))
    assert find_folder() is None
    assert made().stats.cache_path.startswith(str(tmp_path / "chosen"))


def test_without_a_place_for_folders_numba_chooses(home, monkeypatch):
    (home / "rhale").write_text("a file")
    assert find_folder() is None
    monkeypatch.setattr(shared_cache, "AppDirs", lambda *_, **__: Home("~/.cache/rhale"))
    find_folder.cache_clear()
    assert find_folder() is None


def test_other_sources_have_another_folder(home, monkeypatch):
    rooms = [home / "trees", home / "kernels"]
    for room in rooms:
        room.mkdir()
        (room / "one.py").write_text("ONE = 1")
    monkeypatch.setattr(shared_cache, "ROOMS", rooms)
    before = digest_of_sources()
    assert digest_of_sources() == before
    (rooms[1] / "one.py").write_text("ONE = 2")
    assert digest_of_sources() != before
