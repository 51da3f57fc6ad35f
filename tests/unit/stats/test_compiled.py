"""What is compiled is kept in a folder that the user alone can write to, or nowhere."""

import ast
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from rhale.stats import jit
from rhale.stats.jit import (
    can_compile,
    digest_of_sources,
    find_folder,
    is_private,
    njit,
    will_compile,
    writable,
)

posix = pytest.mark.skipif(os.name == "nt", reason="who may write is told by other means there")


@pytest.fixture
def home(monkeypatch, tmp_path):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(jit, "cache_home", lambda: tmp_path / "home")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    find_folder.cache_clear()
    yield tmp_path / "home"
    find_folder.cache_clear()


def made(*types):
    @njit(*types, cache=True)
    def thrice(number):
        return 3 * number

    return thrice


# --- where it is kept ----------------------------------------------------------------------------


@posix
def test_the_folder_is_made_for_the_user_alone(home):
    folder = find_folder()
    assert folder.is_relative_to(home)
    assert [one.stat().st_mode & 0o777 for one in (folder, folder.parent)] == [0o700] * 2


def test_what_was_compiled_once_is_found_by_whoever_comes_later(home):
    first, later = made(), made()
    assert first(2) == later(2) == 6
    assert sum(first.stats.cache_hits.values()) == 0
    assert sum(later.stats.cache_hits.values()) == 1
    assert first.stats.cache_path.startswith(str(home))


def kept_files(folder):
    return [path for path in folder.rglob("*") if path.suffix in (".nbi", ".nbc")]


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_nothing_is_kept_in_a_folder_that_others_can_write_to(home, mode):
    inner = find_folder()
    for folder in (inner, inner.parent, home):
        folder.chmod(mode)
        assert not is_private(inner)
        find_folder.cache_clear()
        assert find_folder() is None
        one = made()
        assert one(2) == 6
        assert not one.stats.cache_path
        folder.chmod(0o700)
    assert is_private(inner)
    assert kept_files(home) == []


OPEN_HOME = """
from numba.core import caching

class NoPlace:
    @classmethod
    def from_function(cls, *_):
        return None

places = caching.CacheImpl._locator_classes
places[:] = [NoPlace if "InTree" in one.__name__ else one for one in places]
import rhale.stats.hash_loop, rhale.models.trees.walk
for one in (rhale.stats.hash_loop.mix_hash, rhale.models.trees.walk.walk_change_trees):
    assert not one.stats.cache_path, one.stats.cache_path
assert rhale.stats.hash_loop.mix_hash.signatures  # compiled, and not kept
"""


@posix
def test_with_an_open_cache_folder_and_a_package_that_cannot_be_written_there_is_no_cache(tmp_path):
    """numba by itself would take `numba` in that folder: whoever plants code there has it run."""
    pytest.importorskip("numba")
    opened = tmp_path / "cache"
    opened.mkdir()
    opened.chmod(0o777)
    own = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    own |= {"XDG_CACHE_HOME": str(opened), "HOME": str(opened)}
    subprocess.run([sys.executable, "-c", OPEN_HOME], check=True, env=own)  # noqa: S603
    assert kept_files(opened) == []


@posix
def test_where_numba_finds_no_place_in_the_folder_nothing_is_kept(home, monkeypatch):
    numba = pytest.importorskip("numba")
    elsewhere = home / "elsewhere"
    home.mkdir()
    (home / "file").touch()
    monkeypatch.setattr(jit, "find_folder", lambda: home / "file")  # no folder can be made
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere))
    one = made()
    assert one(2) == 6
    assert not one.stats.cache_path
    assert numba.config.CACHE_DIR == ""


@posix
def test_others_cannot_replace_folders_in_one_where_each_keeps_to_his_own(home):
    folder = find_folder()
    home.chmod(0o1777)
    assert is_private(folder)


@posix
@pytest.mark.usefixtures("home")
def test_a_folder_of_somebody_else_is_not_private(monkeypatch):
    folder = find_folder()
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert not is_private(folder)


@posix
def test_links_on_the_way_are_followed_once(home, tmp_path):
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    home.symlink_to(real)
    folder = find_folder()
    assert folder.is_relative_to(real.resolve())
    home.unlink()
    home.symlink_to(tmp_path)  # whoever may change the link cannot put another folder in its place
    assert find_folder() == folder


@pytest.mark.usefixtures("home")
def test_a_folder_that_the_user_has_chosen_is_used(monkeypatch, tmp_path):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "chosen"))
    assert find_folder() == tmp_path / "chosen"
    assert made().stats.cache_path.startswith(str(tmp_path / "chosen"))


def test_without_a_place_for_folders_nothing_is_kept(home, monkeypatch):
    home.write_text("a file")
    assert find_folder() is None
    find_folder.cache_clear()

    def no_home():
        raise RuntimeError

    monkeypatch.setattr(jit, "cache_home", no_home)
    assert find_folder() is None


def test_other_sources_have_another_folder(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("ONE = 1")
    monkeypatch.setattr(jit, "SOURCES", [tmp_path])
    before = digest_of_sources()
    assert digest_of_sources() == before
    (tmp_path / "one.py").write_text("ONE = 2")
    assert digest_of_sources() != before


def test_all_that_compiled_modules_import_is_among_the_sources():
    plain = {
        "rhale.errors",
        "rhale.system",
        "rhale.models.questions",
    }  # names of types, and a logger
    for path in jit.HOUSE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        if path.name == "jit.py" or not any(getattr(n.func, "id", "") == "njit" for n in names):
            continue
        assert path.parent in jit.SOURCES
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module.startswith("rhale."):
                folder = jit.HOUSE.joinpath(*node.module.split(".")[1:-1])
                if folder.joinpath(node.module.rpartition(".")[2]).is_dir():  # a package of modules
                    folder = folder / node.module.rpartition(".")[2]
                assert node.module in plain or folder in jit.SOURCES, (path, node.module)


# --- what is compiled ----------------------------------------------------------------------------


@pytest.mark.usefixtures("home")
def test_a_function_is_compiled_if_no_cache_of_this_python_has_it(tmp_path):
    one = made()
    stats = SimpleNamespace(cache_path=tmp_path)
    elsewhere = SimpleNamespace(
        signatures=[], stats=stats, py_func=one.py_func, __name__=one.__name__
    )
    assert will_compile(elsewhere)
    (tmp_path / "test_compiled.thrice-1.py27.nbi").touch()
    assert will_compile(elsewhere)
    (tmp_path / "test_compiled.thrice-1.py{}{}.nbi".format(*sys.version_info)).touch()
    assert not will_compile(elsewhere)


@pytest.mark.usefixtures("home")
def test_a_function_for_certain_types_is_compiled_at_once_and_never_again():
    numba = pytest.importorskip("numba")

    @njit(numba.types.Array(numba.types.float64, 1, "A", readonly=True), cache=True)
    def first(numbers):
        return numbers[0]

    assert len(first.signatures) == 1
    even = np.arange(6.0)[::2]
    even.flags.writeable = False
    assert first(even + 5) == 5
    assert first(even) == 0
    with pytest.raises(TypeError, match="No matching definition"):
        first(np.ones(3, dtype=np.float32))


def test_without_numba_or_where_it_is_switched_off_a_function_stays_as_it_is(monkeypatch):
    numba = pytest.importorskip("numba")
    assert can_compile() is not numba.config.DISABLE_JIT
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert not can_compile()
    assert made()(2) == 6
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not can_compile()
    assert made("types of numba")(2) == 6
    assert not will_compile(made())


def test_rows_are_copied_only_where_numba_would_compile_anew():
    rows = np.arange(6.0).reshape(3, 2)
    assert writable(rows) is rows
    read_only = rows.view()
    read_only.flags.writeable = False
    for other in (read_only, rows.T, rows[:, :1], rows.astype(np.float32)):
        found = writable(other)
        assert found.flags.c_contiguous
        assert found.flags.writeable
        assert found.dtype == np.float64
        assert found.tolist() == other.tolist()
