"""Regions: thirty features against effector's search, what they cost beyond an explanation, and how
the search grows with the rows."""

from functools import cache
from time import process_time

import numpy as np
import pytest
from measuring import race, seconds

import rhale

N_ROWS, N_FEATURES, N_TREES = 100_000, 30, 200
GATES = (np.arange(N_FEATURES) + 7) % N_FEATURES
CUTS = np.random.default_rng(1).uniform(-0.5, 0.5, N_FEATURES)
GRID = 2 / 20  # of effector's thresholds: nineteen, equally far apart
N_WAVES = 10


@cache
def table(n_rows=N_ROWS, n_features=N_FEATURES):
    return np.random.default_rng(0).uniform(-1, 1, (n_rows, n_features))


def slopes(rows):
    """Twice as steep beyond the gate of each feature, which is another one."""
    return np.where(rows[:, GATES] > CUTS, 2.0, 1.0)


def gated(rows):
    return (rows * slopes(rows)).sum(axis=1)


def effector_best(x, feature):
    """effector's usual search for one feature, on all rows: the limits of its regions."""
    effector = pytest.importorskip("effector")
    found = effector.RHALE(x, gated, slopes, nof_instances="all").find_regions(
        feature, finder=effector.space_partitioning.Best()
    )
    return [leaf.rule.conditions for leaf in found.leaves]


def test_thirty_features_against_effector(benchmark, ledger):
    pytest.importorskip("effector")
    x = table()
    rhale.explain(gated, x[:2_000], gradient=slopes, regions=True)  # compiled, if it was not

    found = race(
        benchmark,
        lambda: rhale.explain(gated, x, gradient=slopes, regions=True),
        lambda: effector_best(x, 0),
        rounds=1,
    )

    for feature, effect in enumerate(found.our_answer):
        tree = effect.regions
        assert tree.splitters == (f"x{GATES[feature]}",)
        assert len(tree) == 2
        beyond = x[:, GATES[feature]] > CUTS[feature]
        region = tree.locate(x)
        assert min(np.mean(region == beyond), np.mean(region != beyond)) < 1e-3
    theirs = found.other_answer  # more regions, for its thresholds lie on a grid
    assert all(set(rule) == {GATES[0]} for rule in theirs)
    ours = found.our_answer["x0"].regions.splits[0].threshold
    assert min(abs(rule[GATES[0]].hi - ours) for rule in theirs) < GRID
    speedup = found.speedup * N_FEATURES
    ledger.add(
        "explain with regions, against effector's search (Best)",
        f"{N_FEATURES} features, each with a gate, {N_ROWS:,} rows",
        f"{seconds(found.ours)}, the explanation included",
        f"{seconds(found.other * N_FEATURES)}: {seconds(found.other)} for one, times {N_FEATURES}",
        f"{speedup:.3g} times as fast",
        ">= 50",
        met=speedup >= 50,
    )


def test_regions_of_trees_cost_no_more_than_the_explanation(benchmark, ledger):
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    pytest.importorskip("treelite")
    x = table()
    noise = 0.1 * np.random.default_rng(1).normal(size=N_ROWS)
    answers = 3 * x[:, 0] * (x[:, 4] > 0.2) + np.sin(4 * x[:, 1]) + x[:, 2] * x[:, 3] + noise
    model = lightgbm.LGBMRegressor(n_estimators=N_TREES, verbose=-1).fit(x, answers)
    rhale.explain(model, x[:2_000], regions=True)

    found = race(
        benchmark,
        lambda: rhale.explain(model, x, regions=True),
        lambda: rhale.explain(model, x),
        rounds=3,
    )

    for with_regions, effect in zip(found.our_answer, found.other_answer, strict=True):
        assert with_regions.importance == effect.importance
    assert found.our_answer["x0"].regions.splitters == ("x4",)
    assert found.our_answer["x2"].regions.gradual == "x3"
    assert len(found.our_answer["x1"].regions) == 1
    ledger.add(
        "explain of LightGBM with regions, against explain",
        f"{N_FEATURES} features, {N_TREES} trees, {N_ROWS:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2g} of the time",
        "<= 2",
        met=found.cost <= 2,
    )


def fine_waves(rows):
    return np.sin(40 * rows[:, N_WAVES:] + 37 * np.roll(rows[:, N_WAVES:], 1, axis=1))


def rippled(rows):
    """Rows differ by waves that no rule follows: all is searched, and there is no third pass."""
    return (rows[:, :N_WAVES] * fine_waves(rows)).sum(axis=1)


def rippled_slopes(rows):
    own, others = rows[:, :N_WAVES], rows[:, N_WAVES:]
    change = own * np.cos(40 * others + 37 * np.roll(others, 1, axis=1))
    return np.hstack([fine_waves(rows), 40 * change + 37 * np.roll(change, -1, axis=1)])


def explain_rippled(n_rows, *, regions):
    return rhale.explain(
        rippled,
        table(n_rows, 2 * N_WAVES),
        features=range(N_WAVES),
        gradient=rippled_slopes,
        regions=regions,
    )


def processor_time(n_rows, *, regions):
    """On a busy machine the difference of two times on the wall says little."""
    start = process_time()
    explain_rippled(n_rows, regions=regions)
    return process_time() - start


def test_the_search_does_not_grow_with_the_rows(ledger):
    times = []
    for n_rows in (100_000, 1_000_000):
        assert {one.regions.state for one in explain_rippled(n_rows, regions=True).values()} == {
            "none"
        }
        plain, searched = (
            min(processor_time(n_rows, regions=regions) for _ in range(3))
            for regions in (False, True)
        )
        times.append(searched - plain)
    ratio = times[1] / times[0]
    ledger.add(
        "search and the rows it keeps, 1,000,000 rows against 100,000",
        f"{N_WAVES} features, {2 * N_WAVES} splitters",
        seconds(times[1]),
        seconds(times[0]),
        f"{ratio:.2g}",
        "<= 1.2",
        met=ratio <= 1.2,
    )
