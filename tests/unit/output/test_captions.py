import json
from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.errors import BadFileError, UnknownFeatureError
from rhale.output.labels import NO_CAPTIONS, Captions, caption, captions_of, key_of

NAMES = Captions({"x0": "Age"}, {"y0": "price"}, {"x0": "years", "y0": "$"})


def test_what_is_not_named_is_called_by_its_key():
    assert (NO_CAPTIONS.feature("age"), NO_CAPTIONS.output("y0"), NO_CAPTIONS.unit("age")) == (
        "age",
        "y0",
        "",
    )
    assert (NO_CAPTIONS.axis("age"), NO_CAPTIONS.value_axis("y0")) == ("age", "y0")


def test_axes_name_the_unit():
    assert (NAMES.axis("x0"), NAMES.value_axis("y0")) == ("Age (years)", "price ($)")


def test_a_key_wins_over_words_that_are_the_same():
    assert key_of("b", {"a": "b", "b": "c"}) == "b"


def test_words_of_two_keys_lead_to_neither():
    assert key_of("same", {"a": "same", "b": "same"}) == "same"


def test_plain_values_give_the_same_captions_back():
    assert captions_of({"captions": json.loads(json.dumps(NAMES.plain()))}) == NAMES


@pytest.mark.parametrize(
    "found", [3, [], {"features": 3}, {"features": {"a": 1}}, {"colours": {}}, {"units": {1: "m"}}]
)
def test_captions_that_somebody_made_up_are_refused(found):
    with pytest.raises(BadFileError, match="captions are not texts"):
        captions_of({"captions": found})


def test_results_that_have_their_captions_stay_as_they_are():
    effect = rhale.effect([0.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    (named,) = caption([effect], NAMES)
    assert named.captions == NAMES
    assert caption([named], NAMES)[0] is named


def test_captions_do_not_count_when_numbers_are_compared():
    effect = rhale.effect([0.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    assert replace(effect, captions=NAMES) == effect


def test_effects_of_regions_have_the_captions_of_the_whole(tmp_path):
    x = np.random.default_rng(0).uniform(-1, 1, (800, 2))
    fx = rhale.explain(
        lambda rows: rows[:, 0] * (rows[:, 1] > 0), x, regions=True, feature_names=["Age", "Sex"]
    )
    assert len(fx["Age"].regions) == 2
    fx.save(tmp_path / "fx.json")
    for found in (fx, rhale.load(tmp_path / "fx.json")):
        inside = [region.effect.captions for region in found["Age"].regions]
        assert inside == [found.captions] * 2
        assert found.captions.output("y0") == "prediction"


def test_features_and_outputs_are_found_by_what_people_read():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": np.linspace(0, 1, 50), "b": np.linspace(1, 0, 50) ** 2})
    fx = rhale.explain(
        lambda t: t["a"] + t["b"], table, feature_names={"a": "Age"}, output_names=["price"]
    )
    assert fx["Age", "price"] is fx["a", "y0"]
    assert fx.features == ("a", "b")
    with pytest.raises(UnknownFeatureError):
        fx["Agee"]
