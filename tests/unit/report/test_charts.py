"""Charts without data: what each kind draws, and what page and style sheet have to know of it."""

import json
import re
from importlib.resources import files

import pytest

pytest.importorskip("vl_convert")

from rhale.report.charts import all_marks, compile_chart

REGIONS = ("regions", "date regions", "level regions")
KINDS = ("curve", "dates", "profile", "date profile", "levels", "narrow levels", "map", *REGIONS)


def template(name):
    return (files("rhale.report") / "templates" / name).read_text(encoding="utf-8")


def filled_in(kind):
    """Names of the rows that the page has to give."""
    sources = compile_chart(kind)["data"]
    return {s["name"] for s in sources if "source" not in s and "values" not in s}


def signals(kind):
    return {signal["name"] for signal in compile_chart(kind).get("signals", ())}


def styles(kind):
    """First words of the names of styled marks; the style sheet knows them as classes."""
    names = [mark["name"] for mark in all_marks(compile_chart(kind)) if "name" in mark]
    return {name.split()[0] for name in names if re.search(r" n\d+$", name)}


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_marks_of_a_chart_have_one_name(kind):
    names = [mark["name"] for mark in all_marks(compile_chart(kind)) if "name" in mark]
    assert len(names) == len(set(names)) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_style_sheet_has_a_colour_for_every_mark(kind):
    classes = set(re.findall(r"\.([a-z]+-[a-z]+) ", template("style.css")))
    assert styles(kind) - classes <= {"plain-text"}  # which is text like any other


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_fills_in_all_rows(kind):
    words = set(re.findall(r"\w+", template("chart.js") + template("effects.js")))
    assert filled_in(kind) <= words


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_is_plain_json_without_an_address(kind):
    assert "http" not in json.dumps(compile_chart(kind))


def test_profiles_have_no_bins_and_narrow_levels_no_steps():
    assert filled_in("curve") - filled_in("profile") == {"bins", "bars", "gaps", "jumps"}
    assert filled_in("levels") - filled_in("narrow levels") == {"steps"}


@pytest.mark.parametrize(
    ("kind", "scale"),
    [
        ("curve", "linear"),
        ("dates", "utc"),
        ("profile", "linear"),
        ("date profile", "utc"),
        ("regions", "linear"),
        ("date regions", "utc"),
    ],
)
def test_dates_have_an_axis_of_dates(kind, scale):
    (x,) = [one for one in compile_chart(kind)["scales"] if one["name"] == "x"]
    assert x["type"] == scale


def test_curves_can_be_zoomed_and_levels_get_their_names():
    assert "zoom" in signals("curve") & signals("dates") & signals("profile")
    assert "zoom" in signals("regions") & signals("date regions")
    assert "labels" in signals("levels") & signals("narrow levels") & signals("level regions")


@pytest.mark.parametrize("kind", REGIONS)
def test_four_regions_differ_in_colour_and_in_dash(kind):
    marks = [m for m in all_marks(compile_chart(kind)) if "-region" in m.get("name", "")]
    names = list(dict.fromkeys(m["name"].split()[0] for m in marks))
    assert names == ["first-region", "second-region", "third-region", "fourth-region"]
    colours = [
        re.search(rf"\.{name} path, \.{name} line {{ stroke: (\S+);", template("style.css"))[1]
        for name in names
    ]
    assert len(set(colours)) == 4
    dashes = [str(m["encode"]["update"]["strokeDash"]) for m in marks if m["type"] == "line"]
    assert len(set(dashes)) == len(dashes) == (0 if kind == "level regions" else 4)


@pytest.mark.parametrize("kind", ["curve", "levels", "narrow levels", *REGIONS])
def test_a_feature_and_its_regions_have_room_for_one_another(kind):
    assert "room" in filled_in(kind)


def test_a_chart_is_compiled_once_for_all_pages():
    assert compile_chart("map") is compile_chart("map")


def test_marks_of_groups_within_groups_are_found():
    inner, lone = {"name": "inner"}, {"name": "lone"}
    group = {"name": "group", "marks": [{"name": "deeper", "marks": [inner]}]}
    names = [mark["name"] for mark in all_marks({"marks": [group, lone]})]
    assert names == ["group", "deeper", "inner", "lone"]
