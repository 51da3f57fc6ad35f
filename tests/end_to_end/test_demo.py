"""The demo runs as a process, quietly, and leaves tables and pictures behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rhale

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n\x1a\n"
SUFFIXES = {".png": 6, ".json": 2, ".csv": 2, ".html": 2}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    pytest.importorskip("typer")
    pytest.importorskip("altair")
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "rhale.cli", "demo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=1_200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done, folder / "demo"


def test_it_warns_of_nothing(ran):
    done, _ = ran
    assert done.stderr == ""


def test_it_names_both_models_and_every_file(ran):
    done, folder = ran
    assert "boosted trees: R²" in done.stdout
    assert "neural network: R²" in done.stdout
    assert done.stdout.count("importance ± error") == 2
    for path in folder.iterdir():
        assert f"demo{os.sep}{path.name}" in done.stdout


def test_it_writes_pictures_and_numbers(ran):
    _, folder = ran
    paths = sorted(folder.iterdir())
    for suffix, wanted in SUFFIXES.items():
        assert sum(path.suffix == suffix for path in paths) == wanted
    assert len(paths) == sum(SUFFIXES.values())


def test_pictures_have_a_sensible_size(ran):
    _, folder = ran
    for path in folder.glob("*.png"):
        content = path.read_bytes()
        width, height = (int.from_bytes(content[i : i + 4]) for i in (16, 20))
        assert content.startswith(PNG)
        assert 400 <= width <= 4000, path.name
        assert 300 <= height <= 4000, path.name
        assert 10_000 <= len(content) <= 2_000_000, path.name


@pytest.mark.parametrize("name", ["boosted_trees", "neural_network"])
def test_numbers_can_be_read_back(ran, name):
    _, folder = ran
    fx = rhale.load(folder / f"{name}.json")
    assert "bmi" in fx.features
    assert (folder / f"{name}_{fx.ranked()[0].name}.png").exists()
    header, *rows = (folder / f"{name}_bins.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("feature")
    assert len(rows) == sum(effect.mean.size for effect in fx)
