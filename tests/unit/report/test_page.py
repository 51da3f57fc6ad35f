from dataclasses import replace

import numpy as np
import pytest
from tests.unit.conftest import divide

import rhale
from rhale.output.labels import Captions
from rhale.output.text import Note
from rhale.regions.partners import Partner, Partners
from rhale.regions.result import Region, RegionTree
from rhale.report.effects import collect_other_bins, make_page
from rhale.report.numbers import Line, make_chart_bins, shape_of

X = np.linspace(0.0, 10.0, 401)


def with_features(page, features, **more):
    """The same page with other features in its section of effects."""
    return replace(page, sections=(replace(page.sections[0], features=tuple(features), **more),))


def test_numbers_are_those_of_the_effects(fx):
    page = make_page(fx.effects, fx.provenance)
    assert [output.name for output in page.outputs] == ["prediction 1", "prediction 2"]
    assert tuple(output.key for output in page.outputs) == fx.outputs
    for effect, part in zip(
        fx.effects, (p for f in page.sections[0].features for p in f.parts), strict=True
    ):
        assert part.size == pytest.approx(effect.importance, abs=1e-8)
        assert part.error == pytest.approx(effect.importance_error, abs=1e-8)
        assert part.spread == pytest.approx(effect.typical_spread, abs=1e-8)
        assert part.n_bins == effect.mean.size


def test_facts_say_what_was_explained(fx):
    page = make_page(fx.effects, fx.provenance, explained={"y0": 0.5, "y1": 0.25})
    facts, settings = dict(page.facts), dict(page.settings)
    assert facts["Rows"] == "300"
    assert facts["Outputs"] == "prediction 1, prediction 2"
    assert facts["Explained by the curves"].startswith("prediction 1 50 %, prediction 2 25 %")
    assert settings["Method"].startswith("RHALE")
    assert f"rhale {rhale.__version__}" in settings["Versions"]
    assert not {"Bins", "Versions"} & facts.keys()  # for who wants to do it again


def test_a_part_of_the_rows_is_told():
    rows = np.random.default_rng(0).normal(size=(200, 1))
    fx = rhale.explain(lambda r: r[:, 0], rows, n_rows=50, seed=3)
    page = make_page(fx.effects, fx.provenance)
    assert dict(page.facts)["Rows"] == "50 of 200, drawn with seed 3"
    assert "seed=3,\n    n_rows=50," in page.sections[0].code


def test_the_code_of_the_page_is_python_that_names_the_method(fx):
    code = make_page(fx.effects, fx.provenance).sections[0].code
    compile(code, "page", "exec")
    assert "method='rhale'" in code


def test_notes_are_gathered_with_the_features_that_have_them(fx):
    page = make_page(fx.effects, fx.provenance, notes=("about the whole",))
    assert page.notes[-1].text == "about the whole"
    assert page.notes[-1].about == ""
    assert page.notes[0].about == "all features"
    for feature, effect in zip(page.sections[0].features, fx.effects[::2], strict=True):
        texts = [page.notes[i].text for i in feature.parts[0].notes]
        assert texts == list(effect.notes)


@pytest.mark.parametrize("method", ["pdp", "ice", "mplot"])
def test_a_constant_feature_of_a_profile_is_said_to_be_constant(method):
    rows = np.column_stack([np.random.default_rng(0).normal(size=50), np.full(50, 4.0)])
    fx = rhale.explain(lambda r: r[:, 0] * r[:, 1], rows, method=method)
    page = make_page(fx.effects, fx.provenance)
    (part,) = page.sections[0].features[1].parts
    assert [page.notes[i].text for i in part.notes] == [
        "constant: always 4, so no effect can be measured"
    ]
    assert (part.size, part.error, part.shape.form) == (0, 0, "constant")


def test_a_page_can_be_made_of_next_to_nothing():
    effect = rhale.effect([0.0, 1.0], [1.0, 1.0])
    page = make_page([effect], {})
    assert page.title == "How x moves the prediction"
    assert page.sections[0].features[0].parts[0].size == pytest.approx(effect.importance)


def test_a_title_is_one_line(fx):
    assert make_page(fx.effects, {}, title="a\nb\x00").title == "a b\ufffd"


def test_noise_of_rounding_is_no_number():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    fx = rhale.explain(lambda r: 0.1 * r[:, 0] + 1e6 * r[:, 1], rows)
    part = make_page(fx.effects, fx.provenance).sections[0].features[1].parts[0]
    assert part.spread == 0.0


def test_jumps_are_told_in_sentences_and_not_again_in_notes(stepped):
    noted = replace(
        stepped,
        local_notes=(),
        bin_notes=(Note("jump", "jumps by 2 at 1"), Note("bins", "few rows")),
    )
    page = make_page([noted], {"method": "rhale"})
    assert [note.text for note in page.notes] == ["few rows"]
    assert page.sections[0].features[0].parts[0].notes == (0,)


def test_only_curves_that_can_be_drawn_in_two_ways_have_steps(stepped):
    smooth = Line((0, 4), (0, 1), (0, 0), (0, 1), (0, 1))
    page = make_page([stepped], {"method": "rhale"})
    (feature,) = page.sections[0].features
    plain, both = (
        replace(feature.parts[0], shape=replace(feature.parts[0].shape, smooth=line))
        for line in (None, smooth)
    )
    found = [
        with_features(page, [replace(feature, parts=(part,))]).sections[0].has_steps
        for part in (plain, both)
    ]
    assert found == [False, True]


def test_regions_are_told_where_they_were_asked_for():
    effect = divide(X, {"a": 4.0, "b": 2.0}, share=0.921, standard_error=0.012)
    page = make_page([effect], {})
    (part,) = page.sections[0].features[0].parts
    assert page.sections[0].has_regions
    assert part.regions.reading.startswith("Where a the effect of age is about twice")
    plain = make_page([replace(effect, regions=None)], {})
    assert not plain.sections[0].has_regions
    assert plain.sections[0].features[0].parts[0].regions is None


def test_the_variance_with_regions_stands_beside_that_of_the_curves():
    effect = divide(X, {"a": 4.0, "b": 2.0})
    facts = dict(make_page([effect], {}, explained={"y0": 0.7}).facts)
    assert "Explained with regions" not in facts
    told = {"explained": {"y0": 0.7}, "explained_with_regions": {"y0": 0.95}}
    facts = dict(make_page([effect], {}, **told).facts)
    assert facts["Explained by the curves"] == "70 % of the variance of the predictions"
    assert facts["Explained with regions"] == "95 % of the variance of the predictions"


def test_doubtful_regions_are_told_in_the_sentence_and_not_again_in_notes():
    effect = rhale.effect(X, np.ones(401), name="age")
    tree = RegionTree("age", "y0", "doubtful", "", (Region("all rows", 401, 1.0, effect),))
    noted = replace(effect, local_notes=(Note("regions", "perhaps"), Note("bins", "few rows")))
    page = make_page([replace(noted, regions=tree)], {})
    assert [note.text for note in page.notes] == ["few rows"]
    assert "treat it as a hint" in page.sections[0].features[0].parts[0].regions.reading


def test_the_title_says_what_moves_in_words_for_people(fx):
    words = Captions({"x0": "Age"}, {"y0": "probability of churn = 1"})
    effects = [replace(e, captions=words) for e in fx.effects if e.output == "y0"]
    page = make_page(effects, fx.provenance)
    assert page.title == "How 2 features move the probability of churn = 1"
    assert [output.name for output in page.outputs] == ["probability of churn = 1"]
    assert [section.name for section in page.sections[0].features] == ["Age", "x1"]
    assert make_page(effects[:1], {}).title == "How Age moves the probability of churn = 1"
    assert make_page(fx.effects, {}).title == "How 2 features move 2 predictions"
    assert "300 rows" in page.lead


def test_partners_are_told_where_no_regions_are(fx):
    found = Partners("x0", "y1", (Partner("x1", 0.53, 0.01, 1e-9),), 0.47)
    page = make_page(fx.effects, fx.provenance, partners={("x0", "y1"): found})
    told = [part.partners for part in page.sections[0].features[0].parts]
    assert told == ["", "x1 accounts for 53\u00a0% of how the effect of x0 varies between rows."]
    assert {part.partners for part in page.sections[0].features[1].parts} == {""}


def test_the_spread_has_its_error_where_rows_were_moved(fx):
    part = make_page(fx.effects, fx.provenance).sections[0].features[0].parts[1]
    assert part.spread_error == fx["x0", "y1"].typical_spread_error > 0
    alone = rhale.effect([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])  # no model was asked
    assert make_page([alone], {}).sections[0].features[0].parts[0].spread_error is None


def test_rows_of_the_largest_effects_may_be_drawn(fx, monkeypatch):
    assert make_page(fx.effects, fx.provenance).sections[0].has_row_lines
    monkeypatch.setattr("rhale.report.effects.MOST_WITH_ROWS", 1)
    page = make_page(fx.effects, fx.provenance)
    kept = [part for one in page.sections[0].features for part in one.parts if part.shape.row_lines]
    assert [part.size for part in kept] == [max(effect.importance for effect in fx.values())]
    alone = rhale.effect([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    assert not make_page([alone], {}).sections[0].has_row_lines


def test_other_bins_have_the_numbers_of_explain_and_none_stands_twice():
    fx = rhale.explain(lambda r: np.sin(r[:, 0]), X[:, None])
    others = [fx.rebin(rhale.Quantile(n)).effects for n in (3, 9, 3)] + [fx.effects]
    page = make_page(fx.effects, fx.provenance, others=others)
    ((part,),) = (feature.parts for feature in page.sections[0].features)
    assert page.sections[0].has_choices
    assert [len(one.bins.mean) for one in part.choice] == [3, 9]
    for one, (effect,) in zip(part.choice, others, strict=False):
        shape = shape_of(effect)
        assert one.bins == shape.bins
        assert vars(one.line) == {name: getattr(shape, name) for name in vars(one.line)}


def test_bins_of_a_walked_model_come_without_a_curve():
    ensemble = pytest.importorskip("sklearn.ensemble")
    model = ensemble.GradientBoostingRegressor(n_estimators=5, random_state=0)
    fx = rhale.explain(model.fit(X[:, None], np.sin(X)), X[:, None])
    (other,) = fx.rebin(rhale.Quantile(4)).effects
    (chosen,) = collect_other_bins(fx["x0"], [other])
    assert chosen.line is None
    assert chosen.bins == make_chart_bins(other)
