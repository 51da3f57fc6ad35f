import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.report.page import make_page
from rhale.report.sections import FEW, add_interactions, add_refits


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
    shown = add_interactions(page, ix).interactions
    assert [output.place for output in shown.outputs] == [1]
    assert [output.name for output in shown.outputs] == ["prediction 2"]


def test_a_section_is_shorter_than_a_page_of_its_own(page, rows):
    ix = rhale.interactions(lambda r: predict(r) * r[:, [2]], rows)
    (_, second) = add_interactions(page, ix).interactions.outputs
    assert len(second.ranking) <= FEW.rows
    assert len(second.pairs) <= FEW.pairs


def test_refits_stand_below_the_features(page, rows):
    models = [lambda r, by=by: by * predict(r) for by in (1.0, 1.1, 0.9)]
    train = [np.arange(i, 300, 2) for i in (0, 1, 0)]
    rx = rhale.refits(models, rows, train=train)
    shown = add_refits(page, rx).refits
    assert [output.place for output in shown.outputs] == [0, 1]
    assert {part.row.names[0] for part in shown.outputs[0].parts} == {"x0", "x1", "x2"}


def test_other_outputs_are_refused_with_what_to_do(page, rows):
    ix = rhale.interactions(lambda r: np.column_stack([predict(r), r[:, 0]]), rows)
    with pytest.raises(BadSettingError, match=r"'y2'.*about 'y0', 'y1'.*same model"):
        add_interactions(page, ix)
