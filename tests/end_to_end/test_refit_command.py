"""`rhale refit` as a process: what it prints, what it writes, what an interrupt leaves."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.children import PATIENCE, wait_until

import rhale
from rhale.stability.result import restore_result

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
linear_model = pytest.importorskip("sklearn.linear_model")

COMMAND = [sys.executable, "-W", "error", "-m", "rhale.cli"]
SHOP = """
import time
from pathlib import Path
from sklearn.linear_model import LinearRegression

NUMBERS = iter(range(100))

def make_line():
    return LinearRegression()

def train(rows, target):
    return LinearRegression().fit(rows, target)

def shaky(rows, target):
    if next(NUMBERS) == 2:
        raise ArithmeticError("a bad draw")
    return train(rows, target)

def endless(rows, target):
    if next(NUMBERS) == 3 and not Path("reached").exists():
        Path("reached").touch()
        time.sleep(600)
    return train(rows, target)

def half(rows):
    return rows
"""


def table(n_rows=200):
    rng = np.random.default_rng(0)
    area, rooms = rng.uniform(20, 90, n_rows), rng.uniform(1, 9, n_rows)
    price = 3 * area + 10 * rooms + 20 * rng.normal(size=n_rows)
    return pd.DataFrame(
        {"area": area, "rooms": rooms, "noise": rng.normal(size=n_rows), "price": price}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("shop")
    (place / "shop.py").write_text(SHOP)
    table().to_csv(place / "rows.csv", index=False)
    table()[:80].to_parquet(place / "part_1.parquet")
    table()[80:].to_parquet(place / "part_2.parquet")
    return place


def started(folder, *arguments):
    return subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "refit", *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def run(folder, *arguments):
    process = started(folder, *arguments)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def in_memory(**settings):
    return rhale.refit(linear_model.LinearRegression(), table(), "price", **settings)


def test_a_learner_and_a_file_give_the_numbers_of_python(folder, tmp_path):
    numbers, learner = tmp_path / "refits.json", "sklearn.linear_model:LinearRegression"
    code, out, err = run(folder, learner, "rows.csv", "--target", "price", "--out", numbers)
    assert (code, err) == (0, f"wrote {numbers}\n")
    found, wanted = rhale.load(numbers), in_memory()
    assert out == f"{found}\n"
    assert found.n_trainings == 20
    for mine, theirs in zip(found.values(), wanted.values(), strict=True):
        np.testing.assert_allclose(mine.effects[7].mean, theirs.effects[7].mean)
        assert mine.p_value == pytest.approx(theirs.p_value)
    assert [effect.name for effect in found.values() if effect.comes_back] == ["area", "rooms"]


def test_options_are_those_of_python(folder, tmp_path):
    numbers, rows = tmp_path / "refits.json", tmp_path / "rows.csv"
    options = ("--scheme", "folds", "--n-refits", "4", "--folds", "2", "--columns", "rooms,area")
    more = ("--method", "ale", "--bins", "5", "--seed", "3", "--jobs", "2", "--json", numbers)
    where = ("part_*.parquet", "--target", "price", "--out", rows)
    code, _, err = run(folder, "shop:train", *where, *options, *more)
    assert code == 0, err
    settings = {"scheme": "folds", "n_refits": 4, "folds": 2, "columns": ["rooms", "area"]}
    wanted = in_memory(**settings, method="ale", bins=5, seed=3)
    found, frame = rhale.load(numbers), pd.read_csv(rows)
    assert found.features == ("rooms", "area")
    np.testing.assert_allclose(found["area"].importances, wanted["area"].importances)
    np.testing.assert_allclose(frame["importance"], wanted.replication()["importance"])


def test_a_training_that_fails_is_named_and_the_others_are_kept(folder):
    options = ("--target", "price", "--n-refits", "6", "--json", "-")
    code, out, err = run(folder, "shop:shaky", "rows.csv", *options)
    assert code == 0
    assert (
        restore_result(json.loads(out), "the answer").n_trainings == 5
    )  # numbers, and nothing else
    assert err == "training 3 failed: ArithmeticError: a bad draw\n"


@pytest.mark.parametrize(
    ("learner", "target", "words"),
    [
        (
            "shop:make_line",
            "prize",
            "--target prize: the table has no such column; did you mean 'pr",
        ),
        ("shop:half", "price", "shop:half must be given rows; give an estimator with fit, a func"),
    ],
)
def test_what_is_wrong_is_one_line(folder, learner, target, words):
    code, out, err = run(folder, learner, "rows.csv", "--target", target)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {words}")
    assert len(err.splitlines()) == 1


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_keeps_the_trainings_that_are_done(folder, tmp_path):
    numbers = tmp_path / "refits.json"
    options = ("--target", "price", "--out", numbers, "--checkpoint", tmp_path / "kept")
    process = started(folder, "shop:endless", "rows.csv", *options)
    wait_until((folder / "reached").exists)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out.startswith("3 retrained models (endless")
    assert "interrupted: 3 of 20 retrainings are done" in out
    assert err.splitlines()[-1] == f"wrote {numbers}"
    assert rhale.load(numbers).n_trainings == 3
    code, out, err = run(folder, "shop:endless", "rows.csv", *options)  # goes on from there
    assert code == 0, err
    assert out.startswith("20 retrained models (endless")
    np.testing.assert_allclose(
        rhale.load(numbers)["area"].importances, in_memory()["area"].importances
    )


@pytest.mark.slow
def test_the_page_and_the_pictures_are_written(folder, tmp_path):
    pytest.importorskip("vl_convert")
    pytest.importorskip("matplotlib")
    page, picture, plots = tmp_path / "page.html", tmp_path / "all.svg", tmp_path / "plots"
    options = ("--n-refits", "4", "--out", page, "--out", picture, "--plots", plots)
    code, _, err = run(
        folder,
        "shop:make_line",
        "rows.csv",
        "--target",
        "price",
        *options,
        "--title",
        "Prices of flats",
    )
    assert code == 0, err
    assert "Prices of flats" in page.read_text(encoding="utf-8")
    assert "<svg" in picture.read_text(encoding="utf-8")
    names = {path.name for path in plots.iterdir()}
    assert names == {"all_features.png", "01_area.png", "02_rooms.png", "03_noise.png"}
