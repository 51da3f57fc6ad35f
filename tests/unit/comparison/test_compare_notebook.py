from tests.compared_by_hand import explained, straight, with_everything

import rhale

NASTY = "<img src=x onerror=alert(1)>"


def test_the_table_is_there_without_scripts():
    text = straight()._repr_html_()
    assert text.count("<tr>") == 3
    assert "<script" not in text
    assert "new compared with old" in text


def test_hostile_names_are_words():
    text = rhale.compare({NASTY: explained(names=(NASTY, "b")), "c": explained(names=(NASTY, "b"))})
    assert NASTY not in text._repr_html_()


def test_several_explanations_have_rows_of_their_own():
    assert with_everything()._repr_html_().count("<tr>") == 9  # four features, twice, and heads
