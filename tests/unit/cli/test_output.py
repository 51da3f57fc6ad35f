"""What commands write: places checked before the work, plain tables, no signs that do harm."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import rhale
from rhale.effects.explanation import restore_explanation
from rhale.stability.result import restore_result as unpacked_any

typer = pytest.importorskip("typer")

from rhale.cli.output import (
    Destinations,
    check_endings,
    error_line,
    harmless,
    note_line,
    path_in_words,
    show_check,
    time_in_words,
    without_formulas,
    write_explanation,
    write_interactions,
    write_refits,
)

X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
NOWHERE = Destinations(None, None, None)
CHECKED = {
    "model": "function",
    "rows": 1_234_567,
    "columns": 3,
    "outputs": ["y\x1b[2J"],
    "predictions": [[1.0, 2.0], [3.25, 4.0]],
    "path": "gradient",
    "ways": {},
    "rows_asked": 2_000_000,
    "seconds": math.nan,
    "notes": [],
    "rows_for_regions": 0,
    "seconds_for_regions": 0.0,
}


def explained(slope=1.0):
    return rhale.explain(lambda rows: slope * rows[:, 0] + rows[:, 1], X)


# --- places ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        {"out": "none/page.html"},
        {"out": "folder"},
        {"json": "none/numbers.json"},
        {"plots": "file"},
    ],
)
def test_places_that_cannot_be_written_are_told_before_the_work(place, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    ((option, name),) = place.items()
    where = str(tmp_path / name) if option == "json" else tmp_path / name
    with pytest.raises(typer.BadParameter, match=name):
        Destinations(**{**vars(NOWHERE), option: where})


def test_a_place_that_is_new_or_a_file_already_is_fine(tmp_path):
    (tmp_path / "old.html").touch()
    for name in ("old.html", "new.html"):
        assert Destinations(tmp_path / name, "-", tmp_path / "plots").out == tmp_path / name


# --- an explanation ----------------------------------------------------------------------------


def test_numbers_on_the_screen_stand_alone_and_can_be_read_again(capsys):
    fx = explained()
    write_explanation(fx, Destinations(None, "-", None))
    told = capsys.readouterr()
    assert restore_explanation(json.loads(told.out), "standard output") == fx
    assert told.err == ""


def test_the_ranking_is_plain_where_it_is_piped_and_files_are_told_beside_it(tmp_path, capsys):
    fx, place = explained(), tmp_path / "fx.json"
    write_explanation(fx, Destinations(None, str(place), None))
    told = capsys.readouterr()
    assert told.out == f"{fx}\n"
    assert told.err == f"wrote {place}\n"
    assert rhale.load(place).effects == fx.effects


def test_pictures_are_written_where_they_are_wanted_and_counted(tmp_path, capsys):
    write_explanation(explained(), Destinations(None, None, tmp_path / "new" / "pictures"))
    assert len(list((tmp_path / "new" / "pictures").iterdir())) == 3
    assert "wrote 3 pictures" in capsys.readouterr().err


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_what_curves_explain_is_told_as_print_tells_it(n_outputs, capsys):
    """Curves of a gated slope explain half of it, or so, and with regions all of it."""

    def gated(rows):
        slope = rows[:, 0] * np.where(rows[:, 1] > 0, 3.0, 1.0)
        return slope if n_outputs == 1 else np.column_stack([slope, rows[:, 0]])

    x = np.random.default_rng(1).uniform(-1, 1, (1_000, 2))
    fx = rhale.explain(gated, x, features=0, regions=True)
    write_explanation(fx, NOWHERE)
    (told,) = (line for line in capsys.readouterr().out.splitlines() if "sum of the curves" in line)
    assert told in str(fx).splitlines()
    assert "100 % with regions" in told


def test_a_terminal_shows_who_differs(capsys, monkeypatch):
    x = np.random.default_rng(1).uniform(-1, 1, (1_000, 2))
    fx = rhale.explain(lambda r: r[:, 0] * np.where(r[:, 1] > 0, 3.0, 1.0), x, regions=True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    write_explanation(fx, NOWHERE)
    shown = capsys.readouterr().out
    assert "differs by" in shown
    assert "x1 (9" in shown
    assert "with regions" in shown


# --- a check -----------------------------------------------------------------------------------


def test_a_check_is_told_in_lines_without_those_that_are_empty(capsys):
    show_check({**CHECKED, "seconds": 40}, None)
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["table"] == "1,234,567 rows, 3 columns"
    assert lines["answers"] == "1/2, 3.25/4, ..."
    assert (lines["time"], lines["outputs"]) == ("about 40 seconds", "y[2J")
    assert not {"notes", "regions"} & set(lines)


def test_a_check_tells_what_regions_would_cost(capsys):
    regions = {"rows_for_regions": 2_000_000, "seconds_for_regions": 200}
    show_check({**CHECKED, "seconds": 200, **regions}, None)
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["regions"] == "at most 2,000,000 rows and 3 minutes more"


def test_what_is_no_number_is_null_in_json(capsys):
    show_check(CHECKED, "-")
    found = json.loads(capsys.readouterr().out)
    assert found["seconds"] is None
    assert found["predictions"] == [[1.0, 2.0], [3.25, 4.0]]


def test_ways_are_counted_by_their_first_words():
    ways = {"secants: wide": 2, "secants: narrow": 1, "steps": 1}
    found = path_in_words({"path": "mixed", "ways": ways})
    assert found == "mixed: secants for 3 features, steps for 1 feature"
    assert path_in_words({"path": "gradient", "ways": {}}) == "gradient"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1.4, "a second"), (89, "89 seconds"), (90, "2 minutes"), (5400, "1.5 hours")],
)
def test_times_are_told_roughly(seconds, words):
    assert time_in_words(seconds) == words


# --- tables ------------------------------------------------------------------------------------


def test_texts_that_a_spreadsheet_would_run_get_an_apostrophe_and_numbers_stay():
    found = without_formulas({"feature": ["@SUM(1)", "a=b"], "apart": [-1.0, 2.0]})
    assert found == {"feature": ["'@SUM(1)", "a=b"], "apart": [-1.0, 2.0]}


def test_signs_that_steer_a_terminal_do_not_come_into_csv():
    found = without_formulas({"feature": ["a\x1b[31mb\n", "\x1b=1+1", "\x9bä"]})
    assert found == {"feature": ["a[31mb\n", "'=1+1", "ä"]}


# --- lines beside the result -------------------------------------------------------------------


def test_names_do_not_steer_the_terminal():
    assert harmless("price\x1b[2J\nper month\x07") == "price[2J per month"


@pytest.mark.parametrize(("tell", "line"), [(note_line, "[b]a\n"), (error_line, "error: [b]a\n")])
def test_remarks_go_to_standard_error_letter_by_letter(tell, line, capsys):
    tell("[b]a")  # which is markup to rich
    assert capsys.readouterr() == ("", line)


def paired():
    return rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], X, pairs="all")


def test_pairs_are_ranked_as_print_does_where_they_are_piped(capsys):
    ix = paired()
    write_interactions(ix, NOWHERE)
    assert capsys.readouterr().out == f"{ix}\n"


def test_pairs_can_be_piped_as_json(capsys):
    write_interactions(paired(), Destinations(None, "-", None))
    found = unpacked_any(json.loads(capsys.readouterr().out), "the screen")
    assert found["x0", "x1"].strength == paired()["x0", "x1"].strength


def test_numbers_and_page_of_pairs_are_written_where_they_are_asked_for(tmp_path, capsys):
    pytest.importorskip("vl_convert")
    numbers, page = tmp_path / "ix.json", tmp_path / "ix.html"
    ix = paired()
    write_interactions(ix, Destinations(page, str(numbers), None))
    assert rhale.load(numbers) == ix
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "wrote " in capsys.readouterr().err


def test_pairs_are_laid_out_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    write_interactions(paired(), NOWHERE)
    told = capsys.readouterr().out
    assert "interactions by ale" in told
    assert "x0 \u00d7 x1" in told


# --- refits ------------------------------------------------------------------------------------


def trained(pairs=None, n_refits=4):
    """Trainings by least squares, of which the third one fails."""
    numbers = iter(range(n_refits))

    def learn(rows, target):
        if next(numbers) == 2:
            msg = "a bad draw"
            raise ArithmeticError(msg)
        slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
        return lambda asked: asked @ slopes

    return rhale.refit(learn, X, X[:, 0] + X[:, 1], n_refits=n_refits, pairs=pairs)


def test_what_would_come_back_is_shown_and_failures_are_named_beside_it(capsys):
    rx = trained()
    write_refits(rx, [], NOWHERE)
    told = capsys.readouterr()
    assert told.out == f"{rx}\n"
    assert told.err == "training 3 failed: ArithmeticError: a bad draw\n"


def test_pairs_that_were_measured_follow_the_features(capsys):
    write_refits(trained(pairs="all"), [], NOWHERE)
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("") + 1
    header, row = lines[start : start + 2]
    assert header.split("  ")[0] == "pair"
    assert header.split()[-1] == "stable"
    assert row.startswith("x0 \u00d7 x1")
    assert row.split()[-1] == "no"  # a plane has none


@pytest.mark.parametrize(
    ("name", "verb"),
    [("a.html", "report"), ("a.HTM", "report"), ("a.json", "save"), ("a.svg", "plot")],
)
def test_the_ending_of_a_file_says_what_is_written(name, verb, tmp_path, monkeypatch, capsys):
    asked = []
    for one in ("report", "save"):
        monkeypatch.setattr(
            rhale.Refits, one, lambda _, path, one=one, **more: asked.append((one, path, more))
        )
    monkeypatch.setattr(
        "rhale.cli.output.write_overview", lambda _, path, __: asked.append(("plot", path, {}))
    )
    path = tmp_path / name
    write_refits(trained(), [path], NOWHERE, "Prices")
    assert asked == [(verb, path, {"title": "Prices"} if verb == "report" else {})]
    assert f"wrote {path}" in capsys.readouterr().err


def test_tables_hold_what_would_come_back(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rx = trained()
    write_refits(rx, [tmp_path / "a.csv", tmp_path / "a.parquet"], NOWHERE)
    wanted = rx.replication(backend="pandas")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), wanted)
    found = pd.read_csv(tmp_path / "a.csv")
    assert list(found.columns) == list(wanted.columns)
    assert found["importance"].tolist() == pytest.approx(wanted["importance"].tolist())


def test_files_without_a_known_ending_or_place_are_told_before_the_work(tmp_path):
    check_endings([tmp_path / "a.html", tmp_path / "a.PDF"])
    with pytest.raises(typer.BadParameter, match=r"a\.xls: the ending says what is written; use"):
        check_endings([tmp_path / "a.xls"])
    with pytest.raises(typer.BadParameter, match="cannot be written"):
        check_endings([Path("none/a.csv")])
