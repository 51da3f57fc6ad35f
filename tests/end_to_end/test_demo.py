"""The demo runs as a process, quietly, and leaves tables and pictures behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rhale

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n\x1a\n"
ALWAYS = {"all_features.png", "one_feature.png", "three_inks.png", "trees.json", "trees.html"}
WITH_TORCH = {"both_models.png", "network.json", "network.html"}
WITHOUT = """
import importlib.util
import sys

blocked = {"torch", "numba", "treelite", "pandas"}
real = importlib.util.find_spec


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Blocked())
importlib.util.find_spec = lambda name, *more: None if name in blocked else real(name, *more)
from rhale.cli import main

main()
"""


def run_demo(folder, *how):
    pytest.importorskip("sklearn")
    pytest.importorskip("typer")
    pytest.importorskip("vl_convert")
    done = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-W", "error", *how, "demo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=1_200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done, folder / "demo"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The tour in a light environment: no torch, no numba, no pandas."""
    return run_demo(tmp_path_factory.mktemp("light"), "-c", WITHOUT)


def test_it_warns_of_nothing(ran):
    done, _ = ran
    assert done.stderr == ""


def test_it_prints_a_table_and_names_every_file(ran):
    done, folder = ran
    assert "boosted trees: R²" in done.stdout
    assert "torch is not installed" in done.stdout
    assert done.stdout.count("importance ± error") == 1
    for path in folder.iterdir():
        assert f"demo{os.sep}{path.name}" in done.stdout


def test_it_ends_with_the_address_of_the_page(ran):
    done, folder = ran
    assert done.stdout.splitlines()[-1] == f"Open the page: {(folder / 'trees.html').as_uri()}"


def test_it_writes_pictures_numbers_and_a_page(ran):
    _, folder = ran
    assert {path.name for path in folder.iterdir()} == ALWAYS


def test_its_trees_are_asked_as_a_black_box_and_it_says_so(ran):
    done, folder = ran
    fx = rhale.load(folder / "trees.json")
    assert not fx.provenance["answers_walked"]
    assert fx["bmi"].stairs is None
    assert "numba is not installed" in done.stdout


def test_pictures_have_a_sensible_size(ran):
    _, folder = ran
    for path in folder.glob("*.png"):
        content = path.read_bytes()
        width, height = (int.from_bytes(content[i : i + 4]) for i in (16, 20))
        assert content.startswith(PNG)
        assert 400 <= width <= 4000, path.name
        assert 300 <= height <= 4000, path.name
        assert 10_000 <= len(content) <= 2_000_000, path.name


@pytest.mark.slow
def test_a_network_joins_where_torch_is_installed(tmp_path):
    pytest.importorskip("torch")
    done, folder = run_demo(tmp_path, "-m", "rhale.cli")
    assert done.stderr.replace("\r", "") == "" or "compiling" in done.stderr
    assert "neural network: R²" in done.stdout
    assert done.stdout.count("importance ± error") == 2
    assert {path.name for path in folder.iterdir()} == ALWAYS | WITH_TORCH
    assert (
        rhale.load(folder / "network.json").features == rhale.load(folder / "trees.json").features
    )
