import json

import pytest

pytest.importorskip("vl_convert")
pytest.importorskip("vl_convert")

from rhale.stability.charts import REFIT_CHART_KINDS, compile_refit_charts


def test_a_page_gets_the_charts_that_it_needs_and_no_others():
    assert compile_refit_charts({"constant"}) == {}
    assert set(compile_refit_charts({"levels", "curve", "constant"})) == {
        "level trainings",
        "trainings",
    }


@pytest.mark.parametrize("form", REFIT_CHART_KINDS)
def test_a_chart_asks_for_all_trainings_the_mean_and_the_own_model(form):
    (chart,) = compile_refit_charts({form}).values()
    names = {source["name"] for source in chart["data"]}
    assert {"trainings", "own", "dots", "here"} <= names
    assert "values" not in json.dumps(
        [s for s in chart["data"] if s["name"] in ("trainings", "own")]
    )


def test_what_differs_between_trainings_never_has_the_ink_of_rows():
    (chart,) = compile_refit_charts({"curve"}).values()
    styles = json.dumps(chart["marks"])
    assert "between-area" in styles
    assert "training-line" in styles
    assert "spread" not in styles
    assert "mean-area" not in styles
