import numpy as np
import pytest

import rhale
from rhale.effects.support import same_places, share_sample, take

TABLE = np.random.default_rng(1).normal(size=(400, 3))
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2, 400)


def model(rows):
    x = np.nan_to_num(rows)
    return np.column_stack([x[:, 0] * x[:, 1], x[:, 2] ** 2])


def explained(folder=None, table=TABLE, **asked):
    fx = rhale.explain(model, table, weights=WEIGHTS, **asked)
    if folder is None:
        return fx
    fx.save(folder / "fx.json")
    return rhale.load(folder / "fx.json")


@pytest.mark.parametrize("is_loaded", [False, True])
def test_all_effects_hold_the_rows_of_the_explanation(tmp_path, is_loaded):
    fx = explained(tmp_path if is_loaded else None)
    for place, effect in enumerate(fx.values()):
        assert np.shares_memory(effect.sample.x, fx.sample_x)
        assert np.shares_memory(effect.sample.weight, fx.sample_weight)
        np.testing.assert_array_equal(effect.sample.x, fx.sample_x[:, place // 2])


@pytest.mark.parametrize("is_loaded", [False, True])
def test_outputs_share_where_rows_stand(tmp_path, is_loaded):
    fx = explained(tmp_path if is_loaded else None)
    for name in fx.features:
        first, second = (fx[name, output].row_places for output in fx.outputs)
        assert np.shares_memory(first.x, second.x)
        assert np.shares_memory(first.weight, second.weight)


def test_nobody_changes_rows_that_others_hold():
    fx = explained()
    for array in (fx.sample_x, fx.sample_weight, *fx["x0", "y0"].sample[::2]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_the_rest_of_what_was_kept_of_the_rows_is_not_held():
    assert explained().predictions.base is None


def test_rows_without_a_value_are_left_out_of_the_sample_alone():
    gaps = np.where(np.arange(400)[:, None] % [5, 1000, 1000] == 3, np.nan, TABLE)
    fx = explained(table=gaps)
    known = ~np.isnan(fx.sample_x[:, 0])
    np.testing.assert_array_equal(fx["x0", "y0"].sample.x, fx.sample_x[known, 0])
    np.testing.assert_array_equal(fx["x0", "y0"].sample.weight, fx.sample_weight[known])
    assert [fx[name, "y0"].sample.x.size for name in fx.features] == [320, 399, 399]


def test_an_effect_stands_on_rows_only_if_they_are_its_own():
    fx = explained()
    effect, column = fx["x0", "y0"], fx.sample_x[:, 0]
    found = share_sample(effect, column, fx.sample_weight)
    assert found.local_effects is effect.sample.local_effects
    assert share_sample(effect, -column, fx.sample_weight) is None
    assert share_sample(effect, column, 2 * fx.sample_weight) is None
    assert share_sample(effect, column[1:], fx.sample_weight[1:]) is None


def test_rows_in_another_order_are_not_all_rows():
    array = np.arange(3.0)
    assert take(array, np.array([2, 1, 0])).tolist() == [2.0, 1.0, 0.0]


def test_places_differ_by_a_bit():
    places = explained()["x0", "y0"].row_places
    assert same_places(places, places._replace(x=places.x.copy()))
    assert not same_places(places, places._replace(x=np.nextafter(places.x, 9)))
    assert not same_places(places, None)
