import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.interaction.report import MOST_SECTION_PAIRS, MOST_SECTION_ROWS
from rhale.report.effects import add_sections, make_page
from rhale.report.page import render


def predict(rows):
    """Two outputs; only the second has an interaction."""
    return np.column_stack([rows[:, 0], rows[:, 0] * rows[:, 1] + rows[:, 2]])


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(-1, 1, size=(300, 3))


@pytest.fixture(scope="module")
def page(rows):
    fx = rhale.explain(predict, rows)
    return make_page(fx.effects, fx.provenance)


def test_pairs_stand_with_the_output_that_they_are_about(page, rows):
    ix = rhale.interactions(predict, rows, output=1)
    shown = add_sections(page, interactions=ix).sections[1]
    assert [output.place for output in shown.outputs] == [1]
    assert [output.name for output in shown.outputs] == ["prediction 2"]


def test_a_section_is_shorter_than_a_page_of_its_own(page, rows):
    ix = rhale.interactions(lambda r: predict(r) * r[:, [2]], rows)
    (_, second) = add_sections(page, interactions=ix).sections[1].outputs
    assert len(second.ranking) <= MOST_SECTION_ROWS
    assert len(second.pairs) <= MOST_SECTION_PAIRS


def test_refits_stand_below_the_features(page, rows):
    models = [lambda r, by=by: by * predict(r) for by in (1.0, 1.1, 0.9)]
    train = [np.arange(i, 300, 2) for i in (0, 1, 0)]
    rx = rhale.refits(models, rows, train=train)
    shown = add_sections(page, refits=rx).sections[1]
    assert [output.place for output in shown.outputs] == [0, 1]
    assert {part.row.names[0] for part in shown.outputs[0].parts} == {"x0", "x1", "x2"}


def test_other_outputs_are_refused_with_what_to_do(page, rows):
    ix = rhale.interactions(lambda r: np.column_stack([predict(r), r[:, 0]]), rows)
    with pytest.raises(BadSettingError, match=r"'y2'.*about 'y0', 'y1'.*same model"):
        add_sections(page, interactions=ix)


def test_a_comparison_tells_what_differs_and_whose_rows_moved(page, rows):
    fx = rhale.explain(predict, rows)
    other = rhale.explain(lambda r: predict(r) + 3 * r[:, [0]] ** 2, np.add(rows, [0.0, 0.9, 0.0]))
    made = add_sections(page, comparison=rhale.compare({"<b>old": fx, "new": other}))
    assert [output.place for output in made.sections[1].outputs] == [0, 1]
    told = {part.name for part in made.sections[1].outputs[0].parts if part.is_told}
    assert told == {"x0", "x1"}  # a curve that differs, and rows that moved
    text = render(made)
    assert "Comparison: new compared with &lt;b&gt;old" in text
    assert "<b>old" not in text
    assert ".look1-line" in text


def test_a_comparison_of_other_outputs_is_refused(page, rows):
    fx = rhale.explain(lambda r: r[:, :1], rows, output=0)
    names = rhale.compare(fx, fx, names=["a", "b"])
    assert add_sections(page, comparison=names).sections[1].outputs[0].place == 0
    fx = rhale.explain(lambda r: np.column_stack([r, r]), rows, output=[4, 5])
    with pytest.raises(BadSettingError, match="comparison= are about the output 'y4'"):
        add_sections(page, comparison=rhale.compare(fx, fx, names=["a", "b"]))


def test_every_section_has_the_heading_that_people_search_for(page, rows):
    fx = rhale.explain(predict, rows)
    models = [lambda r, by=by: by * predict(r) for by in (1.0, 1.1, 0.9)]
    made = add_sections(
        page,
        interactions=rhale.interactions(predict, rows, output=1),
        refits=rhale.refits(models, rows, train=[np.arange(i, 300, 2) for i in (0, 1, 0)]),
        comparison=rhale.compare({"old": fx, "new": fx}),
    )
    assert [section.kind for section in made.sections] == [
        "effects",
        "interactions",
        "stability",
        "comparison",
    ]
    text = render(made)
    for heading in ("Effects", "Interactions", "Stability (retraining)", "Comparison: new"):
        assert f"<h2>{heading}" in text or f'title">{heading}' in text
    assert ">Data drift</th>" in text
    assert text.count("<pre><code>") == 4
