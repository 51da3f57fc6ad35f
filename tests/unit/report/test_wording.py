import math

import pytest

from rhale.output.labels import Captions
from rhale.output.number_format import UNKNOWN_DASH
from rhale.report.sentences import (
    breakable,
    chance_in_words,
    clean,
    fixed,
    format_axis_position,
    format_report_number,
    isolated,
    listed,
    named_output,
    plus_minus,
    shorten_middle,
    straight,
    unit_of,
)


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\ud800", "\x7f"])
def test_signs_that_no_page_can_hold_are_replaced(sign):
    assert clean(f"a{sign}b") == "a\ufffdb"
    clean(f"a{sign}b").encode()


def test_a_name_is_one_line_and_bounded():
    assert clean(" two\u2028lines\r\n here ") == "two lines here"
    assert len(clean("x" * 5_000)) == 1_000


def test_numbers_have_three_digits_and_a_real_minus():
    assert [format_report_number(v) for v in (0.0, -0.51234, 1234.5, 98765.4)] == [
        "0",
        "\u22120.512",
        "1234",
        "98,765",
    ]
    assert [format_report_number(v) for v in (1.5e-7, -2e9, float("inf"))] == [
        "1.5e\u22127",
        "\u22122e9",
        "\u2013",
    ]


def test_a_number_and_its_error_have_the_same_decimals():
    assert plus_minus(1.2345, 0.0312) == "1.234 ± 0.031"
    assert plus_minus(1234.5, 31.2) == "1234 ± 31"
    assert plus_minus(0.5, 0.0) == "0.5"


def test_places_follow_the_length_of_the_axis():
    assert format_axis_position(0.123456, "number", 1.0) == "0.12"
    assert format_axis_position(123_456.0, "number", 100_000.0) == "123,500"
    assert format_axis_position(0.5, "date", 2.0) == "1970-01-01 12:00:00"
    assert format_axis_position(86_400.0, "duration", 864_000.0) == "1 d"


def test_numbers_of_a_column_have_the_same_decimals():
    assert [fixed(v, 9.9) for v in (9.9, -0.1, 0.00004)] == ["9.900", "\u22120.100", "0.000"]
    assert [fixed(v, 9_999.0) for v in (9_999.0, 0.4)] == ["9,999", "0"]
    assert fixed(0.5, 0.0) == "0.5"
    assert fixed(float("nan"), 1.0) == "\u2013"


def test_names_that_begin_alike_are_still_told_apart_when_they_are_cut():
    first, second = (shorten_middle(f"{'a' * 2_000} = {i}", 40) for i in (1, 2))
    assert len(first) <= 40
    assert first != second


def test_a_name_that_turns_the_writing_is_kept_apart():
    assert isolated("plain") == "plain"
    for name in ("\u202eturned", "عمر", "\u2067inside"):
        assert isolated(name) == f"\u2068{name}\u2069"


def test_a_chance_that_is_not_known_is_a_dash():
    assert chance_in_words(math.nan) == UNKNOWN_DASH
    assert chance_in_words(9e-5) == "<\u00a00.0001"


def test_outputs_without_a_name_are_the_prediction():
    words = Captions(outputs={"1": "log-odds of churn = 1", "y": "price"}, units={"y": "$"})
    assert named_output(words, "y0") == "the prediction"
    assert named_output(words, "1") == "the log-odds of churn = 1"
    assert named_output(words, "y", unit=True) == "price ($)"


def test_names_break_between_words_and_nowhere_else():
    assert breakable("HistGradientBoostingRegressor") == [
        "Hist",
        "Gradient",
        "Boosting",
        "Regressor",
    ]
    assert breakable("sensor_000_temperature") == ["sensor_", "000_", "temperature"]
    for name in ("age", "BMI", "__x", "79.6 % of it", "<b>/x"):
        assert "".join(breakable(name)) == name
    assert breakable("79.6 %") == ["79.6 %"]


def test_names_beyond_the_first_are_counted():
    assert listed(["a", "b", "c"], most=2) == "a, b and 1 more"


def test_times_have_the_largest_unit_that_fits_twice():
    assert (unit_of(7200.0), unit_of(90.0)) == ("h", "s")


def test_brackets_behind_a_name_of_another_direction_stay():
    assert straight("sex (92 %)") == "sex (92 %)"
    assert straight("\u05d0 (92 %)") == "\u05d0\u200e (92 %)"
