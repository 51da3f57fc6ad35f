"""Who of several partners a spread goes with, and who only goes with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.partner_cells import CellSums, OwnCells, PartnerCodes

MIN_PARTNER_SHARE, MAX_JOINT_PARTNERS = (
    0.03,
    6,
)  # share of partners that are looked at together, and how many of them
MAX_NORMAL_EQUATION_SIZE = (
    1_000_000  # of the normal equations at most: two of 50 levels, six of ten cells
)
PROXY = 0.1  # of its share: a partner that adds less to the others is a proxy
PARTNER_CHANCE_DEVIATIONS = (
    3.0  # deviations above what chance explains: a partner that counts beside others
)
RIDGE = 1e-9  # of the mean weight of a cell: keeps cells without rows out of the way


@dataclass(frozen=True, eq=False)
class Order:
    """What partners have of their own.

    Attributes
    ----------
    own_share : ndarray of shape (n_partners,)
        What each adds to those before it; nan where that was not looked at.
    proxy_of : ndarray of shape (n_partners,)
        The partner that takes over what it has; -1 where none does.
    unexplained : float
        Share that the sum of partners leaves.
    """

    own_share: FloatArray
    proxy_of: IntArray
    unexplained: float


def tell_proxies(
    own: OwnCells,
    partners: PartnerCodes,
    sums: CellSums,
    share: FloatArray,
    chance: FloatArray,
    total: float,
) -> Order:
    """Fit partners together, the one that adds most first, and tell what each adds.

    Parameters
    ----------
    own : OwnCells
        The feature.
    partners : PartnerCodes
        Its partners.
    sums : CellSums
        Sums over cells of both.
    share, chance : ndarrays of shape (n_partners,)
        What each explains alone, and the deviation of that if it were chance; nan where it is not
        looked at.
    total : float
        Sum of squares that shares are of.

    Notes
    -----
    Inside each cell of the feature a sum of functions of the partners, constant in their cells.
    What a partner adds is read off the normal equations once those before it are swept out of
    them: O(n_effects n^2) to set them up for n partners, whatever comes after.
    """
    n_partners = share.size
    own_share, proxy_of = np.full(n_partners, np.nan), np.full(n_partners, -1)
    some = _candidates(own, partners, share, chance)
    if some.size == 0:
        return Order(own_share, proxy_of, 1.0)
    fit = _Fit.of(own, partners, sums, some)
    left, taken, drops = list(range(some.size)), list[int](), np.zeros((some.size,) * 2)
    while left:
        added, by_chance = (squares / total for squares in fit.added())
        if taken:
            drops[left, taken[-1]] = own_share[some[left]] - added
        own_share[some[left]] = added
        best = int(np.argmax(added))
        if added[best] <= PARTNER_CHANCE_DEVIATIONS * by_chance[best] or not fit.has_room:
            break
        taken.append(left.pop(best))
        fit = fit.sweep(best)
    for k in {*range(some.size)} - {*taken[:1]}:
        if taken and own_share[some[k]] < PROXY * share[some[k]]:
            proxy_of[some[k]] = some[int(np.argmax(drops[k]))]
    unexplained = float(np.clip(1 - fit.explained / total, 0.0, 1.0))
    return Order(np.maximum(own_share, 0.0), proxy_of, unexplained)


def _candidates(
    own: OwnCells, partners: PartnerCodes, share: FloatArray, chance: FloatArray
) -> IntArray:
    """Partners that explain more than chance and something worth telling, largest first.

    As many as can be fitted together: levels of two features may have many cells.
    """
    with np.errstate(invalid="ignore"):
        some = np.flatnonzero(
            share > np.maximum(MIN_PARTNER_SHARE, PARTNER_CHANCE_DEVIATIONS * chance)
        )
    some = some[np.argsort(-share[some], kind="stable")][:MAX_JOINT_PARTNERS]
    width = np.maximum.accumulate(np.diff(partners.starts)[some])
    fits = own.n_cells * (np.arange(1, some.size + 1) * width) ** 2 <= MAX_NORMAL_EQUATION_SIZE
    return np.asarray(some[: max(2, np.count_nonzero(fits))])


@dataclass(frozen=True, eq=False)
class _Fit:
    """Normal equations of candidates that are not taken yet, in every cell of the feature.

    Blocks of candidates have the same width: cells that one does not have are empty.

    Attributes
    ----------
    matrix : ndarray of shape (n_own, n, width, n, width)
        Weights of cells of two candidates, as far as those that were taken leave them.
    right : ndarray of shape (n_own, n, width, n_series)
        Weighted sums of values, likewise.
    left : ndarray of shape (n_series, n_own)
        Sums of squares that are left.
    total : ndarray of shape (n_series, n_own)
        Sums of squares about the mean.
    used : ndarray of shape (n_own,)
        Degrees of freedom that are used up.
    count, one : ndarrays of shape (n_own,)
        Effective rows, and the weight of one.
    factor : ndarray of shape (n_own,)
        What squares in a cell count.
    """

    matrix: FloatArray
    right: FloatArray
    left: FloatArray
    total: FloatArray
    used: FloatArray
    count: FloatArray
    one: FloatArray
    factor: FloatArray

    @classmethod
    def of(cls, own: OwnCells, partners: PartnerCodes, sums: CellSums, some: IntArray) -> _Fit:
        weight, n = own.sums.weight, some.size
        mean = own.sums.values / weight
        total = np.maximum(own.sums.powers - mean * own.sums.values, 0.0)
        places, width = _list_candidate_cells(partners, some)
        inside = places >= 0
        held = np.where(inside, sums.weight[:, places], 0.0)
        right = np.where(inside, sums.sums[:, :, places], 0.0) - mean[:, :, None, None] * held
        matrix = _weights_of_two(own, partners, some, width)
        diagonal = np.arange(n * width)
        matrix = matrix.reshape(own.n_cells, n * width, n * width)
        matrix[:, diagonal, diagonal] = held.reshape(own.n_cells, -1)
        flat = held.reshape(own.n_cells, -1)
        matrix -= flat[:, :, None] * flat[:, None, :] / weight[:, None, None]
        one = own.sums.squares / weight
        return cls(
            matrix=matrix.reshape(own.n_cells, n, width, n, width),
            right=np.moveaxis(right, 0, -1),
            left=total,
            total=total,
            used=np.ones(own.n_cells),
            count=weight / one,
            one=one,
            factor=own.factor,
        )

    def _solve(self, blocks: FloatArray, right: FloatArray) -> FloatArray:
        """Solve for candidates by themselves; blocks have shape (..., n_own, width, width)."""
        ridge = RIDGE * self.count * self.one / blocks.shape[-1]
        return np.linalg.solve(blocks + ridge[:, None, None] * np.eye(blocks.shape[-1]), right)

    def added(self) -> tuple[FloatArray, FloatArray]:
        """Squares that each candidate adds to those that were taken, and how far chance varies."""
        k = np.arange(self.matrix.shape[1])
        blocks, sums = self.matrix[:, k, :, k, :], self.right.swapaxes(0, 1)
        solved = self._solve(blocks, np.concatenate([sums, blocks], axis=-1))
        n_series = sums.shape[-1]
        explained = np.einsum("kaws,kaws->ska", sums, solved[..., :n_series])
        rank = np.trace(solved[..., n_series:], axis1=-2, axis2=-1)
        left = np.maximum(self.left[:, None] - explained, 0.0)
        variance = left / np.maximum(self.count - self.used - rank, 1.0)
        own, *steps = explained - variance * rank
        chance = np.sqrt((2 * rank * (self.factor * variance[0]) ** 2).sum(axis=1))
        return (own - sum(steps)) @ self.factor, chance

    @property
    def has_room(self) -> bool:
        """Whether rows are enough for one more: half of them stay free."""
        return bool(median(self.count - 2 * (self.used + self.matrix.shape[2])) > 0)

    def sweep(self, candidate: int) -> _Fit:
        """Take what one candidate explains off all others, which stay."""
        n_own, n, width = self.matrix.shape[:3]
        others = np.delete(np.arange(n), candidate)
        block, sums = self.matrix[:, candidate, :, candidate], self.right[:, candidate]
        row = self.matrix[:, candidate][:, :, others].reshape(n_own, width, -1)
        solved = self._solve(block, np.concatenate([row, sums, block], axis=-1))
        n_row, n_series = row.shape[-1], sums.shape[-1]
        change = row.swapaxes(1, 2) @ solved[..., : n_row + n_series]
        matrix, right = self.matrix[:, others][:, :, :, others], self.right[:, others]
        explained = np.einsum("aws,aws->sa", sums, solved[..., n_row : n_row + n_series])
        rank = np.trace(solved[..., n_row + n_series :], axis1=-2, axis2=-1)
        return replace(
            self,
            matrix=matrix - change[..., :n_row].reshape(matrix.shape),
            right=right - change[..., n_row:].reshape(right.shape),
            left=np.maximum(self.left - explained, 0.0),
            used=self.used + rank,
        )

    @property
    def explained(self) -> float:
        """Sum of squares that those taken explain, adjusted for degrees of freedom."""
        left = self.left * (self.count - 1) / np.maximum(self.count - self.used, 1.0)
        own, *steps = (self.total - left) @ self.factor
        return float(own - sum(steps))


def _list_candidate_cells(partners: PartnerCodes, some: IntArray) -> tuple[IntArray, int]:
    """Cells of candidates, -1 where one has fewer than others; and the most that one has."""
    sizes = np.diff(partners.starts)[some]
    width = int(sizes.max(initial=0))
    inside = np.arange(width) < sizes[:, None]
    return np.where(inside, partners.starts[some][:, None] + np.arange(width), -1), width


def _weights_of_two(
    own: OwnCells, partners: PartnerCodes, some: IntArray, width: int
) -> FloatArray:
    """Weights in cells of the feature and of two candidates, for all pairs of different ones."""
    n = some.size
    made = np.zeros((own.n_cells, n, width, n, width))
    first, second = np.triu_indices(n, 1)
    codes = partners.codes[some][:, own.row] - partners.starts[some][:, None]
    at = (own.cell * n + first[:, None]) * width + codes[first]
    at = (at * n + second[:, None]) * width + codes[second]
    weight = None if partners.is_even else np.tile(own.weight, first.size)
    counts = np.bincount(at.ravel(), weight, made.size).reshape(made.shape)
    made += counts * (own.weight[0] if partners.is_even else 1.0)
    return made + made.transpose(0, 3, 4, 1, 2)
