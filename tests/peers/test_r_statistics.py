"""ALED, ALER, NALED and NALER of R's package ale."""

import numpy as np
import pytest
from tests.peers.r_numbers import black_box, cases, read, table, within

import rhale
from rhale.kernels.ale_statistics import read_bins, read_cells, read_levels
from rhale.results.effect_statistics import Size, gather_statistics

pytestmark = pytest.mark.peer

each_case = pytest.mark.parametrize(("name", "number"), cases("ale_stats"))
each_number = pytest.mark.parametrize(
    ("name", "number"), cases("ale_stats", lambda case: case.get("type") == "numeric")
)
each_category = pytest.mark.parametrize(
    ("name", "number"), cases("ale_stats", lambda case: case.get("type") == "categorical")
)


def explained(name, case, **settings):
    feature = case["feature"]
    fx = rhale.explain(black_box(name), table(name), method="ale", features=[feature], **settings)
    return fx[feature]


def as_r_writes(found, case):
    """The numbers that R gave: one form of each deviation, and both ends of the ranges."""
    form = "_sd" if case["aled_fun"] == "sd" else ""
    row = found.to_dict()
    names = ("aler_low", "aler_high", f"naled{form}", "naler_low", "naler_high")
    return [row[f"aled{form}"], *(row[n] for n in names)]


def of_r(case):
    keys = ("aled", "aler_min", "aler_max", "naled", "naler_min", "naler_max")
    return within([case["stats"][key] for key in keys])


def heights_of_r(case):
    """R's own curve, or surface, as it reads it: rows at the minimum are in the first interval."""
    n, ale = np.array(case["n"], dtype=float), np.array(case["ale"])
    if "pair" in case:
        shape = [len(set(case[key])) for key in ("x_2", "x_1")]  # the first feature runs fastest
        counts, surface = n.reshape(shape).T, ale.reshape(shape).T
        for side in (0, 1):
            counts = np.add.reduceat(counts, [0, *range(2, counts.shape[side])], axis=side)
        return read_cells(surface, counts)
    if case["type"] == "categorical":
        return read_levels(ale, n)
    return read_bins(ale, np.append(n[0] + n[1], n[2:]))


@each_case
def test_statistics_of_r_s_own_curves_are_r_s(name, number):
    case = read(name)["cases"][number]
    y = read(name)["data"]["y"]
    found = gather_statistics(("x",), "y", "bins", heights_of_r(case), Size(0.0, 0.0), y)
    assert as_r_writes(found, case) == of_r(case)


@each_number
def test_bins_of_package_ale_give_its_curve_and_its_statistics(name, number):
    case = read(name)["cases"][number]
    effect = explained(name, case, bins=rhale.Ceilings(case["ceilings"]))
    n = case["n"]
    assert effect.curve(case["ceilings"]) == within(case["ale"])
    assert effect.count.tolist() == [n[0] + n[1], *n[2:]]
    assert as_r_writes(effect.statistics(y=read(name)["data"]["y"]), case) == of_r(case)


def ranks_by_r(n_rows, n_bins):
    """Ranks of type-1 quantiles at seq(1/K, 1, length.out = K), in R's own arithmetic."""
    shares = 1 / n_bins + np.arange(n_bins) * ((1 - 1 / n_bins) / max(n_bins - 1, 1))
    return np.ceil(n_rows * shares).astype(int)


@each_number
def test_as_many_ceilings_are_those_of_r_but_for_ranks_that_it_rounds_up(name, number):
    case = read(name)["cases"][number]
    x, n_bins = np.sort(table(name)[case["feature"]]), case["max_num_bins"] - 1
    by_r, exact = ranks_by_r(x.size, n_bins), -(-x.size * np.arange(1, n_bins + 1) // n_bins)
    assert np.unique([x[0], *x[by_r - 1]]).tolist() == case["ceilings"]
    effect = explained(name, case, bins=rhale.Ceilings(case["max_num_bins"]))
    assert effect.edges.tolist() == np.unique([x[0], *x[exact - 1]]).tolist()
    if effect.edges.tolist() == case["ceilings"]:
        assert as_r_writes(effect.statistics(y=read(name)["data"]["y"]), case) == of_r(case)


@each_category
def test_levels_in_their_order_give_the_statistics_of_package_ale(name, number):
    case = read(name)["cases"][number]
    effect = explained(name, case, categorical={case["feature"]: case["bins"]})
    found = effect.statistics(y=read(name)["data"]["y"], sides="below")
    assert effect.level_count.tolist() == case["n"]
    assert as_r_writes(found, case) == of_r(case)
