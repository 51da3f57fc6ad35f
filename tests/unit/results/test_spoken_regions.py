from dataclasses import replace

import numpy as np

import rhale
from rhale.results.captions import Captions
from rhale.results.region_tree import Group, Groups, Partner, Region, RegionTree, Split
from rhale.results.spoken_regions import speak_regions

WORDS = Captions({"sex": "Gender", "inc": "Income", "x": "Age"})


def regions(*rules):
    effect = rhale.effect(np.linspace(0, 1, 41), np.ones(41), name="x")
    return tuple(Region(rule, 20, 0.5, effect) for rule in rules)


def test_rules_name_features_by_what_people_read():
    split = Split(0, "sex", 1, None, ("male",), others=("female",))
    rules = regions("sex = male", "sex = female")
    tree = RegionTree("x", "y0", "found", "", rules, (split,))
    spoken = speak_regions(tree, WORDS)
    assert [region.rule for region in spoken] == ["Gender = male", "Gender = female"]
    assert spoken.splitters == ("Gender",)
    assert spoken.feature == "Age"


def test_groups_partners_and_doubts_are_named_too():
    groups = Groups("inc", 2, (Group(high=30.0), Group(30.0)), is_cut=True)
    doubt = Split(0, "inc", 2, 3.0)
    tree = RegionTree("x", "y0", "given", "", regions("inc ≤ 30", "inc > 30"), groups=groups)
    tree = replace(tree, partners=(Partner("sex", 0.5, 0.1),), doubtful=(doubt,))
    spoken = speak_regions(tree, WORDS)
    assert [region.rule for region in spoken] == ["Income ≤ 30", "Income > 30"]
    assert spoken.partners[0].feature == "Gender"
    assert spoken.doubtful[0].feature == "Income"


def test_thirds_are_told_by_the_words_of_their_feature():
    split = Split(0, "inc", 2, 3.0)
    tree = RegionTree("x", "y0", "found", "", regions("inc ≤ 3", "inc > 3"), (split,))
    tree = replace(tree, gradual="inc", thirds=regions("inc ≤ 2", "2 < inc ≤ 4", "inc > 4"))
    spoken = speak_regions(tree, WORDS)
    assert spoken.gradual == "Income"
    assert [third.rule for third in spoken.thirds] == ["Income ≤ 2", "2 < Income ≤ 4", "Income > 4"]


def test_without_captions_the_tree_stays():
    tree = RegionTree("x", "y0", "none", "why", regions("all rows"))
    assert speak_regions(tree, Captions()) is tree
