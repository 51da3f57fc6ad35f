import numpy as np
import pytest

import rhale
from rhale.effects.listing import curve_rows
from rhale.errors import BadSettingError

COLUMNS = ["feature", "output", "x", "at", "curve", "spread", "low", "high"]
COLUMNS += ["feature_label", "output_label"]


@pytest.fixture(scope="module")
def fx():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=600),
            "city": rng.choice(["b", "c", "d"], 600),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, 600), unit="D"),
        }
    )
    frame.loc[::5, "a"] = np.nan

    def model(t):
        day = (t["day"] - pd.Timestamp("2020-01-01")) / pd.Timedelta(days=1)
        return t["a"].fillna(9.0) ** 2 + (t["city"] == "b") + day

    return rhale.explain(model, frame)


def test_a_grid_has_so_many_even_places_with_the_effects_own_numbers(fx):
    effect = fx["day"]
    frame = effect.curve_frame(12)
    assert list(frame.columns) == COLUMNS
    x = np.linspace(effect.axis[0], effect.axis[-1], 12)
    np.testing.assert_array_equal(frame["x"], x)
    np.testing.assert_array_equal(frame["curve"], effect.curve(x))
    np.testing.assert_array_equal(frame["spread"], effect.spread(x))
    np.testing.assert_array_equal(frame[["low", "high"]].T, effect.ci(x))
    assert frame["at"].iloc[0] == "2020-01-01"


def test_options_are_those_of_the_curve(fx):
    effect = fx["a"]
    frame = effect.curve_frame(5, center="start", level=0.5, smooth=True)
    low, high = effect.ci(frame["x"][:5], center="start", level=0.5)
    np.testing.assert_array_equal(frame["low"][:5], low)
    np.testing.assert_array_equal(frame["high"][:5], high)
    assert frame["curve"][0] == 0


def test_without_a_number_the_curve_is_there_wherever_it_bends(fx):
    effect = fx["a"]
    trace = effect.trace()
    found = curve_rows(effect)
    np.testing.assert_array_equal(found["x"][:-1], trace.x)
    np.testing.assert_array_equal(found["curve"][:-1], trace.curve)


def test_missing_values_are_the_last_row(fx):
    last = {name: held[-1] for name, held in curve_rows(fx["a"], 3).items()}
    assert last["at"] == "missing"
    assert np.isnan(last["x"])
    assert last["curve"] == fx["a"].missing.mean
    assert last["low"] < last["curve"] < last["high"]


def test_levels_are_named_whatever_number_is_asked_for(fx):
    frame = fx["city"].curve_frame(50)
    assert tuple(frame["at"]) == fx["city"].levels
    np.testing.assert_array_equal(frame["curve"], fx["city"].curve())


def test_all_curves_stand_one_below_the_other(fx):
    frame = fx.curve_frame(n=4)
    assert frame.groupby("feature", sort=False).size().to_dict() == {"a": 5, "city": 3, "day": 4}
    some = fx.curve_frame(["day", "a"], n=4, backend="polars")
    assert some["feature"].unique(maintain_order=True).to_list() == ["day", "a"]
    assert fx.curve_frame("day", output="y0", n=4).equals(fx["day"].curve_frame(4))


def test_profiles_have_a_grid_too():
    x = np.random.default_rng(0).normal(size=(200, 1))
    profile = rhale.explain(lambda rows: 2 * rows[:, 0], x, method="pdp")["x0"]
    frame = profile.curve_frame(7, center=None)
    np.testing.assert_allclose(frame["curve"], 2 * frame["x"])


@pytest.mark.parametrize("n", [1, 2.5, True, "many"])
def test_what_is_no_number_of_places_is_refused(fx, n):
    with pytest.raises(BadSettingError, match="is no number of places"):
        fx["day"].curve_frame(n)


def test_the_bins_of_one_effect_are_those_of_all(fx):
    both = fx.to_frame()
    own = fx["day"].to_frame("pandas")
    assert own.equals(both[both["feature"] == "day"].reset_index(drop=True))
