"""Saved regions come back as they were, and what does not belong together is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.effects.with_regions import SPLIT, TWO, alone, make_regional, put
from tests.unit.regions.test_rules_in_words import trees

from rhale.effects.explanation import restore_explanation
from rhale.effects.store import FORMAT, VERSION, pack_explanation
from rhale.errors import BadFileError, BadSettingError
from rhale.regions.result import Group, Groups, Partner
from rhale.regions.settings import MOST_GROUPS

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def fx():
    return make_regional()


def content_of(fx):
    return json.loads(json.dumps({VERSION: FORMAT, **pack_explanation(fx)}, allow_nan=False))


def told(fx):
    """What is said of an explanation that went through a file."""
    with pytest.raises(BadFileError) as error:
        restore_explanation(content_of(fx), "it")
    return str(error.value).removeprefix("it is damaged: ").partition(";")[0]


def with_tree(fx, name="x0", **changes):
    tree = replace(fx[name].regions, **changes)
    return replace(
        fx, effects=tuple(replace(e, regions=tree) if e.name == name else e for e in fx.effects)
    )


def test_regions_come_back_as_they_were(fx):
    again = restore_explanation(content_of(fx), "it")
    assert again == fx
    tree, expected = again["x0"].regions, fx["x0"].regions
    assert tree.sampled.dtype == expected.sampled.dtype
    for found, region in zip(tree, expected, strict=True):
        assert found.effect.sample.x.tobytes() == region.effect.sample.x.tobytes()
        np.testing.assert_array_equal(found.effect.ci([0.0, 0.5]), region.effect.ci([0.0, 0.5]))
    assert tree.locate(fx.sample_x).tolist() == expected.sampled.tolist()
    assert type(tree.partners[0]) is Partner
    assert again["x2"].regions.groups == fx["x2"].regions.groups


def test_all_sorts_of_rules_come_back(fx):
    ends = (replace(SPLIT, threshold=INF, missing="second", kind="date", above=1.0), *TWO[1:])
    groups = (Group(levels=("a",), name="n"), Group(levels=("b",), missing=True), Group(rest=True))
    changes = {"splits": (), "groups": Groups("x1", 1, groups), "state": "given", "share": NAN}
    for changed in (
        with_tree(fx, splits=(replace(ends[0], second=1), ends[1])),
        with_tree(fx, **changes),
        with_tree(fx, partners=(), thirds=(), gradual=None, unexplained=NAN),
        with_tree(fx, sampled=np.full(fx.sample_weight.size, -1)),
    ):
        assert restore_explanation(content_of(changed), "it") == changed


def test_the_effect_of_all_rows_is_written_once(fx):
    written = content_of(fx)["effects"][1]
    assert written["regions"]["regions"][0]["effect"] is None
    again = restore_explanation(content_of(fx), "it")["x1"]
    assert again.regions[0].effect == replace(again, regions=None)
    assert again.regions[0].effect.sample.x.tobytes() == again.sample.x.tobytes()


def test_an_only_region_with_an_effect_of_its_own_keeps_it(fx):
    region = replace(fx["x1"].regions[0], effect=replace(fx["x1"], regions=None, search=2.0))
    changed = with_tree(fx, "x1", regions=(region,))
    assert restore_explanation(content_of(changed), "it") == changed


def samples(content, place=0, name="regions"):
    return [r["effect"]["sample"] for r in content["effects"][place]["regions"][name]]


def with_sample(region, sample):
    return replace(region, effect=replace(region.effect, sample=sample))


def test_sampled_rows_of_a_region_are_written_once(fx):
    """By their places in the sample of all rows; or, where effects differ there, by these alone."""
    tree, whole = fx["x0"].regions, fx["x0"].sample
    same = [type(whole)(*(c[tree.sampled == i] for c in whole)) for i in range(3)]
    same[0] = same[0]._replace(local_effects=same[0].local_effects + 1.0)
    changed = with_tree(
        fx,
        regions=tuple(map(with_sample, tree.regions, same)),
        thirds=tuple(map(with_sample, tree.thirds, same[1:])),
    )
    content = content_of(changed)
    by_place, by_effect = {"record", "rows"}, {"record", "local_effects"}
    assert [s.keys() for s in samples(content)] == [by_effect, by_place, by_place]
    assert [s.keys() for s in samples(content, name="thirds")] == [by_place, by_place]
    assert samples(content)[1]["rows"]["array"] == np.flatnonzero(tree.sampled == 1).tolist()
    again = restore_explanation(content, "it")
    assert again == changed
    found = again["x0"].regions.thirds[1].effect.sample
    assert [c.tobytes() for c in found] == [c.tobytes() for c in same[2]]


def test_rows_of_a_third_that_are_not_all_rows_are_written_whole(fx):
    third = fx["x0"].regions.thirds[0]
    sample = third.effect.sample
    changed = with_tree(fx, thirds=(with_sample(third, sample._replace(x=sample.x[::-1])),))
    (written,) = samples(content_of(changed), name="thirds")
    assert written.keys() == {"record", "x", "local_effects", "weight"}
    assert restore_explanation(content_of(changed), "it") == changed


def test_rows_of_a_region_that_are_not_there_are_refused(fx):
    content = content_of(fx)
    rows = {"array": [3, 400], "type": "int64", "shape": [2]}
    content["effects"][0]["regions"]["regions"][0]["effect"]["sample"] = {
        "record": "part_rows",
        "rows": rows,
    }
    with pytest.raises(BadFileError, match="region of 'x0' has rows that are not there"):
        restore_explanation(content, "it")
    content["effects"][0]["sample"] = {"record": "part_rows", "rows": rows}
    with pytest.raises(BadFileError, match=r"effects\[0\]\.sample is a record 'part_rows'"):
        restore_explanation(content, "it")


def test_regions_within_regions_are_refused(fx):
    inner = replace(fx["x0"], regions=alone(fx["x0"]))
    tree = alone(fx["x0"])
    nested = replace(tree, regions=(replace(tree[0], effect=inner),))
    with pytest.raises(BadSettingError, match="'all rows' of 'x0' has regions of its own"):
        pack_explanation(put(fx, {("x0", "y0"): nested}))
    content = content_of(fx)
    inside = content["effects"][0]["regions"]["regions"][0]["effect"]
    inside["regions"] = content["effects"][1]["regions"]
    with pytest.raises(BadFileError, match=r"effect\.regions is an object, where nothing belongs"):
        restore_explanation(content, "it")


@pytest.mark.parametrize("name", ["regions", "thirds"])
def test_effects_of_several_regions_are_needed(fx, name):
    content = content_of(fx)
    content["effects"][0]["regions"][name][1]["effect"] = None
    with pytest.raises(BadFileError, match=rf"{name}\[1\]\.effect is missing"):
        restore_explanation(content, "it")


def test_splits_lead_to_every_region_once(fx):
    first, second = TWO

    def of(*splits):
        return told(with_tree(fx, splits=splits))

    assert "do not lead to the 3 regions" in of()
    assert "do not lead to the 3 regions" in of(SPLIT)
    assert "leads where another split leads, or back" in of(replace(first, second=0), second)
    assert "leads where another split leads, or back" in of(replace(first, first=1), second)
    assert "leads where another split leads, or back" in of(first, replace(second, second=-2))
    assert "leads where another split leads, or back" in of(first, replace(second, second=1))
    assert "do not lead to" in of(first, replace(second, second=2))
    assert "splits[1].depth is not that of its place" in of(first, replace(second, depth=2))
    assert "splits[1].depth is not" in of(replace(first, second=-4), second)
    assert "splits[0].depth" in of(replace(first, depth=1), second)
    assert "splits[0].second is 1000" in of(replace(first, second=1000), second)
    assert "doubtful" in told(with_tree(fx, "x1", doubtful=(replace(SPLIT, second=-3),)))


@settings(max_examples=15, deadline=None)
@given(trees(), st.data())
def test_any_tree_comes_back(fx, tree, data):
    splits, _ = tree
    n_regions, n_rows = len(splits) + 1, fx.sample_weight.size
    own = data.draw(
        st.lists(st.sampled_from(fx["x0"].regions.regions), min_size=n_regions, max_size=n_regions)
    )
    sampled = np.arange(n_rows) % n_regions
    gain = {"share": data.draw(st.floats(-1, 1)), "standard_error": data.draw(st.floats(0, 1))}
    changed = with_tree(fx, regions=tuple(own), splits=tuple(splits), sampled=sampled, **gain)
    assert restore_explanation(content_of(changed), "it") == changed


def test_a_split_has_a_threshold_or_levels(fx):
    first, second = TWO

    def of(**changes):
        return told(with_tree(fx, splits=(replace(first, **changes), second)))

    assert "threshold is unknown" in of(threshold=NAN)
    assert "above is not below a threshold" in of(above=1.0, threshold=1.0)
    assert "above is not below a threshold" in of(above=NAN)
    assert "above is not below a threshold" in of(above=0.0, threshold=None, levels=("a",))
    assert "levels has entries beside a threshold" in of(levels=("a",))
    assert "others has a level that goes first" in of(threshold=None, levels=("a",), others=("a",))
    assert "missing is 'third'" in of(missing="third")
    assert "share is inf" in of(share=INF)
    assert "depth is -1" in of(depth=-1)


def test_groups_are_the_regions(fx):
    def of(*groups, **changes):
        return told(with_tree(fx, "x2", groups=Groups("x1", 1, groups, **changes)))

    assert "groups are not the regions" in of(Group())
    assert "in the order of their cuts" in of(Group(1.0), Group(high=0.0), is_cut=True)
    assert "in the order of their cuts" in of(Group(NAN), Group(), is_cut=True)
    assert "name a level twice" in of(Group(levels=("a",)), Group(levels=("a",)))
    assert "hold missing rows twice" in of(Group(missing=True), Group(missing=True))
    assert "hold rest rows twice" in of(Group(rest=True), Group(rest=True))
    assert "groups are not the regions" in told(with_tree(fx, groups=Groups("x1", 1, ())))


def test_regions_have_rows_and_effects_of_their_feature(fx):
    tree = fx["x0"].regions
    other = replace(tree[0], effect=fx["x0"].regions[0].effect)
    wrong = replace(other, effect=replace(other.effect, name="x1"))
    levels = replace(other, effect=replace(fx["x2"].regions[0].effect, name="x0"))
    assert "of another feature" in told(with_tree(fx, regions=(wrong, *tree.regions[1:])))
    assert "of another kind" in told(with_tree(fx, regions=(levels, *tree.regions[1:])))
    assert "of another feature" in told(put(fx, {("x1", "y0"): fx["x0"].regions}))
    many = {"regions": (other,) * (MOST_GROUPS + 3), "splits": ()}
    assert "regions has 23 entries, more than 22" in told(with_tree(fx, **many))
    assert "thirds has 5 entries, more than 4" in told(with_tree(fx, thirds=(other,) * 5))
    assert "splits has 23 entries" in told(with_tree(fx, splits=(SPLIT,) * 23))
    assert "regions has 0 entries" in told(with_tree(fx, "x1", regions=()))
    assert "share_of_rows is 1.5" in told(
        with_tree(fx, regions=(replace(other, share_of_rows=1.5), *tree.regions[1:]))
    )


def test_states_and_rows_agree(fx):
    sampled = fx["x0"].regions.sampled
    assert "state is 'none' of 3 regions" in told(with_tree(fx, state="none"))
    assert "regions.sampled has 399 numbers for 400 rows" in told(
        with_tree(fx, sampled=sampled[1:])
    )
    assert "sampled has rows of a region that is not there" in told(
        with_tree(fx, sampled=sampled + 1)
    )
    assert "sampled has rows" in told(with_tree(fx, "x1", sampled=sampled))
    assert "sampled holds -2" in told(with_tree(fx, sampled=sampled - 2))


def test_trees_of_several_outputs_come_back():
    several = make_regional(lambda rows: np.column_stack([rows[:, 0] * (rows[:, 1] > 0)] * 2))
    assert restore_explanation(content_of(several), "it") == several
