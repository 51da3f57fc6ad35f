"""Explanations with regions, made by hand: those of all rows and of every region are explained."""

from dataclasses import replace

import numpy as np

import rhale
from rhale.regions.result import Group, Groups, Partner, Region, RegionTree, Split
from rhale.regions.wording import rules_of, rules_of_groups

RNG = np.random.default_rng(3)
TABLE = np.column_stack([RNG.uniform(-1, 1, (400, 2)), RNG.integers(0, 4, 400)])
SPLIT = Split(0, "x1", 1, 0.0, share=0.99, standard_error=0.01, rows=200)
DEEPER = Split(1, "x2", 2, None, ("0", "1"), "first", 0.25, 0.02, 90, -2, -3, others=("2", "3"))
TWO = (replace(SPLIT, second=1), DEEPER)


def gate(rows):
    """The slope of x0 is 1 where x1 is positive, and 0 elsewhere; steps are 1, or 2 likewise."""
    return (rows[:, 0] + rows[:, 2]) * (rows[:, 1] > 0) + rows[:, 2]


def regions_of(fx, model, masks, rules, name, output):
    """The effect of a feature in every region."""
    total = sum(mask.sum() for mask in masks)
    return tuple(
        Region(rule, int(mask.sum()), mask.sum() / total, own[name, output])
        for mask, rule in zip(masks, rules, strict=True)
        for own in [rhale.explain(model, TABLE[mask], seed=fx.provenance.get("seed", 0))]
    )


def put(fx, trees):
    """An explanation whose effects have these regions."""
    return replace(
        fx, effects=tuple(replace(e, regions=trees.get((e.name, e.output))) for e in fx.effects)
    )


def alone(effect, **changes):
    """No regions: the only one has all rows."""
    region = Region("all rows", int(effect.count.sum()), 1.0, replace(effect, regions=None))
    known = {"state": "none", "why": "rows hardly differ"} | changes
    return RegionTree(effect.name, effect.output, regions=(region,), **known)


def place_rows(fx, tree):
    """Regions of the sampled rows, whose columns are those of the table."""
    return tree.locate(fx.sample_x)


def make_regional(model=gate):
    """Regions of x0 by x1, of the steps by groups of x1, none of x1 itself."""
    fx = rhale.explain(model, TABLE)
    trees = {}
    for output in fx.outputs:
        below = TABLE[:, 1] <= 0
        low = TABLE[:, 2] <= 1
        masks = [below, ~below & low, ~below & ~low]
        found = RegionTree(
            "x0",
            output,
            "found",
            "",
            regions_of(fx, model, masks, rules_of(TWO), "x0", output),
            TWO,
            0.99,
            0.01,
            gradual="x1",
            thirds=regions_of(fx, model, [below, ~below], ("low", "high"), "x0", output),
            partners=(Partner("x1", 0.9, 0.01), Partner("x2", -0.02, float("nan"))),
            unexplained=0.1,
        )
        cuts = Groups("x1", 1, (Group(high=0.0), Group(0.0)), is_cut=True)
        rules = rules_of_groups(cuts)
        given = RegionTree(
            "x2",
            output,
            "given",
            "",
            regions_of(fx, model, [below, ~below], rules, "x2", output),
            share=0.5,
            groups=cuts,
        )
        made = {"x0": found, "x2": given}
        made = {n: replace(tree, sampled=place_rows(fx, tree)) for n, tree in made.items()}
        doubt = {"state": "doubtful", "why": "no larger than steps", "doubtful": (SPLIT,)}
        made["x1"] = alone(fx["x1", output], share=0.2, standard_error=0.01, **doubt)
        trees |= {(name, output): tree for name, tree in made.items()}
    return put(fx, trees)
