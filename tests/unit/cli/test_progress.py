"""How far the work is: in few letters, and for those alone who watch."""

from types import SimpleNamespace

import pytest

pytest.importorskip("rich")

from rhale.cli.output import LeftColumn, RateColumn, show_progress, write_short_count


def task(**fields):
    usual = {"total": None, "completed": 0, "speed": None, "finished_speed": None}
    usual["fields"] = {"unit": fields.pop("unit", "rows")}
    return SimpleNamespace(**{**usual, **fields})


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1_000, "1k"), (12_345, "12.3k"), (2_500_000, "2.5M"), (7e9, "7G")],
)
def test_large_numbers_are_written_in_few_letters(number, text):
    assert write_short_count(number) == text


def test_rows_are_counted_once_their_number_is_known():
    assert RateColumn().render(task()).plain == ""
    assert RateColumn().render(task(total=2_000, completed=500)).plain == "500 of 2k rows"
    of_refits = task(total=20, completed=3, unit="trainings")
    assert RateColumn().render(of_refits).plain == "3 of 20 trainings"


def test_the_speed_at_the_end_counts_more_than_the_last_one():
    on_the_way = task(total=2_000, completed=500, speed=100)
    assert RateColumn().render(on_the_way).plain == "500 of 2k rows, 100/s"
    on_the_way.finished_speed = 250
    assert RateColumn().render(on_the_way).plain.endswith(", 250/s")


def test_nothing_is_left_before_the_number_of_rows_is_known():
    assert LeftColumn().render(task()).plain == ""


def test_without_a_terminal_notes_alone_are_told(capsys):
    with show_progress() as hear:
        hear({"doing": "explaining"})
        hear({"done": 1, "of": 2})
        hear({"note": "column\x1b[2J y is left out"})
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "note: column[2J y is left out\n")
