import json

import pytest

pytest.importorskip("altair")

from rhale.report.charts import all_marks, compile_chart, compile_charts

KINDS = ["curve", "dates", "profile", "date profile", "levels", "narrow levels", "map"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_chart_is_plain_json_without_an_address(kind):
    text = json.dumps(compile_chart(kind))
    assert "http" not in text


def test_marks_have_names_that_differ():
    names = [
        mark["name"] for mark in all_marks(compile_chart("curve")) if " n" in mark.get("name", "")
    ]
    assert len(names) == len(set(names)) > 5


def test_only_the_charts_that_are_needed_are_made():
    assert list(compile_charts({"map", "curve"})) == ["curve", "map"]


def test_only_effects_have_a_panel_of_bins():
    found = {kind: "bar-area" in json.dumps(compile_chart(kind)) for kind in ("curve", "profile")}
    assert found == {"curve": True, "profile": False}
