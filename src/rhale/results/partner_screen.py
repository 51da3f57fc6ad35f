"""Which pairs are worth measuring: a ranking by what the spread of single features tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rhale.errors import BadSettingError
from rhale.names import find_output

if TYPE_CHECKING:
    from rhale.explanation import Explanation


def screen_pairs(
    explanation: Explanation, output: str | int | None = None
) -> list[tuple[str, str, float]]:
    """Rank pairs of explained features by what goes with one in the spread of the other.

    Parameters
    ----------
    explanation : Explanation
        With its partners.
    output : str or int, optional
        Which output; the largest over all of them if not given.

    Returns
    -------
    list of (feature, feature, size)
        Strongest first, in the order of the features within a pair. Sizes are in units of the
        output: the deviation of what goes with the partner, accumulated, the larger of both
        directions. That of a proxy counts as far as it adds to the others.

    Notes
    -----
    A screen, no verdict: it asks the model nothing, and the pair may go together for another
    reason.
    """
    matrix, features = explanation.partner_matrix, explanation.features
    if matrix is None:
        msg = "this explanation keeps no partners; call explain again with partners=True"
        raise BadSettingError(msg)
    n_outputs = len(explanation.outputs)
    some = range(n_outputs) if output is None else [find_output(output, explanation.outputs)]
    sizes = np.zeros((len(features),) * 2)
    places = [features.index(name) if name in features else -1 for name in matrix.names]
    inside = np.flatnonzero(np.array(places, dtype=np.intp) >= 0)
    of_outputs = matrix.lowered_size.reshape(len(features), n_outputs, -1)[:, list(some)]
    found = np.nan_to_num(of_outputs).max(axis=1)
    sizes[:, [places[k] for k in inside]] = found[:, inside]
    return _rank_screened_pairs(features, np.maximum(sizes, sizes.T))


def _rank_screened_pairs(names: Sequence[str], sizes: np.ndarray) -> list[tuple[str, str, float]]:
    first, second = np.triu_indices(len(names), 1)
    order = np.argsort(-sizes[first, second], kind="stable")
    return [(names[first[i]], names[second[i]], float(sizes[first[i], second[i]])) for i in order]
