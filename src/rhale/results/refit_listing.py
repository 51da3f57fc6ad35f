"""Results of refits as text: the table that `print` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rhale.results.listing import aligned, shorten
from rhale.results.refit_effect import RefitEffect


def refits_as_text(
    effects: Sequence[RefitEffect], provenance: Mapping[str, Any], remarks: Sequence[str]
) -> str:
    """Write what would come back, the largest replicated effect first."""
    columns = {"feature": [shorten(e.name) for e in effects]}
    if len({e.output for e in effects}) > 1:
        columns["output"] = [shorten(e.output) for e in effects]
    n_left = len(columns)
    columns["importance [95 %]"] = [write_interval(e) for e in effects]
    columns["replicated"] = [f"{e.replicated:.4g}" for e in effects]
    columns["p"] = [f"{e.p_value:.2g}" for e in effects]
    columns["comes back"] = ["yes" if e.comes_back else "no" for e in effects]
    table = aligned([list(columns), *zip(*columns.values(), strict=True)], n_left=n_left)
    return "\n".join([refit_title(provenance), *table, *remarks])


def write_interval(effect: RefitEffect) -> str:
    """Importance with its interval between trainings."""
    low, high = effect.importance_ci()
    return f"{effect.importance:.4g} [{low:.3g}, {high:.3g}]"


def refit_title(provenance: Mapping[str, Any]) -> str:
    """Say in one line what was trained, and on what."""
    n = provenance.get("trainings", 0)
    learner, scheme = provenance.get("learner", "model"), provenance.get("scheme", "")
    rows = provenance.get("rows", 0)
    how = f", {scheme}" if scheme else ""
    return f"{n} trainings of {learner}{how}, explained on {rows:,} rows by {provenance.get('method', '?')}"
