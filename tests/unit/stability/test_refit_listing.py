import numpy as np
import pytest
from tests.unit.effects.refitted import SLOPES, TRAIN, make_table, refit_lines

import rhale
from rhale.output.text import name_few
from rhale.stability.table import REFIT_LEGEND, list_refits


@pytest.fixture(scope="module")
def lines():
    return refit_lines()


def listed(rx, correlated=None, remarks=()):
    return str(list_refits(rx.effects, rx.provenance, remarks, correlated)).split("\n")


def test_every_feature_has_a_line_and_columns_are_aligned(lines):
    head, names, first, second, legend, last = listed(lines, remarks=["a remark"])
    assert (
        head
        == "6 retrained models (function, models as given), explained on 80 rows by rhale; on prediction"
    )
    assert names.split("  ")[0] == "feature"
    assert first.startswith("x0 ")
    assert second.split() == ["x1", "0", "[0,", "0]", "0", "1", "no"]
    assert (legend, last) == (REFIT_LEGEND, "a remark")
    end = names.index("for chance") + len("for chance")
    assert (first[end - 3], second[end - 4]) == (".", "0")  # points are below one another
    assert all(line[end] == " " for line in (names, first, second))


def test_small_p_values_are_written_as_elsewhere(lines):
    assert f" {lines['x0'].p_value:.2g} " in listed(lines)[2]
    certain = refit_lines(slopes=2 + SLOPES / 1000)
    assert " < 0.001 " in listed(certain)[2]
    assert listed(certain)[2].endswith(" yes")


def test_what_is_not_known_is_a_dash():
    rx = refit_lines(train=[np.arange(9)] * SLOPES.size)
    line = listed(rx)[2].split()
    assert line[0] == "x0"
    assert line[2:] == ["\u2013"] * 3


def test_features_that_can_hardly_be_told_apart_are_named(lines):
    _, names, first, second, *_ = listed(lines, {"x0": ["x1"], "x1": []})
    assert names.endswith("correlated with")
    assert first.endswith("  x1")
    assert second.endswith(" no")
    assert name_few([*"abcde"]) == "a, b, c and 2 more"


def test_outputs_are_named_where_there_are_several():
    def two(slope):
        return lambda rows: np.column_stack([slope * rows[:, 0], rows[:, 1]])

    rx = rhale.refits([two(s) for s in SLOPES], make_table(), train=TRAIN)
    lines = listed(rx)
    assert lines[1].split()[:2] == ["feature", "output"]
    assert len(lines) == 2 + 4 + 1


def test_of_many_features_the_first_are_listed(lines):
    many = [lines["x0"]] * 25
    told = str(list_refits(many, lines.provenance, [])).splitlines()
    assert told[22] == "and 5 more: rx.replication() has all"
    assert len(told) == 2 + 20 + 2


def test_pairs_that_were_measured_follow_with_what_comes_back_first():
    x = make_table(3)
    models = [
        lambda r, s=s, t=t: s * r[:, 0] * r[:, 1] + t * r[:, 0] * r[:, 2]
        for s, t in zip(SLOPES, [9, -9, 9, -9, 9, -9], strict=True)
    ]
    rx = rhale.refits(models, x, train=TRAIN, pairs="all")
    lines = str(rx).splitlines()
    start = lines.index("") + 1
    assert lines[start].split() == [
        *("pair", "strength", "[95", "%]", "corrected", "for", "chance"),
        *("p-value", "of", "no", "effect", "stable"),
    ]  # fmt: skip
    assert lines[start + 1].startswith("x0 \u00d7 x1")  # the stronger one turns with every training
    assert lines[start + 1].endswith("yes")
    assert lines[start + 2].startswith("x0 \u00d7 x2")
    assert lines[start + 2].endswith("no")
    strengths = {pair.names: pair.strength for pair in rx.pairs}
    assert strengths["x0", "x2"] > strengths["x0", "x1"]
    assert lines[-1 - len(rx.notes)] == REFIT_LEGEND


def test_regions_stand_beside_the_number_of_trainings_that_found_them():
    """The gate of one model tells rows apart, its additive twin has none: one of two trainings."""
    rows = np.random.default_rng(0).uniform(-1, 1, size=(800, 2))
    models = [lambda x: x[:, 0] * np.sign(x[:, 1]), lambda x: x[:, 0] + x[:, 1]]
    halves = [np.arange(400), np.arange(400, 800)]
    rx = rhale.refits(models, rows, train=halves, regions=True, features=["x0"])
    headers, row = list_refits(rx.effects, rx.provenance, []).tables[0].texts
    assert headers[-1] == "differs by (retrained models)"
    assert row[-1] == "x1 (1 of 2)"
