import pytest
from tests.compared_by_hand import drifted, explained, straight, with_everything

import rhale
from rhale.comparison.table import (
    list_comparison,
    write_difference_verdict,
    write_drift,
    write_signed,
)


def test_the_table_ranks_and_says_how_many_differ():
    head, above, header, first, second, count, *_ = str(straight()).splitlines()
    assert head == "new compared with old; zero on average over the rows of old"
    assert (above.split()[0], header.split()[:3]) == ("difference", ["feature", "±", "error"])
    assert "data drift" in above
    assert max(map(len, (above, header, first, second))) <= 140
    assert (first.split()[0], second.split()[0]) == ("x1", "x0")
    assert "yes" in first.split()
    assert "no" in second.split()
    assert count == "curves differ in 1 of 2 features; data drift: 0 of 2 features drifted"


def test_long_rankings_are_cut_and_counted():
    cx = straight()
    told = list_comparison(cx.ranked(), cx.names, cx.zero_in_words, (), most=1)
    assert "and 1 that differ less: cx.summary() has all" in str(told).splitlines()


def test_several_explanations_have_a_column_of_names():
    headers, *rows = with_everything()._listing().tables[0].texts
    assert headers[:2] == ["feature", "compared"]
    assert [row[1] for row in rows[:2]] == ["next", "last"]
    assert rows[-1][headers.index("differs")] == ""  # one value


def test_rows_that_moved_are_told_with_their_median():
    assert write_drift(drifted()["x0"].against()) == "50 % (+0.500)"
    assert write_drift(drifted()["x1"].against()) == "0 %"


def test_a_difference_that_is_sure_but_tiny_is_hardly_one():
    one = rhale.compare(explained(), explained((1.0, 1.005)))["x1"]
    assert write_difference_verdict(one.against()) == "hardly"


@pytest.mark.parametrize(("value", "words"), [(0.0, "0"), (1.5, "+1.50"), (-2.0, "-2.00")])
def test_differences_have_a_sign(value, words):
    assert write_signed(value) == words
