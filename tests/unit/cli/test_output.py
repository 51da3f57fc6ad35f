import json

import numpy as np
import pytest

import rhale

typer = pytest.importorskip("typer")

from rhale.cli.output import (
    Destinations,
    harmless,
    path_in_words,
    show_ranking,
    without_formulas,
    write_explanation,
)

ROWS = np.linspace(0.0, 1.0, 60).reshape(30, 2)


@pytest.fixture
def fx():
    return rhale.explain(lambda rows: rows[:, 0], ROWS)


def test_a_place_that_cannot_be_written_is_told_before_the_work(tmp_path):
    with pytest.raises(typer.BadParameter, match="cannot be written"):
        Destinations(tmp_path / "missing" / "page.html", None, None)
    with pytest.raises(typer.BadParameter, match="cannot be written"):
        Destinations(tmp_path, None, None)
    (tmp_path / "file").touch()
    with pytest.raises(typer.BadParameter, match="name a folder"):
        Destinations(None, None, tmp_path / "file")


def test_where_it_is_piped_the_ranking_is_the_text_of_the_explanation(fx, capsys):
    show_ranking(fx)
    assert capsys.readouterr().out == f"{fx}\n"


def test_numbers_on_standard_output_can_be_loaded(fx, capsys, tmp_path):
    write_explanation(fx, Destinations(None, "-", None))
    (tmp_path / "fx.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert rhale.load(tmp_path / "fx.json") == fx


def test_files_are_written_where_they_are_wanted(fx, capsys, tmp_path):
    write_explanation(fx, Destinations(None, str(tmp_path / "fx.json"), tmp_path / "pictures"))
    assert json.loads((tmp_path / "fx.json").read_text(encoding="utf-8"))["features"] == [
        "x0",
        "x1",
    ]
    assert len(list((tmp_path / "pictures").iterdir())) == 3
    assert "wrote 3 pictures" in capsys.readouterr().err


def test_ways_are_counted_by_their_names():
    found = {"path": "secants", "ways": {"secants: a": 1, "secants: b": 2}}
    assert path_in_words(found) == "secants: secants for 3 features"


def test_names_cannot_steer_a_terminal_or_a_spreadsheet():
    assert harmless("a\x1b[2Jb") == "a[2Jb"
    assert without_formulas({"feature": ["@SUM(A1)"]}) == {"feature": ["'@SUM(A1)"]}
