"""After the second pass: with whom the spread of every feature goes, from the rows that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rhale.features.first_pass import Columns
from rhale.kernels.partner_cells import code_partners
from rhale.kernels.partner_shares import find_chances, measure_partners
from rhale.kernels.region_finding import SearchRows, Target
from rhale.measures.measure import SampleParts
from rhale.measures.region_plan import Done, aim, read_search_rows, spreads_of
from rhale.results.partners import PartnerMatrix

NO_EFFECTS = Target(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class PartnerSearch:
    """All that partners are measured from, once somebody asks for them.

    Attributes
    ----------
    names : tuple of str
        The partners.
    rows : SearchRows
        Their values in the rows that were kept.
    targets : tuple of (Target, float, int)
        Local effects of all features and outputs in these rows, each with the deviation of the
        predictions and the place of its feature among the partners, as `aim` takes them.
    """

    names: tuple[str, ...]
    rows: SearchRows
    targets: tuple[tuple[Target, float, int], ...]

    def measure(self) -> PartnerMatrix:
        """Measure the partners of all features and outputs."""
        partners = code_partners(self.rows)
        aimed = (aim(target, self.rows, spread, own) for target, spread, own in self.targets)
        found = [measure_partners(partners, target) for target in aimed]
        return PartnerMatrix(
            names=self.names,
            share=np.stack([one.share for one in found]),
            standard_error=np.stack([one.error for one in found]),
            p_value=find_chances(found),
            own_share=np.stack([one.own_share for one in found]),
            proxy_of=np.stack([one.proxy_of for one in found]),
            size=np.stack([one.size for one in found]),
            unexplained=np.array([one.unexplained for one in found]),
            rows=np.array([one.rows for one in found], dtype=np.int64),
        )


def plan_partners(
    columns: Columns, done: Sequence[Done], sampled: SampleParts, rows: SearchRows
) -> PartnerSearch:
    """Gather what the partners of all features and outputs are measured from.

    Parameters
    ----------
    columns : Columns
        What the first pass learned. Partners are the features that regions may be told by where
        these were asked for, the explained ones otherwise.
    done : sequence of (Measure, Conclusion)
        What the second pass measured, with the local effects of the rows that it kept.
    sampled : SampleParts
        What it kept of the rows.
    rows : SearchRows
        These rows, with the features that regions may be told by.
    """
    targets = {m.feature.name: one.targets for m, one in done if one.targets}
    explained = tuple(f for f in columns.features if f.name in targets)
    looked = columns.splitters or explained
    if not columns.splitters:
        rows = read_search_rows(replace(columns, splitters=looked), done, sampled)
    place, spreads = {f.name: k for k, f in enumerate(looked)}, spreads_of(sampled)
    aimed = tuple(
        (target, spread, place.get(feature.name, -1))
        for feature in columns.features
        for target, spread in zip(
            targets.get(feature.name, (NO_EFFECTS,) * len(spreads)), spreads, strict=True
        )
    )
    return PartnerSearch(tuple(feature.name for feature in looked), rows, aimed)
