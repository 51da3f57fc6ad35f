"""Commands that need no model, in this process."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rhale

pytest.importorskip("typer")

from rhale.cli.app import run


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    rhale.explain(lambda r: r[:, 0] + r[:, 1] ** 2, x).save("one.json")
    rhale.explain(lambda r: 3 * r[:, 0] + r[:, 1] ** 2, x).save("two.json")
    rhale.explain(lambda r: r[:, 0], x, features=0).save("part.json")
    return tmp_path


def ended(*arguments):
    with pytest.raises(SystemExit) as ended:
        run(list(arguments))
    return ended.value.code


@pytest.mark.usefixtures("saved")
def test_compare_ranks_by_the_distance_of_the_curves(capsys):
    assert ended("compare", "one.json", "two.json", "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["feature"] == ["x0", "x1"]
    x = rhale.load("one.json").sample_x[:, 0]
    assert found["size"] == pytest.approx([2 * x.std(), 0], abs=0.03)  # curves x and 3 x
    assert found["importance"][0] == pytest.approx(3 * found["importance_with"][0])


@pytest.mark.usefixtures("saved")
def test_compare_prints_a_table_and_says_what_only_one_has(capsys):
    assert ended("compare", "one.json", "part.json") == 0
    told = capsys.readouterr()
    head, above, header, row, *rest = told.out.splitlines()
    assert head == "part compared with one; zero on average over the rows of one"
    assert above.split()[:2] == ["difference", "relative"]
    assert " ".join(header.split()).startswith("feature ± error to effect no difference differs")
    assert row.startswith("x0 ")
    assert "features only in one: x1" in rest
    assert (
        told.out
        == f"{rhale.compare(rhale.load('one.json'), rhale.load('part.json'), names=['one', 'part'])}\n"
    )


def test_compare_writes_a_table_and_pictures(saved):
    assert ended("compare", "one.json", "two.json", "--out", "d.csv", "--plots", "both") == 0
    assert (saved / "d.csv").read_text().startswith("feature,output,compared,with,size,")
    drawn = sorted(p.name for p in (saved / "both").iterdir())
    assert drawn == ["01_x0.png", "02_x1.png", "all_features.png"]


@pytest.mark.usefixtures("saved")
def test_compare_refuses_a_single_file_and_names_that_are_too_few(capsys):
    assert ended("compare", "one.json") == 2
    assert ended("compare", "one.json", "two.json", "--names", "a") == 1
    assert "2 explanations" in capsys.readouterr().err


@pytest.mark.usefixtures("saved")
def test_a_missing_file_is_one_line(capsys):
    assert ended("compare", "one.json", "none.json") == 1
    assert capsys.readouterr().err == "error: none.json: no such file or directory\n"


def test_a_file_of_another_program_is_one_line(saved, capsys):
    (saved / "other.json").write_text("{}")
    assert ended("report", "other.json") == 1
    assert capsys.readouterr().err.startswith("error: other.json is JSON, but not written by")


def test_a_report_stands_beside_its_numbers(saved):
    pytest.importorskip("vl_convert")
    assert ended("report", "one.json") == 0
    assert (saved / "one.html").stat().st_size > 1000


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "m.txt"],
        ["explain", "m.txt", "d.csv", "--bins", "many"],
        ["explain", "m.txt", "d.csv", "--max-memory", "lots"],
        ["explain", "m.txt", "d.csv", "--allow-pickle", "yes"],
        ["explain", "m.txt", "d.csv", "--rows", "1"],
        ["explain", "m.txt", "d.csv", "--json", "no/such/folder.json"],
        ["explain", "m.txt", "d.csv", "--plots", "one.json"],
        ["explain", "m.txt", "d.csv", "--depth", "1"],
        ["explain", "m.txt", "d.csv", "--regions", "--depth", "9"],
        ["explain", "m.txt", "d.csv", "--regions", "--by", "sex"],
        ["check", "m.txt", "d.csv", "--splitters", "sex"],
        ["refit", "shop:make", "d.csv"],
        ["refit", "m.onnx", "d.csv", "--target", "y"],
        ["refit", "shop:make", "d.csv", "--target", "y", "--scheme", "thirds"],
        ["refit", "shop:make", "d.csv", "--target", "y", "--scheme", "folds", "--n-refits", "7"],
        ["refit", "shop:make", "d.csv", "--target", "y", "--n-refits", "1"],
        ["refit", "shop:make", "d.csv", "--target", "y", "--share", "0.5"],
        ["refit", "shop:make", "d.csv", "--target", "y", "--out", "page.docx"],
        ["refit", "shop:make", "d.csv", "--target", "y", "--out", "no/such/page.html"],
        ["predict"],
    ],
)
def test_wrong_usage_is_told_before_any_work(arguments, capsys):
    assert ended(*arguments) == 2
    assert "Error" in capsys.readouterr().err


def test_the_version_is_told(capsys):
    assert ended("--version") == 0
    assert capsys.readouterr().out.strip() == rhale.__version__


def test_cells_that_a_spreadsheet_would_run_are_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).uniform(-1, 1, (50, 6))
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\tx", "age"]
    fx = rhale.explain(lambda r: r.to_numpy().sum(axis=1), pd.DataFrame(x, columns=names))
    fx.save("one.json")
    assert ended("compare", "one.json", "one.json", "--out", "d.csv") == 0
    found = pd.read_csv("d.csv")
    assert set(found["feature"]) == {*(f"'{name}" for name in names[:5]), "age"}
    assert found["importance"].dtype == float


def test_a_report_of_interactions_stands_beside_their_numbers(saved):
    pytest.importorskip("vl_convert")
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    rhale.interactions(lambda r: r[:, 0] * r[:, 1], x, pairs="all").save("pairs.json")
    assert ended("report", "pairs.json") == 0
    assert "Which features interact" in (saved / "pairs.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("saved")
def test_an_answer_about_something_else_is_refused(monkeypatch, capsys):
    answer = json.loads(Path("one.json").read_text())
    monkeypatch.setattr("rhale.cli.app.ask_child", lambda *_, **__: answer)
    assert ended("interactions", "m.onnx", "a.csv") == 1
    assert "holds no interactions" in capsys.readouterr().err
    assert ended("refit", "shop:make", "a.csv", "--target", "y") == 1
    assert "holds no refits" in capsys.readouterr().err


@pytest.mark.usefixtures("saved")
def test_interactions_are_no_explanation_to_compare(capsys):
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    rhale.interactions(lambda r: r[:, 0] * r[:, 1], x, pairs="all").save("pairs.json")
    assert ended("compare", "one.json", "pairs.json") == 1
    assert "pairs.json" in capsys.readouterr().err


@pytest.mark.usefixtures("saved")
@pytest.mark.filterwarnings("default")
def test_nothing_that_is_told_steers_the_terminal(monkeypatch, capsys):
    """Neither a traceback nor a warning that quotes a name."""

    def fail(*_, **__):
        for _ in range(2):
            warnings.warn("no room for \x1b[31mb", UserWarning, stacklevel=1)
        warnings.warn("Glyph 8 (\x08) missing from font(s) DejaVu Sans.", UserWarning, stacklevel=1)
        msg = "\x1b[2Jgone"
        raise rhale.errors.BadFileError(msg)

    monkeypatch.setattr("rhale.cli.app.read_files", fail)
    assert ended("--debug", "compare", "one.json", "two.json") == 1
    told = capsys.readouterr().err
    assert "\nrhale.errors.BadFileError: [2Jgone\n" in told
    assert told.count("no room for [31mb") == 1
    assert "Glyph" not in told
    assert "\x1b" not in told


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX'")
def test_an_interrupt_while_modules_are_imported_ends_the_command_without_a_traceback():
    code = """
import os, signal, sys
import rhale.cli

class Finder:
    def find_spec(self, name, *_):
        if name == "rhale.cli.options":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
rhale.cli.main()
"""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
