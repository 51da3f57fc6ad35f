"""What a browser draws is what the effect says: the numbers in the page, read as its script does."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.unit.conftest import make

import rhale
from rhale.effects.table import Missing
from rhale.report.effects import make_page

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from rhale.report import page as render

DAY = 86_400_000.0  # milliseconds
SECONDS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
SEEN = 1e-3  # of the height of a panel: less cannot be seen


def effects():
    """Every kind of axis with every kind of bin, and levels of every kind."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 1_000, 2_000))
    gap = x[(x < 300) | (x > 600)]
    found = []
    for kind, start, unit in (("number", -4e5, 1.0), ("date", 18_262.0, 1.0), ("duration", 0, 977)):
        for name, places, fitted in (
            ("lines", x, {"bins": rhale.Edges(start + unit * np.linspace(0, 1e3, 5), linear=True)}),
            ("steps", x, {"bins": 7}),
            ("gap", gap, {"bins": rhale.Fixed(10)}),
            ("searched", x, {}),
        ):
            slopes = (2 * places + rng.normal(0, 300, places.size)) / 1e4 / unit
            one = rhale.effect(start + unit * places, slopes, name=f"{kind} {name}", **fitted)
            found.append(replace(one, kind=kind, missing=Missing(90, 0.1, -2.0, 0.5, 400.0)))
    found.append(make(["red", "green", "blue"], [3.0, -1.0], name="categories", noise=0.5))
    found.append(make(["0", "10"], [5.0], name="two", edges=[0.0, 10.0], noise=0.5))
    places = np.array([0.0, 1, 2, 5, 9, 10])
    labels = [f"{place:g}" for place in places]
    found.append(make(labels, [3.0, 1, 4, 1, 5], name="numbers", edges=places, noise=0.5))
    return [replace(e, name=f"{i} {e.name}") for i, e in enumerate(found)]


EFFECTS = effects()


def shapes_in(page):
    """The shape of the first output of every feature, as the page's script finds it."""
    (data,) = re.findall(r'<script[^>]*>\s*(\{"features".*?)</script>', page, flags=re.DOTALL)
    return {f["name"]: f["parts"][0]["shape"] for f in json.loads(data)["features"]}


@pytest.fixture(scope="module")
def shapes():
    return shapes_in(render.render(make_page(EFFECTS, {"method": "rhale"})))


def unit_of(shape):
    """One unit of the axis as drawn, and one unit that slopes are given per; as the effect counts."""
    if shape["form"] == "dates":
        return 1 / DAY, 1.0
    return (SECONDS[shape.get("unit", "")],) * 2


def places_in(effect, shape, drawn):
    """Places as the effect counts them."""
    if shape["form"] == "levels":
        return effect.edges[np.array(drawn)]
    return np.array(drawn) * unit_of(shape)[0]


def read_at(effect, shape, of):
    """What the effect says where the page draws points; levels of names by all of them."""
    if effect.labels and not effect.is_number:
        return of(None)
    return of(np.clip(places_in(effect, shape, shape["x"]), effect.edges[0], effect.edges[-1]))


def agree(drawn, said, height):
    drawn = np.array([np.nan if v is None else v for v in drawn])
    np.testing.assert_allclose(drawn, said, rtol=0, atol=SEEN * height)


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda e: e.name)
def test_curve_interval_and_spread_are_the_effects(effect, shapes):
    shape = shapes[effect.name]
    low, high = read_at(effect, shape, effect.ci)
    height = np.ptp([low, high])
    agree(shape["y"], read_at(effect, shape, effect.curve), height)
    agree(shape["spread"], read_at(effect, shape, effect.spread), height)
    agree(shape["low"], low, height)
    agree(shape["high"], high, height)


@pytest.mark.parametrize("effect", [e for e in EFFECTS if len(e.labels) != 2], ids=lambda e: e.name)
def test_bins_stand_where_they_are_and_are_as_high_and_steep_as_they_are(effect, shapes):
    shape = shapes[effect.name]
    bins, wide = shape["bins"], np.diff(effect.edges)
    per = wide if shape["form"] == "levels" else unit_of(shape)[1]
    slope = np.array(getattr(effect, "slope", np.zeros(wide.size)))
    left, right, tilt = (
        effect.mean - slope * wide / 2,
        effect.mean + slope * wide / 2,
        bins["slope"],
    )
    tilt = np.array(tilt) * (np.array(bins["right"]) - np.array(bins["left"])) / 2
    height = np.ptp([per * left, per * right, 0 * wide])
    agree(places_in(effect, shape, bins["left"]), effect.edges[:-1], np.ptp(effect.edges))
    agree(places_in(effect, shape, bins["right"]), effect.edges[1:], np.ptp(effect.edges))
    agree(bins["mean"] - tilt, per * left, height)
    agree(bins["mean"] + tilt, per * right, height)
    agree(bins["std"], per * effect.std, height)
    agree(bins["error"], per * effect.standard_error, height)
    assert bins["count"] == effect.count.tolist()


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda e: e.name)
def test_the_point_of_missing_values_is_the_effects(effect, shapes):
    drawn, said = shapes[effect.name].get("missing"), effect.missing_trace()
    assert (drawn is None) == (said is None)
    if said is not None:
        numbers = [drawn[name] for name in ("y", "spread", "low", "high")]
        np.testing.assert_allclose(numbers, np.ravel(said[1:]), rtol=1e-9)


def test_slopes_of_a_date_are_per_day():
    """Once a slope per day was multiplied with milliseconds: bars went from -4e6 to 4e6."""
    rng = np.random.default_rng(0)
    start, days = pd.Timestamp("2020-01-01"), pd.to_timedelta(rng.integers(0, 1_000, 1_000), "D")
    table = pd.DataFrame({"d": start + days})
    fx = rhale.explain(lambda t: ((t["d"] - start) / pd.Timedelta(days=1)) ** 2 / 1e4, table)
    bins = shapes_in(render.render(make_page(fx.effects, fx.provenance)))["d"]["bins"]
    tilt = np.array(bins["slope"]) * (np.array(bins["right"]) - np.array(bins["left"])) / 2
    assert np.any(tilt > 0.01)  # there are sloped bins
    assert np.all(np.abs(bins["mean"]) + np.abs(tilt) < 0.2 + 0.02)  # d/dt t²/1e4, t up to 1000
