"""H statistics of hstats and iml, in R."""

import numpy as np
import pytest
from tests.peers.r_numbers import FOLDER, black_box, read, table
from tests.unit.effects.askers import asker_for

from rhale.data import open_table
from rhale.interaction.h_statistic import h_statistics

FILES = [path.stem for path in sorted(FOLDER.glob("h_statistic__*.json"))] or [
    pytest.param(
        None, marks=pytest.mark.skip(reason="shared/fixtures/r is not beside the checkout")
    )
]
pytestmark = pytest.mark.peer


def find(name, weights=None):
    frame = table(name)
    chunk = open_table(frame).chunk(0, len(frame))
    n_columns = frame.shape[1]
    pairs = [(j, k) for j in range(n_columns) for k in range(j + 1, n_columns)]
    asker = asker_for(black_box(name), chunk, tuple(frame.columns))
    found = h_statistics(asker, chunk, range(n_columns), pairs, weights)
    return found, [f"{frame.columns[j]}:{frame.columns[k]}" for j, k in pairs]


def values(told, names):
    known = dict(zip(told["terms"], told["values"], strict=True))
    return np.array([known[name] for name in names])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["hstats", "hstats_weighted"])
def test_every_number_of_hstats_is_met(name, kind):
    told = read(name)[kind]
    if told is None:
        pytest.skip("no weights in this file")
    weights = np.array(read(name)["data"]["weights"]) if kind == "hstats_weighted" else None
    found, pairs = find(name, weights)
    features = told["h2_overall"]["terms"]
    near = {"rtol": 0, "atol": 1e-12}
    for ours, theirs in [
        (found.h2, values(told["h2_pairwise"], pairs)),
        (found.numerator, values(told["h2_pairwise_unnormalized"], pairs)),
        (found.overall_h2, values(told["h2_overall"], features)),
        (found.overall, values(told["h2_overall_unnormalized"], features)),
    ]:
        np.testing.assert_allclose(ours[:, 0], theirs, **near)


@pytest.mark.parametrize("name", FILES)
def test_roots_are_those_of_iml(name):
    found, pairs = find(name)
    theirs = {
        frozenset(term.split(":")): value
        for part in read(name)["iml"]["pairwise"]
        for term, value in zip(part["terms"], part["values"], strict=True)
    }
    ours = np.sqrt(found.h2[:, 0])
    np.testing.assert_allclose(
        ours, [theirs[frozenset(p.split(":"))] for p in pairs], rtol=0, atol=1e-12
    )
    overall = read(name)["iml"]["overall"]
    np.testing.assert_allclose(
        np.sqrt(found.overall_h2[:, 0]), overall["values"], rtol=0, atol=1e-12
    )
