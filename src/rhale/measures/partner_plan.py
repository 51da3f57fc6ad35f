"""After the second pass: with whom the spread of every feature goes, from the rows that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rhale.features.first_pass import Columns
from rhale.kernels.partner_cells import code_partners
from rhale.kernels.partner_shares import find_chances, measure_partners
from rhale.kernels.region_finding import Target
from rhale.measures.measure import SampleParts
from rhale.measures.region_plan import Done, aim, read_search_rows, spreads_of
from rhale.results.partners import PartnerMatrix

NO_EFFECTS = Target(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), np.empty(0))


def find_partners_of_all(
    columns: Columns, done: Sequence[Done], sampled: SampleParts
) -> PartnerMatrix:
    """Measure the partners of all features and outputs.

    Parameters
    ----------
    columns : Columns
        What the first pass learned. Partners are the features that regions may be told by where
        these were asked for, the explained ones otherwise.
    done : sequence of (Measure, Conclusion)
        What the second pass measured, with the local effects of the rows that it kept.
    sampled : SampleParts
        What it kept of the rows.
    """
    targets = {m.feature.name: one.targets for m, one in done if one.targets}
    explained = tuple(f for f in columns.features if f.name in targets)
    looked = columns.splitters or explained
    rows = read_search_rows(replace(columns, splitters=looked), done, sampled)
    partners, place = code_partners(rows), {f.name: k for k, f in enumerate(looked)}
    spreads = spreads_of(sampled)
    found = [
        measure_partners(partners, aim(target, rows, spread, place.get(feature.name, -1)))
        for feature in columns.features
        for target, spread in zip(
            targets.get(feature.name, (NO_EFFECTS,) * len(spreads)), spreads, strict=True
        )
    ]
    return PartnerMatrix(
        names=tuple(feature.name for feature in looked),
        share=np.stack([one.share for one in found]),
        standard_error=np.stack([one.error for one in found]),
        p_value=find_chances(found),
        own_share=np.stack([one.own_share for one in found]),
        proxy_of=np.stack([one.proxy_of for one in found]),
        size=np.stack([one.size for one in found]),
        unexplained=np.array([one.unexplained for one in found]),
        rows=np.array([one.rows for one in found], dtype=np.int64),
    )
