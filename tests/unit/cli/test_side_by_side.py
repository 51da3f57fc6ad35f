import json
from pathlib import Path

import pytest

typer = pytest.importorskip("typer")

from tests.compared_by_hand import explained, straight

from rhale.cli.compare import name_files, read_files, write_all
from rhale.cli.output import Destinations

NOWHERE = Destinations(None, None, None)


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, slopes in zip(paths, ((1.0, 1.0), (1.0, 3.0)), strict=True):
        explained(slopes).save(path)
    return paths


def test_files_are_compared_under_their_names_or_given_ones(files):
    assert read_files(files, None, None).names == ("old", "new")
    cx = read_files(files, "champion, challenger", "challenger")
    assert cx.names == ("champion", "challenger")
    assert cx.zero_in_words == "on average over the rows of challenger"
    with pytest.raises(typer.BadParameter, match="at least 2 files"):
        read_files(files[:1], None, None)


def test_files_of_one_name_are_told_apart():
    assert name_files([Path("a/x.json"), Path("b/x.json")]) == ["x (1)", "x (2)"]


def test_the_table_on_screen_is_that_of_python(capsys):
    cx = straight()
    write_all(cx, [], NOWHERE)
    assert capsys.readouterr().out == f"{cx}\n"


def test_the_ending_says_what_is_written(files, tmp_path, capsys):
    pytest.importorskip("vl_convert")
    cx = read_files(files, None, None)
    names = ("c.html", "c.csv", "c.json", "c.png")
    write_all(cx, [tmp_path / name for name in names], NOWHERE, "A title")
    assert "A title</h1>" in (tmp_path / "c.html").read_text(encoding="utf-8")
    assert (tmp_path / "c.csv").read_text().startswith("feature,output,compared,with,size")
    assert json.loads((tmp_path / "c.json").read_text())["feature"] == ["x1", "x0"]
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().err.count("wrote") == 4


def test_numbers_alone_go_to_standard_output(files, capsys):
    write_all(read_files(files, None, None), [], Destinations(None, "-", None))
    assert json.loads(capsys.readouterr().out)["names"] == ["old", "new"]
