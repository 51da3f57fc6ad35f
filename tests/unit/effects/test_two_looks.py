"""Two looks at many limits: what the first one has not, the second one finds."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.binning.segments import MAX_EXHAUSTIVE_CELLS, find_cheapest


@dataclass(frozen=True)
class Wanting:
    """A search whose cheapest bins end at the limits that are nearest to the wanted ones."""

    limits: tuple[np.ndarray, ...]  # that are left of all limits
    wanted: tuple[float, ...]
    gaps: tuple[np.ndarray, ...]
    lean: float = 0.0  # of two limits that are as near, which one: below 0 the lower one
    seen: list = field(default_factory=list)

    @classmethod
    def among(cls, size, wanted, gaps=(), lean=0.0):
        return cls((np.arange(size + 1),), tuple(wanted), (np.array(gaps, dtype=np.intp),), lean)

    @property
    def sizes(self):
        return np.array([own.size - 1 for own in self.limits])

    def unite(self, limits):
        left = tuple(own[some] for own, some in zip(self.limits, limits, strict=True))
        return replace(self, limits=left)

    def cheapest_paths(self):
        self.seen.append(self.limits)
        if not self.wanted:
            return [None] * len(self.limits)
        return [
            np.unique(
                [0, *(np.abs(own - w - self.lean).argmin() for w in self.wanted), own.size - 1]
            )
            for own in self.limits
        ]


def test_few_cells_are_looked_at_once():
    asked = Wanting.among(MAX_EXHAUSTIVE_CELLS, [51])
    assert [path.tolist() for path in find_cheapest(asked)] == [[0, 51, MAX_EXHAUSTIVE_CELLS]]
    assert [limits[0].size for limits in asked.seen] == [MAX_EXHAUSTIVE_CELLS + 1]


@given(st.integers(MAX_EXHAUSTIVE_CELLS + 1, 900), st.data())
def test_limits_that_the_first_look_has_not_are_found_by_the_second(size, data):
    wanted = data.draw(st.lists(st.integers(1, size - 1), min_size=1, max_size=9))
    asked = Wanting.among(size, wanted, lean=data.draw(st.sampled_from([-0.1, 0.1])))
    (path,) = find_cheapest(asked)
    assert path.tolist() == sorted({0, *wanted, size})
    (first,), (second,) = asked.seen
    assert first.size <= size // 2 + 2
    assert second.size <= 7 * (len(wanted) + 2)


def test_many_bins_are_looked_at_less_far_around():
    """Of 400 cells in 60 bins: one limit on each side, no more than half of all."""
    asked = Wanting.among(400, np.linspace(0, 400, 61))
    (path,) = find_cheapest(asked)
    assert path.size == 61
    assert asked.seen[1][0].size <= 3 * 61


@pytest.mark.parametrize("wanted", [[], [120]])
def test_gaps_stay_cells_in_both_looks(wanted):
    asked = Wanting.among(300, wanted, gaps=[17, 201])
    (found,) = find_cheapest(asked)
    assert len(asked.seen) == 2
    assert all({17, 18, 201, 202} <= set(limits.tolist()) for (limits,) in asked.seen)
    assert (found is None) == (not wanted)
