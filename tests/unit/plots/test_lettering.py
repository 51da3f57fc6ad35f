import pytest

from rhale.plots.labels import (
    drawable,
    fit_name,
    folded,
    folded_first,
    format_label_number,
    join_names,
    small_percent,
    wrapped,
)


@pytest.mark.parametrize("length", [8, 9, 20])
def test_a_long_name_keeps_its_two_ends(length):
    name = fit_name("first" + "x" * 50 + "last", length)
    assert len(name) == length
    assert name.startswith("fir")
    assert name.endswith("st")
    assert "…" in name


def test_a_short_name_stays_as_it_is():
    assert fit_name("$a_b$ <c>", 9) == "$a_b$ <c>"


def test_a_name_is_one_line():
    assert fit_name(" a\n\tb ", 9) == "a b"


def test_letters_without_a_glyph_get_a_stand_in():
    assert fit_name("a\U0001f995b", 9) == "a\u25a1b"


def test_signs_that_no_svg_may_hold_get_a_stand_in():
    assert fit_name("a\x00b\x1b[0m\x7f\ud800\uffff", 20) == "a\u25a1b\u25a1[0m\u25a1\u25a1\u25a1"
    assert drawable("two\nlines\x01") == "two\nlines\u25a1"


def test_a_name_is_wrapped_once():
    assert wrapped("abcdef", 6) == "abcdef"
    assert wrapped("abcdefgh", 6) == "abcdef\ngh"
    assert wrapped("a" * 50, 6).count("\n") == 1


def test_equal_names_are_written_once():
    assert join_names(["a", "b", "a"], 20) == "a / b"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1236.5, "1236"),
        (45000.0, "45,000"),
        (2.5e8, "2.5e8"),
        (-2e-7, "\u22122e\u22127"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_are_short(value, text):
    assert format_label_number(value) == text


def test_a_sentence_is_broken_between_words_and_never_beside_a_sign():
    words = "sex and smoker explain 92 ± 1 % of the spread"
    assert folded(words, 26).split("\n") == ["sex and smoker explain", "92 ± 1 % of the spread"]
    assert folded("city = Bern and age ≤ 40", 14).split("\n") == ["city = Bern", "and age ≤ 40"]


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_sentence_has_no_more_lines_than_asked_for(lines):
    for sentence in ("word " * 60, "x" * 300, "a"):
        parts = folded(sentence, 20, lines).split("\n")
        assert len(parts) <= lines
        assert all(len(part) <= 20 for part in parts)


@pytest.mark.parametrize(
    ("name", "length", "lines"),
    [
        ("sensor_000_temperature_mean", 20, ["sensor_000_", "temperature_mean"]),
        ("od280/od315_of_diluted_wines", 24, ["od280/od315_of_diluted_", "wines"]),
        ("bank transfer (automatic)", 14, ["bank transfer", "(automatic)"]),
        ("bank transfer", 13, ["bank transfer"]),
        ("a Donaudampfschifffahrt", 12, ["a Donaudampf", "schifffahrt"]),
    ],
)
def test_a_name_is_broken_behind_words_and_inside_only_of_long_ones(name, length, lines):
    assert wrapped(name, length).split("\n") == lines


def test_the_first_sentence_that_has_room_is_written():
    sentences = ["a sentence of very many words", "a few words", "words"]
    assert [folded_first(sentences, length, lines=1) for length in (30, 12, 6)] == sentences


def test_hardly_anything_is_not_written_with_a_power_of_ten():
    assert [small_percent(s) for s in (0.5, 1e-4, 9e-5, 0.0)] == [
        "50 %",
        "0.01 %",
        "< 0.01 %",
        "0 %",
    ]


def test_a_number_stays_with_the_word_before_it():
    sentence = "effect on the probability of class 1 (centred)"
    assert folded(sentence, 34, lines=3) == "effect on the probability of\nclass 1 (centred)"
