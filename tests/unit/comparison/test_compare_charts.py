import json

import pytest

pytest.importorskip("vl_convert")

from rhale.comparison.charts import compile_compare_charts
from rhale.output import colours
from rhale.report.charts import SERIES_DASHES


def test_charts_are_made_for_what_a_page_shows():
    assert set(compile_compare_charts({"curve"}, 2)) == {"compared"}
    assert set(compile_compare_charts({"levels", "constant"}, 2)) == {
        *("level compared", "narrow compared")
    }


def test_every_explanation_has_marks_of_its_own():
    text = json.dumps(compile_compare_charts({"curve", "dates", "levels"}, 3))
    for k in range(3):
        assert f"look{k}-line" in text
        assert f"look{k}-rows" in text
    assert "look3-line" not in text
    assert len(SERIES_DASHES) == len(colours.SERIES_COLOURS)
