"""ALED, ALER, NALED and NALER of R's package ale."""

import numpy as np
import pytest
from tests.peers.r_numbers import cases, read, within

from rhale.effects.statistics import (
    Size,
    gather_statistics,
    read_cells,
    read_levels,
    summarise_ale_bins,
)

pytestmark = pytest.mark.peer

each_case = pytest.mark.parametrize(("name", "number"), cases("ale_stats"))


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
    return summarise_ale_bins(ale, np.append(n[0] + n[1], n[2:]))


@each_case
def test_statistics_of_r_s_own_curves_are_r_s(name, number):
    case = read(name)["cases"][number]
    y = read(name)["data"]["y"]
    found = gather_statistics(("x",), "y", "bins", heights_of_r(case), Size(0.0, 0.0), y)
    assert as_r_writes(found, case) == of_r(case)
