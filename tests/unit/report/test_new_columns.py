"""A column that is added to the list of its kind of rows is on the page, without a word in a template."""

import numpy as np
import pytest

import rhale
from rhale.comparison import report as comparison
from rhale.interaction import report as interaction
from rhale.output.columns import Column
from rhale.report import effects
from rhale.stability import report as stability

X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
ADDED = Column("added", "added up", lambda _: "<b>17")


def product(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 0]


MADE = {
    "effects": (effects, "EFFECT_COLUMNS", lambda: rhale.explain(product, X)),
    "pairs": (interaction, "PAIR_COLUMNS", lambda: rhale.interactions(product, X)),
    "refits": (
        stability,
        "REFIT_COLUMNS",
        lambda: rhale.refits([product] * 2, X, train=[np.arange(150), np.arange(150, 300)]),
    ),
    "comparison": (
        comparison,
        "COMPARISON_COLUMNS",
        lambda: rhale.compare(rhale.explain(product, X), rhale.explain(product, X / 2)),
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_new_column_is_on_the_page_by_itself(name, monkeypatch, tmp_path):
    module, listed, make = MADE[name]
    result = make()
    before = result.report(tmp_path / "before.html").read_text(encoding="utf-8")
    monkeypatch.setattr(module, listed, (*getattr(module, listed), ADDED))
    after = result.report(tmp_path / "after.html").read_text(encoding="utf-8")
    assert "added up" not in before
    assert "added up</th>" in after
    assert ">&lt;b&gt;17</td>" in after
