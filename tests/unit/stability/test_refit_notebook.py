from dataclasses import replace

from tests.unit.conftest import NASTY
from tests.unit.report.refit_cases import renamed, straight, two_outputs, with_levels, with_pairs
from tests.unit.report.test_render import parsed

from rhale.output.columns import MAX_LISTED_ROWS
from rhale.output.number_format import write_between
from rhale.stability.table import list_refits


def test_what_comes_back_is_first_with_its_numbers():
    rx = straight()
    html = rx._repr_html_()
    first = html.split("<tbody><tr>")[1].split("</tr>")[0]
    low, high = rx["age"].importance_ci()
    assert "<bdi>age</bdi>" in first
    assert write_between(rx["age"].importance, low, high) in first
    assert "<bdi>yes</bdi></td>" in first
    assert "script" not in html


def test_notes_and_failures_are_below():
    html = with_pairs(straight())._repr_html_()
    assert "<p>training 3 failed: it &lt;b&gt;broke&lt;/b&gt;</p>" in html
    assert "<p>6 trainings tell little" in html


def test_several_outputs_are_named():
    assert ">output</th>" in two_outputs()._repr_html_()
    assert ">output</th>" not in straight()._repr_html_()


def test_words_of_the_user_make_no_element():
    nasty = renamed(with_levels(), NASTY)
    tags = {tag for tag, _ in parsed(nasty._repr_html_()).tags}
    assert tags <= {tag for tag, _ in parsed(straight()._repr_html_()).tags} | {"p"}


def test_what_is_left_out_is_counted():
    rx = straight()
    many = rx.ranked() * MAX_LISTED_ROWS
    html = list_refits(many, rx.provenance, ()).as_html()
    assert html.count("<tr>") == MAX_LISTED_ROWS + 1
    assert f"and {MAX_LISTED_ROWS} more: rx.replication() has all" in html


def test_nothing_known_is_a_dash():
    rx = straight()
    overlap = replace(rx.overlap, shared=rx.overlap.shared * 0 + 0.02)
    assert ">–</td>" in replace(rx, overlap=overlap)._repr_html_()  # noqa: RUF001 - as shown


def test_one_feature_shows_its_trainings():
    rx = straight()
    html = rx.effects[0]._repr_html_()
    assert f"mean of {rx.effects[0].n_trainings} retrainings" in html
    assert "interval between retrainings" in html
    assert "significant (p" in html
    assert len(html) < 100_000
    assert "<script" not in html
