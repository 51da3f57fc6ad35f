import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.unit.effects.refitted import N_ROWS, SLOPES, TRAIN, line, make_table, refit_lines

import rhale
from rhale.errors import BadSettingError, UnknownFeatureError, UnknownOutputError
from rhale.stability.result import Failure, lighten, select_pairs
from rhale.stability.splits import Scheme

N_MODELS = SLOPES.size


@pytest.fixture(scope="module")
def lines():
    return refit_lines(pairs="all")


def three_classes(slope):
    """Probabilities of three classes, the first two of which depend on the first feature."""

    def predict(rows):
        score = np.exp(np.column_stack([slope * rows[:, 0], -slope * rows[:, 0], 0 * rows[:, 0]]))
        return score / score.sum(axis=1, keepdims=True)

    return predict


def everything(factor):
    """A model of a frame with levels, dates, gaps and a constant."""

    def predict(rows):
        total = 2.0 * (rows["city"] == "a").to_numpy() + rows["day"].dt.day_of_year.to_numpy() / 30
        return factor * (total + np.nan_to_num(rows["gap"].to_numpy(), nan=3.0))

    return predict


def make_frame(n_rows=N_ROWS):
    rng = np.random.default_rng(3)
    gap = rng.normal(size=n_rows)
    gap[::8] = np.nan
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D")
    city = rng.choice(["a", "b", "c"], n_rows)
    return pd.DataFrame({"city": city, "day": days, "gap": gap, "one": 1.0})


def test_one_effect_for_every_feature(lines):
    assert (lines.features, len(lines), lines.n_trainings) == (("x0", "x1"), 2, N_MODELS)
    assert [effect.name for effect in lines.values()] == ["x0", "x1"]
    assert "x0" in lines
    assert "x9" not in lines
    assert lines[0] is lines["x0"]
    assert lines["x0"].effects == tuple(fx["x0"] for fx in lines.explanations)
    with pytest.raises(UnknownFeatureError, match="x0"):
        lines["x9"]


def test_the_largest_that_comes_back_is_first(lines):
    assert [effect.name for effect in lines.ranked()] == ["x0", "x1"]
    table = make_table()[:, ::-1]
    models = [lambda rows, s=s: s * rows[:, 1] for s in SLOPES]
    turned = rhale.refits(models, table, train=TRAIN)
    assert [effect.name for effect in turned.ranked()] == ["x1", "x0"]


def test_several_outputs_are_named():
    rx = rhale.refits([three_classes(s) for s in SLOPES], make_table(), train=TRAIN)
    assert len(rx) == 2 * 3
    with pytest.raises(UnknownOutputError, match="several outputs, name one"):
        rx["x0"]
    first, second, third = (rx["x0", output] for output in rx.outputs)
    x = np.array([-1.0, 1.0])
    assert np.diff(first.curve(x))[0] > 0.3
    assert np.diff(second.curve(x))[0] < -0.3
    assert first.comes_back
    assert third.importance < first.importance / 2
    assert rx["x1", rx.outputs[0]].importance == pytest.approx(0, abs=1e-12)
    assert [effect.output for effect in rx.ranked(rx.outputs[1])] == [rx.outputs[1]] * 2
    assert list(rx.replication()["output"]).count(rx.outputs[0]) == 2


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "ice", "mplot"])
def test_every_kind_of_column_goes_through(method):
    models = [everything(s) for s in SLOPES]
    rx = rhale.refits(models, make_frame(), train=TRAIN, method=method)
    assert rx["one"].importance == 0
    assert rx["one"].p_value == 1
    assert not rx["one"].comes_back
    assert rx["city"].curve("a") > rx["city"].curve("b")
    assert rx["gap"].missing.count == 10
    assert np.isfinite(rx["day"].ci(pd.Timestamp("2021-02-01"))).all()
    frame = rx.to_frame()
    assert set(frame["feature"]) == {"city", "day", "gap", "one"}
    assert list(frame["at"][frame["feature"] == "gap"])[-1] == "missing"
    assert "  stable" in str(rx)


def test_rows_without_weight_are_as_if_they_were_not_there():
    table, weights = make_table(), np.r_[np.ones(50), np.zeros(30)]
    train = Scheme("half-samples", N_MODELS).draw(50, seed=2)
    models = [lambda rows, s=s: s * rows[:, 0] ** 2 for s in SLOPES]
    weighed = rhale.refits(models, table, train=train, weights=weights)["x0"]
    fewer = rhale.refits(models, table[:50], train=train)["x0"]
    x = np.array([-0.5, 0.0, 0.8])
    np.testing.assert_allclose(weighed.curve(x), fewer.curve(x), atol=1e-9)
    np.testing.assert_allclose(weighed.between(x), fewer.between(x), atol=1e-9)
    np.testing.assert_allclose(weighed.gram, fewer.gram, rtol=1e-6)
    assert weighed.p_value == pytest.approx(fewer.p_value, rel=0.05)


def test_one_feature_is_enough():
    rx = refit_lines(table=make_table(1))
    assert rx.features == ("x0",)
    assert rx["x0"].importance == pytest.approx(SLOPES.mean() * make_table(1).std())
    assert len(rx.replication()) == 1


def test_the_table_of_what_comes_back_names_correlated_features():
    table = make_table(3)
    table[:, 2] = np.exp(table[:, 0])
    found = refit_lines(table=table).replication()
    assert found["feature"].iloc[0] == "x0"
    by_name = dict(zip(found["feature"], found["correlated_with"], strict=True))
    assert by_name == {"x0": "x2", "x1": "", "x2": "x0"}
    assert "correlated with" in str(refit_lines(table=table))


def test_pairs_are_those_that_were_measured_or_are_measured_now(lines):
    assert [pair.names for pair in lines.pairs] == [("x0", "x1")]
    found = lines.replication(pairs=True)
    assert list(found.columns)[:3] == ["first", "second", "output"]
    assert not found["comes_back"].iloc[0]
    later = refit_lines()
    assert later.pairs == ()
    assert len(later.replication(pairs=[("x1", "x0")])) == 1
    forgotten = replace(later, trained=None)
    with pytest.raises(BadSettingError, match="the models are not in memory"):
        forgotten.replication(pairs="all")
    kept = replace(lines, trained=None)
    assert len(kept.replication(pairs=[("x1", "x0")])) == 1
    with pytest.raises(BadSettingError, match="were not measured"):
        select_pairs(kept.pairs, [("x0", "x5")], ["x0", "x1", "x5"])


def test_pairs_of_loaded_refits_are_asked_for_as_those_of_models(lines):
    kept = replace(lines, trained=None)
    assert len(kept.replication(pairs=[(0, "x1")])) == 1
    with pytest.raises(UnknownFeatureError, match="there is no feature 'x7'"):
        kept.replication(pairs=[("x0", "x7")])
    for wrong in (False, 1.5, "top", [1], [("x0",)], [("x0", "x0")], ("x0", "x1"), []):
        with pytest.raises(BadSettingError, match="pairs="):
            kept.replication(pairs=wrong)
    with pytest.raises(BadSettingError, match="pairs=5 were not measured"):
        kept.replication(pairs=5)


def test_models_stay_in_this_process(lines):
    assert lines.trained is not None
    copy = pickle.loads(pickle.dumps(lines))  # noqa: S301 - our own bytes
    assert copy == lines
    assert copy.trained is None


def test_refits_compare_by_what_they_hold(lines):
    assert lines == replace(lines, trained=None)
    assert lines != replace(lines, explanations=lines.explanations[::-1])
    assert lines != "refits"
    assert lines != replace(lines, failures=(Failure(3, "no"),))


def test_failures_are_told(lines):
    failed = replace(lines, failures=(Failure(4, "ValueError: no rows of class b"),))
    assert str(failed).endswith("training 4 failed: ValueError: no rows of class b")


def product(weight):
    """The slope of x0 is 0 where x1 is negative."""
    return lambda rows: weight * rows[:, 0] * (rows[:, 1] > 0)


def test_rules_that_every_training_finds_come_back():
    table = np.random.default_rng(0).normal(size=(600, 3))
    train = Scheme("half-samples", 4).draw(600, seed=1)
    rx = rhale.refits([product(s) for s in SLOPES[:4]], table, train=train, regions=True)
    found = rx.regions("x0")
    assert list(found["splitter"]) == ["x1"]
    assert found["found_in"].iloc[0] == 1
    assert found["threshold"].iloc[0] == pytest.approx(0, abs=0.1)
    assert found["threshold_between"].iloc[0] < 0.1
    assert found["share"].iloc[0] > 0.9
    assert len(rx.regions("x2")) == 0
    assert set(rx.regions()["feature"]) <= {"x0", "x1"}
    assert len(rx.regions("x0", output=rx.outputs[0])) == 1


def test_rules_that_were_not_searched_are_refused(lines):
    with pytest.raises(BadSettingError, match="were not asked for"):
        lines.regions()
    named = refit_lines(regions=rhale.By("x1", cuts=[0]))
    with pytest.raises(BadSettingError, match="were named, not searched"):
        named.regions()


@pytest.mark.parametrize("options", [{}, {"method": "pdp"}, {"regions": rhale.By("city")}])
def test_single_trainings_print_plot_and_save(options, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    models = [everything(s) for s in SLOPES[:2]]
    fx = rhale.refits(models, make_frame(), train=TRAIN[:2], **options).explanations[1]
    assert "city" in str(fx)
    for name in (None, *fx.features):
        fx.plot(name) if name else fx.plot()
        plt.close("all")
    fx.report(tmp_path / "one.html")
    fx.save(tmp_path / "one.json")
    assert rhale.load(tmp_path / "one.json") == fx


def test_what_is_light_has_the_same_effects():
    fx = rhale.explain(line(2.0), make_table())
    light = lighten(fx)
    assert light.cells == {}
    assert light.partner_matrix is None
    assert light["x0"].importance == fx["x0"].importance
    np.testing.assert_array_equal(light.sample_x, fx.sample_x)


@pytest.mark.parametrize("bins", [None, 5, rhale.Quantile(4)])
def test_copies_of_one_model_have_the_bins_of_its_explanation(bins):
    def model(rows):
        return np.maximum(rows[:, 0], 0) ** 2 + np.sin(4 * rows[:, 1])

    table = np.random.default_rng(7).normal(size=(400, 2))
    fx = rhale.explain(model, table, bins=bins)
    rx = rhale.refits([model] * 3, table, scheme="independent", bins=bins)
    for name in fx.features:
        assert np.array_equal(rx[name].axis, fx[name].edges)
        assert rx[name].notes == fx[name].notes
        np.testing.assert_allclose(rx[name].curve(fx[name].edges), fx[name].curve(fx[name].edges))


def test_notes_are_those_of_most_trainings():
    """A jump at another place in every training is no note of all of them."""
    table = np.random.default_rng(7).integers(0, 3, size=(60, 1)) + 0.0
    piled = np.where(np.arange(60) < 40, 0.0, np.linspace(-1, 1, 60))
    models = [lambda rows, s=s: s * rows[:, 0] for s in (1.0, 2.0, 3.0)]
    rx = rhale.refits(models, np.column_stack([piled, table]), scheme="independent", method="ale")
    assert not [note for note in rx["x0"].notes if "bins stay" in note]
    assert len(rx["x0"].notes) == len(set(rx["x0"].notes))


def test_trainings_are_explained_with_the_same_bins():
    models = [lambda rows, at=at: np.maximum(rows[:, 0] - at, 0) for at in (-0.5, 0.0, 0.5)]
    rx = rhale.refits(models, make_table(), train=TRAIN[:3])
    edges = [fx["x0"].edges for fx in rx.explanations]
    assert all(np.array_equal(one, edges[0]) for one in edges)
    fixed = rhale.refits(models, make_table(), train=TRAIN[:3], bins=4)
    assert [fx["x0"].n_parts for fx in fixed.explanations] == [4] * 3


def test_rows_of_trainings_and_their_factor_are_told():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    folds = [np.setdiff1d(np.arange(40), part) for part in np.split(np.arange(40), 4)]
    models = [lambda seen, k=k: k * seen[:, 0] for k in range(4)]

    rx = rhale.refits(models, rows, train=folds)

    assert rx.n_train.tolist() == [30] * 4
    assert rx.factor == pytest.approx((1 - 1 / 4) * 30 / 10)  # the grouped jackknife
