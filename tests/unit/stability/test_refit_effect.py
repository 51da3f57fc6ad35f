import numpy as np
import pandas as pd
import pytest
from tests.unit.effects.refitted import N_ROWS, SLOPES, TRAIN, make_table, refit_lines

import rhale
from rhale.stability.refit_effect import deviation_over_refits, mean_over_refits
from rhale.stability.replication import Overlap, mean_factor

stats = pytest.importorskip("scipy.stats")
METHODS = ["rhale", "ale", "pdp", "ice", "mplot"]


@pytest.fixture(scope="module")
def lines():
    return refit_lines()


def days(n_rows=N_ROWS):
    return pd.Timestamp("2021-01-01") + pd.to_timedelta(np.arange(n_rows) % 50, "D")


def frame():
    rng = np.random.default_rng(3)
    gap = rng.normal(size=N_ROWS)
    gap[::8] = np.nan
    return pd.DataFrame({"day": days(), "city": rng.choice(["a", "b", "c"], N_ROWS), "gap": gap})


def of_frame(factor):
    """Days by `factor`, "a" by twice of it, and 3 for no gap, in units of the factor."""

    def predict(rows):
        day = (rows["day"] - pd.Timestamp("2021-01-01")).dt.days.to_numpy() / 10
        total = day + 2.0 * (rows["city"] == "a").to_numpy()
        return factor * (total + np.nan_to_num(rows["gap"].to_numpy(), nan=3.0))

    return predict


@pytest.fixture(scope="module")
def framed():
    return rhale.refits([of_frame(s) for s in SLOPES], frame(), train=TRAIN)


def test_the_curve_is_the_mean_and_between_the_deviation_of_the_trainings(lines):
    x = np.array([-1.0, 0.0, 0.5])
    off = x - make_table()[:, 0].mean()
    effect = lines["x0"]
    np.testing.assert_allclose(effect.curves(x), SLOPES[:, None] * off, atol=1e-12)
    np.testing.assert_allclose(effect.curve(x), SLOPES.mean() * off, atol=1e-12)
    np.testing.assert_allclose(effect.between(x), SLOPES.std(ddof=1) * np.abs(off), atol=1e-12)


def test_the_interval_covers_trainings_and_rows(lines):
    """By hand: Student's t of the overlap for the one, the trainings' own intervals for the other."""
    x, effect = np.array([-1.0, 0.5]), lines["x0"]
    t = stats.t.ppf(0.95, effect.overlap.degrees)
    assert effect.factor == mean_factor(effect.gram, effect.overlap) <= 5 / 6
    trained = t * np.sqrt(effect.factor) * effect.between(x)
    low, high = np.array([one.ci(x, level=0.9) for one in effect.effects]).mean(axis=0)
    expected = np.hypot(trained, (high - low) / 2)
    found = effect.ci(x, level=0.9)
    np.testing.assert_allclose(found[1] - effect.curve(x), expected, rtol=0.01)
    np.testing.assert_allclose((found[0] + found[1]) / 2, effect.curve(x), atol=1e-12)


def test_importance_and_its_interval(lines):
    effect, sd = lines["x0"], make_table()[:, 0].std()
    np.testing.assert_allclose(effect.importances, SLOPES * sd, rtol=1e-9)
    assert effect.importance == pytest.approx(SLOPES.mean() * sd)
    assert effect.importance_between == pytest.approx(SLOPES.std(ddof=1) * sd)
    low, high = effect.importance_ci()
    assert low < effect.importance < high
    assert (low + high) / 2 == pytest.approx(effect.importance)
    assert lines["x1"].importance_ci() == (0.0, 0.0)


def test_what_comes_back_of_lines(lines):
    """The mean square of the slopes less what chance adds to it: 5/6 of their variance, and rows."""
    effect, variance = lines["x0"], make_table()[:, 0].var()
    square = (SLOPES.mean() ** 2 - 5 / 6 * SLOPES.var(ddof=1)) * variance - effect.drawn
    assert effect.replicated == pytest.approx(np.sqrt(square))
    ratio = SLOPES.mean() ** 2 / (5 / 6 * SLOPES.var(ddof=1))
    assert effect.p_value == pytest.approx(stats.f.sf(ratio, 1, effect.overlap.degrees))
    assert effect.comes_back
    flat = lines["x1"]
    assert (flat.replicated, flat.p_value, flat.comes_back) == (0.0, 1.0, False)


def test_what_the_rows_add_is_the_squared_error_of_the_curve(lines):
    """A line that is centred over its rows moves with their mean: slope² variance / N."""
    expected = np.mean(SLOPES**2) * make_table()[:, 0].var() / N_ROWS
    assert lines["x0"].drawn == pytest.approx(expected, rel=0.15)  # Student's quantile


@pytest.mark.parametrize("method", METHODS)
def test_one_value_in_one_value_out(method):
    effect = refit_lines(method=method)["x0"]
    low, high = effect.ci(0.3)
    for one in (effect.curve(0.3), effect.between(0.3), effect.spread(0.3), low, high):
        assert np.ndim(one) == 0
    for many in (effect.curve([0.3]), effect.between([0.3]), *effect.ci([0.3])):
        assert np.shape(many) == (1,)
    assert low < effect.curve(0.3) < high
    assert effect.curves(0.3).shape == (SLOPES.size,)


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp"])
def test_lines_are_lines_whatever_the_method(method):
    effect = refit_lines(method=method)["x0"]
    x = np.array([-0.5, 0.5])
    assert np.diff(effect.curve(x))[0] == pytest.approx(SLOPES.mean())


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
def test_every_curve_is_centred_as_asked(lines, center):
    effect = lines["x0"]
    x = np.array([-0.4, 0.9])
    expected = np.mean([one.curve(x, center=center) for one in effect.effects], axis=0)
    np.testing.assert_allclose(effect.curve(x, center=center), expected, atol=1e-12)
    trace = effect.trace(center)
    np.testing.assert_allclose(effect.curve(trace.x, center=center), trace.curve)
    assert effect.curve(effect.axis[0], center="start") == 0


def test_dates_are_asked_by_dates(framed):
    effect = framed["day"]
    first, last = pd.Timestamp("2021-01-06"), pd.Timestamp("2021-01-26")
    change = effect.curve([last]) - effect.curve([first])
    assert change[0] == pytest.approx(SLOPES.mean() * 2, rel=1e-6)
    assert np.ndim(effect.curve(first)) == 0
    assert effect.column_kind == "date"


def test_levels_are_asked_by_name(framed):
    effect = framed["city"]
    steps = effect.curve("a") - effect.curve(["b", "c"])
    np.testing.assert_allclose(steps, SLOPES.mean() * 2)
    assert effect.between("b") == pytest.approx(effect.between("c"))
    assert effect.labels == effect.effects[0].labels
    trace = effect.trace()
    np.testing.assert_allclose(trace.curve, effect.curve(list(effect.labels)))


def test_what_happens_without_a_value(framed):
    """It then counts as 3: the mean change is 3 less the mean of the values that are there."""
    table, gone = frame(), framed["gap"].missing
    changes = SLOPES * (3 - table["gap"].mean())
    assert (gone.count, gone.share) == (10, pytest.approx(10 / N_ROWS))
    assert gone.curve == pytest.approx(changes.mean())
    assert gone.between == pytest.approx(changes.std(ddof=1))
    assert gone.low < gone.curve < gone.high
    assert framed["day"].missing is None


def test_the_point_of_missing_values_is_centred_as_the_curve_is(framed):
    effect = framed["gap"]
    start = effect.missing_point("start")
    zero = effect.curve(effect.axis[0])
    assert start.curve - effect.missing.curve == pytest.approx(-zero)


def test_a_table_has_a_row_for_every_place_and_one_for_missing_values(framed):
    table = framed["gap"].table()
    effect = framed["gap"]
    assert table["at"][-1] == "missing"
    assert np.isnan(table["x"][-1])
    assert table["curve"][-1] == pytest.approx(effect.missing.curve)
    np.testing.assert_allclose(table["curve"][:-1], effect.curve(effect.axis))
    np.testing.assert_allclose(table["low"][:-1], effect.ci(effect.axis)[0])
    assert framed["city"].table()["at"] == list(framed["city"].labels)
    assert framed["day"].table()["at"][0] == "2021-01-01"


def test_trainings_on_the_same_rows_have_no_interval_and_no_p():
    effect = refit_lines(train=[np.arange(N_ROWS // 2)] * SLOPES.size)["x0"]
    assert np.isnan([*effect.ci(0.5), *effect.importance_ci(), effect.p_value]).all()
    assert np.isnan(effect.replicated)
    assert effect.comes_back is False
    assert effect.between(0.5) > 0
    assert "nan" in repr(effect)


def test_the_users_own_model_is_drawn_beside_the_trainings():
    effect = refit_lines(model=lambda rows: 5 * rows[:, 0])["x0"]
    trace = effect.trace()
    assert effect.own.name == "x0"
    assert np.ptp(trace.own) == pytest.approx(5 * np.ptp(make_table()[:, 0]))
    assert np.ptp(trace.curve) == pytest.approx(SLOPES.mean() * np.ptp(make_table()[:, 0]))
    assert trace.curves.shape == (SLOPES.size, trace.x.size)


def test_groups_that_were_named_have_effects_of_their_own():
    """x0 moves the first group by its slope, the other by minus one tenth of it."""

    def model(slope):
        return lambda rows: slope * np.where(rows[:, 1] > 0, rows[:, 0], -0.1 * rows[:, 0])

    models = [model(slope) for slope in SLOPES]
    rx = rhale.refits(models, make_table(), train=TRAIN, regions=rhale.By("x1", cuts=[0]))
    regions = rx["x0"].regions
    assert list(regions) == [region.rule for region in rx["x0"].effects[0].regions]
    low, high = regions.values()
    assert np.diff(high.curve([-0.2, 0.2]))[0] == pytest.approx(0.4 * SLOPES.mean())
    assert np.diff(low.curve([-0.2, 0.2]))[0] == pytest.approx(-0.04 * SLOPES.mean())
    x0, is_high = make_table()[:, 0], make_table()[:, 1] > 0
    assert high.gram[0, 0] == pytest.approx(SLOPES[0] ** 2 * x0[is_high].var(), rel=1e-6)
    assert high.comes_back
    assert high.overlap == rx.overlap


def test_without_named_groups_there_are_no_regions(lines):
    assert dict(lines["x0"].regions) == {}
    with pytest.raises(TypeError):
        lines["x0"].regions["x"] = None


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_levels_that_are_no_probability_are_refused(lines, level):
    with pytest.raises(rhale.errors.BadSettingError, match="between 0 and 1"):
        lines["x0"].ci(0.0, level=level)
    with pytest.raises(rhale.errors.BadSettingError, match="between 0 and 1"):
        lines["x0"].importance_ci(level)


def test_what_is_shown_of_an_effect(lines):
    effect = lines["x0"]
    assert (effect.name, effect.output, effect.n_trainings) == ("x0", lines.outputs[0], 6)
    assert (effect.parts, effect.quantity, effect.labels) == ("bins", "effect", ())
    assert repr(effect).startswith("RefitEffect('x0', output=")
    assert effect.typical_spread == pytest.approx(0, abs=1e-9)
    assert len(effect.notes) == 1  # of six equal ones
    assert effect == refit_lines()["x0"]
    assert effect != lines["x1"]
    with pytest.raises(ValueError, match="read-only"):
        effect.gram[0, 0] = 1.0


def test_equal_values_have_exactly_their_mean_and_no_deviation():
    values = np.full((7, 3), 0.1) * np.array([1, 3, 7e9])
    assert np.array_equal(mean_over_refits(values), values[0])
    assert np.array_equal(deviation_over_refits(values), np.zeros(3))
    assert Overlap.independent(2).factor == 0.5
