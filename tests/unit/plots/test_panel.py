from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import rhale
from rhale.effects.table import Missing
from rhale.output.labels import Captions
from rhale.plots import style
from rhale.plots.axes import Layers
from rhale.plots.labels import number_with_error
from rhale.plots.overview import (
    draw_effect_panel,
    read_feature,
    write_effect_importance,
    write_effect_title,
)


@pytest.fixture
def ax():
    return Figure().add_subplot()


def read(*results):
    return read_feature(results[0].name, list(results), Layers())


def test_only_numbers_have_missing_values_beside_them(effect, make_levels):
    missing = Missing(3, 0.25, -1.5, 0.5, 9.0)
    assert not read(effect).has_side
    assert read(replace(effect, missing=missing)).has_side
    assert not read(make_levels(("a", "b"), 1.0, missing=missing)).has_side


def test_only_categories_need_room_for_their_names(effect, make_levels):
    steps = make_levels(("1", "2"), 1.0, edges=[1.0, 2.0])
    assert read(effect).label_depth == read(steps).label_depth == 0.0
    assert read(make_levels(("a" * 6, "b"), 1.0)).label_depth == pytest.approx(
        style.LABEL_DEPTH * 6 / style.SMALL_LABEL
    )


def test_a_constant_feature_has_no_paths(make_levels):
    assert read(make_levels(("only",), ())).paths == []


def test_each_output_has_its_entry_in_the_legend(ax, effect):
    panel = read(effect, replace(effect, output="y1"))
    labels = [artist.get_label() for artist in draw_effect_panel(ax, panel, ["y0", "y1"], 0.95)]
    assert labels == ["y0", "y1", "95 % interval of the mean", "where rows are"]


def test_the_title_tells_the_largest_importance(ax, effect):
    write_effect_title(ax, read(effect))
    (note,) = (text for text in ax.texts if text.get_gid() == "rhale:numbers")
    assert note.get_text().startswith("importance ")
    assert ax.get_title("left") == effect.name


def test_the_title_tells_the_spread_with_its_error_where_that_is_known(effect):
    rows = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    measured = rhale.explain(lambda r: r[:, 0] * r[:, 1], rows)["x0"]
    told = number_with_error(measured.typical_spread, measured.typical_spread_error)
    assert write_effect_importance(read(measured), []).endswith(f"\ntypical spread {told}")
    assert (
        "±" not in write_effect_importance(read(effect), []).partition("\n")[2]
    )  # no model was asked


def test_titles_and_entries_are_what_people_read(ax, effect):
    words = {"y0": "probability of Barolo", "y1": "probability of Barbera"}
    captions = Captions({"age": "Age"}, words, {"age": "years"})
    both = [replace(effect, output=key, captions=captions) for key in words]
    panel = read_feature(captions.axis("age"), both, Layers())
    labels = [artist.get_label() for artist in draw_effect_panel(ax, panel, list(words), 0.95)]
    write_effect_title(ax, panel)
    assert labels[:2] == ["Barolo", "Barbera"]
    assert ax.get_title("left") == "Age (years)"


def test_rounding_is_zero_in_titles(ax, make_effect):
    x = [0.0, 1.0, 2.0, 3.0]
    noise, large = make_effect(x, [1e-14] * 4), make_effect(x, [1.0] * 4)
    write_effect_title(ax, read(noise), [noise, large])
    (note,) = (text for text in ax.texts if text.get_gid() == "rhale:numbers")
    assert note.get_text() == "importance 0"
