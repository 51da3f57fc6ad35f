"""Pictures in a folder: names that stay inside it, one a feature, the largest effect first."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhale

pytest.importorskip("matplotlib")
pytest.importorskip("typer")

from rhale.cli.output import Destinations, write_explanation
from rhale.cli.pictures import (
    PictureOptions,
    file_name,
    outputs_with_regions,
    read_typed_view,
    write_comparisons,
    write_pair_pictures,
    write_pictures,
    write_refit_pictures,
)
from rhale.errors import BadSettingError, UnknownFeatureError
from rhale.regions.result import Region, RegionTree
from rhale.system.files import whole

X = np.random.default_rng(0).uniform(-1, 1, (200, 2))


@contextmanager
def plainly(path):
    yield path


@given(st.integers(0, 99), st.text())
def test_no_feature_leads_out_of_the_folder(number, feature):
    name = file_name(number, feature)
    assert Path(name).name == name
    assert name.startswith(f"{number:02d}_")
    assert len(name) <= 70


@pytest.mark.parametrize(
    ("feature", "name"),
    [("price (EUR)", "01_price_EUR.png"), ("../..", "01_feature.png"), ("größe", "01_größe.png")],
)
def test_letters_stay_and_other_signs_become_lines(feature, name):
    assert file_name(1, feature) == name


def test_all_features_come_in_one_picture_and_each_in_its_own(tmp_path):
    fx = rhale.explain(lambda r: r[:, 0] + 9 * r[:, 1], X)
    assert write_pictures(fx, tmp_path, plainly) == 3
    assert {p.name for p in tmp_path.iterdir()} == {"all_features.png", "01_x1.png", "02_x0.png"}
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in tmp_path.iterdir())


def with_regions(fx, feature, *, thirds=False):
    """The same explanation, with a tree of two regions, or thirds, that one feature is given."""
    some = Region("all rows", len(X), 1.0, fx[feature])
    held = {"thirds": (some,) * 3} if thirds else {}
    tree = RegionTree(feature, "y", "found", "", (some,) * (1 if thirds else 2), **held)
    effects = [replace(e, regions=tree) if e.name == feature else e for e in fx.values()]
    return replace(fx, effects=tuple(effects))


@pytest.mark.parametrize("thirds", [False, True])
def test_features_with_regions_have_a_second_picture(tmp_path, monkeypatch, thirds):
    fx = with_regions(rhale.explain(lambda r: r[:, 0] + 9 * r[:, 1], X), "x1", thirds=thirds)
    asked, usual = [], rhale.Explanation.plot

    def plot(self, feature=None, *, regions=False, **options):
        asked.append((feature, regions))
        return usual(self, feature, **options)

    monkeypatch.setattr(rhale.Explanation, "plot", plot)
    assert write_pictures(fx, tmp_path, plainly) == 4
    assert asked == [(None, False), ("x1", False), ("x1", True), ("x0", False)]
    assert (tmp_path / "01_x1_regions.png").exists()


def test_features_without_regions_have_one_picture():
    fx = rhale.explain(lambda r: r[:, 0], X)
    assert outputs_with_regions(fx, "x0") == []
    assert outputs_with_regions(with_regions(fx, "x1"), "x0") == []


def test_long_names_keep_both_pictures_apart():
    assert file_name(1, "x" * 99, "_regions") != file_name(1, "x" * 99)


def test_figures_are_closed_once_they_are_written(tmp_path):
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    write_pictures(rhale.explain(lambda r: r[:, 0], X), tmp_path, plainly)
    assert plt.get_fignums() == before


def compared(folder, first, second):
    n_drawn = write_comparisons(rhale.compare(first, second), folder, plainly)
    return n_drawn, {p.name for p in folder.iterdir()} - {"all_features.png"}


def test_the_largest_difference_comes_first(tmp_path):
    one = rhale.explain(lambda r: r[:, 0] + r[:, 1], X)
    two = rhale.explain(lambda r: r[:, 0] + 5 * r[:, 1], X)
    assert compared(tmp_path, one, two) == (3, {"01_x1.png", "02_x0.png"})


def test_several_outputs_have_pictures_of_their_own(tmp_path):
    one = rhale.explain(lambda r: r[:, :2], X, features=0)
    assert compared(tmp_path, one, one)[1] == {
        *("all_features_1.png", "all_features_2.png", "01_x0_1.png", "01_x0_2.png")
    }


def test_a_feature_that_is_a_number_here_and_a_name_there_is_left_out(tmp_path):
    def model(rows):
        return rows["a"].to_numpy()

    numbers = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    names = numbers.assign(b=np.where(X[:, 1] > 0, "high", "low"))
    one, two = (rhale.explain(model, rows) for rows in (numbers, names))
    assert compared(tmp_path, one, two) == (2, {"01_a.png"})


def drawn_smooth(monkeypatch, write):
    """What pictures are asked for, in the order of the calls."""
    asked = []
    for kind in (rhale.Explanation, rhale.Comparison):
        own = kind.plot

        def heard(*given, own=own, smooth=False, **options):
            asked.append(smooth)
            return own(*given, smooth=smooth, **options)

        monkeypatch.setattr(kind, "plot", heard)
    write()
    return asked


@pytest.mark.parametrize("smooth", [False, True])
def test_pictures_are_smooth_or_as_the_model_is(tmp_path, monkeypatch, smooth):
    fx = rhale.explain(lambda r: r[:, 0], X)
    places = Destinations(None, None, tmp_path, smooth=smooth)
    assert drawn_smooth(monkeypatch, lambda: write_explanation(fx, places)) == [smooth] * 3
    cx = rhale.compare(fx, fx)
    found = drawn_smooth(
        monkeypatch, lambda: write_comparisons(cx, tmp_path, plainly, smooth=smooth)
    )
    assert set(found) == {smooth}


def test_pairs_are_drawn_as_maps_and_lines_the_strongest_first(tmp_path):
    x = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    ix = rhale.interactions(lambda r: r[:, 0] * r[:, 1] + r[:, 1] * r[:, 2] / 4, x, pairs="all")
    assert write_pair_pictures(ix, tmp_path, whole) == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "01_x0_x_x1_lines.png",
        "01_x0_x_x1_map.png",
        "02_x1_x_x2_lines.png",
        "02_x1_x_x2_map.png",
        "all_pairs.png",
    ]


def test_trainings_come_in_one_overview_and_a_picture_a_feature(tmp_path):
    def learn(rows, target):
        slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
        return lambda asked: asked @ slopes

    noise = np.random.default_rng(1).normal(size=len(X))
    rx = rhale.refit(learn, X, X[:, 0] + 9 * X[:, 1] + noise, n_refits=4)
    assert write_refit_pictures(rx, tmp_path, plainly) == 3
    assert {p.name for p in tmp_path.iterdir()} == {"all_features.png", "01_x1.png", "02_x0.png"}
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in tmp_path.iterdir())


def test_limits_are_for_numbers_and_scales_for_the_features_they_name(tmp_path):
    table = pd.DataFrame({"a": 1 + X[:, 0] ** 2, "b": X[:, 1], "c": np.arange(200) % 2})
    fx = rhale.explain(lambda rows: rows["a"] + rows["b"] + rows["c"], table)
    view = read_typed_view("1%..99%", ["a=log"])
    assert view.of(fx, "a") == {"limits": "1%..99%", "xscale": "log"}
    assert view.of(fx, "c") == {}
    assert view.of_all(fx, ["b", "c"]) == {"limits": {"b": "1%..99%"}, "xscale": {}}
    assert write_pictures(fx, tmp_path, plainly, view) == 4


def test_a_scale_of_a_feature_that_is_not_there_is_refused():
    fx = rhale.explain(lambda rows: rows[:, 0], X)
    with pytest.raises(UnknownFeatureError, match="did you mean 'x0'"):
        PictureOptions(scales={"X0": "log"}).of(fx, "x0")
    with pytest.raises(BadSettingError, match="--scale log names nothing"):
        read_typed_view(None, ["log"])
