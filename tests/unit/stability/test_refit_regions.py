from dataclasses import replace

import numpy as np
import pytest
from tests.unit.effects.refitted import line, make_table
from tests.unit.effects.with_regions import alone

import rhale
from rhale.regions.result import Split
from rhale.stability.compare import find_splits, name_levels, tabulate_rules
from rhale.stability.refit_effect import RefitEffect
from rhale.stability.replication import Overlap

DEEP = Split(1, "age", 1, 70.0, share=0.1)
SEX = {"threshold": None, "levels": ("f",), "others": ("m", "x"), "share": 0.2}


@pytest.fixture(scope="module")
def effect():
    return rhale.explain(line(1.0), make_table())["x0"]


def searched(effect, *trainings):
    """Trainings that found these splits, each one region for short."""
    found = [
        replace(effect, regions=alone(effect, state="found", why="", splits=splits))
        for splits in trainings
    ]
    return RefitEffect(tuple(found), Overlap.independent(len(found)), np.eye(len(found)))


def test_a_splitter_is_found_in_a_share_of_the_trainings(effect):
    age = [Split(0, "age", 1, at, share=share) for at, share in ((30.0, 0.5), (40.0, 0.7))]
    rx = searched(effect, (age[0], DEEP), (age[1],), (Split(0, "sex", 2, **SEX),), ())
    rows = tabulate_rules([rx])
    assert rows["feature"] == ["x0", "x0"]
    assert rows["splitter"] == ["age", "sex"]
    assert rows["found_in"] == [0.5, 0.25]
    assert rows["threshold"] == [35.0, pytest.approx(np.nan, nan_ok=True)]
    assert rows["threshold_between"][0] == pytest.approx(np.std([30, 40], ddof=1))
    assert rows["at"] == ["35", "f"]
    assert rows["share"] == pytest.approx([0.6, 0.2])


def test_the_first_rule_of_a_splitter_counts_and_counts_once(effect):
    first = Split(0, "age", 1, 30.0, share=0.5)
    assert find_splits(searched(effect, (DEEP, first), ())) == {"age": [first]}


def test_one_training_has_no_deviation_and_unknown_shares_do_not_count(effect):
    rows = tabulate_rules([searched(effect, (Split(0, "age", 1, 30.0),), ())])
    assert np.isnan([rows["threshold_between"][0], rows["share"][0]]).all()


def test_trainings_without_regions_have_no_rules(effect):
    rx = RefitEffect((effect, effect), Overlap.independent(2), np.eye(2))
    assert all(cells == [] for cells in tabulate_rules([rx]).values())


def test_levels_are_those_that_part_in_most_trainings_whatever_side_is_first():
    here = Split(0, "sex", 2, **SEX)
    turned = replace(here, levels=here.others, others=here.levels)
    other = replace(here, levels=("x",), others=("f", "m"))
    assert name_levels([other, here, turned]) == "f"


def test_dates_part_at_dates(effect):
    when = Split(0, "day", 1, 10.0, kind="date")
    assert tabulate_rules([searched(effect, (when,), (when,))])["at"] == ["1970-01-11"]


def test_an_interval_has_two_limits(effect):
    years = Split(0, "year", 1, 2012.0, above=2007.0)
    later = Split(0, "year", 1, 2014.0, above=2009.0)
    assert tabulate_rules([searched(effect, (years,), (later,))])["at"] == ["2008 to 2013"]
