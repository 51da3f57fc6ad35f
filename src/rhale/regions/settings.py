"""Settings of regions (searched, or given groups), and the result of a search in numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from rhale.effects.binning.partition import is_number_setting, require_count
from rhale.errors import BadSettingError
from rhale.regions.rules import Rule
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

MAX_REGION_DEPTH = 3
MOST_GROUPS = 20


@dataclass(frozen=True)
class Regions:
    """Settings of the search for regions: rows whose effect differs, checked on held-out rows.

    Parameters
    ----------
    depth : {1, 2, 3}
        Maximum number of splits that lead to a region.
    splitters : sequence of str or int, optional
        Features that regions may split by; by default all columns whose values can be read.
    min_share : float
        Smallest share of the rows in a region.
    min_rows : int
        Smallest number of searched rows in a region.
    min_gain, min_total : float
        Share of the spread that each split, and all splits together, must explain.
    min_effect : float
        Squared difference between the two sides of a split, as a share of the mean squared local
        effect: the smallest one that counts.
    min_output : float
        The smallest difference in predictions that counts, relative to the deviation that each of
        as many equal features as the model has would cause.
    min_noise : float, optional
        Deprecated, and does nothing: steps of trees are part of the spread.
    confidence : float
        Number of standard errors by which the share that a split explains must exceed zero.
    search_rows : int
        Maximum number of rows; half of them are searched, and half are held out for the check.
    look_ahead : bool
        Whether to search for pairs of splits that explain nothing separately.
    joint : bool
        Whether all features share the same regions.

    Examples
    --------
    >>> Regions(depth=1, splitters=["sex"]).depth
    1
    """

    depth: int = 2
    splitters: Sequence[str | int] | None = None
    min_share: float = 0.02
    min_rows: int = 30
    min_gain: float = 0.05
    min_total: float = 0.10
    min_effect: float = 0.02
    min_output: float = 0.2
    min_noise: float | None = None
    confidence: float = 3.5
    search_rows: int = 40_000
    look_ahead: bool = True
    joint: bool = False

    def __post_init__(self) -> None:
        depth: Any = self.depth
        if isinstance(depth, bool) or depth not in range(1, MAX_REGION_DEPTH + 1):
            msg = f"depth={depth!r} of regions is none of 1, 2 and 3: deeper rules are not read"
            raise BadSettingError(msg)
        for name in ("min_share", "min_gain", "min_total"):
            share = getattr(self, name)
            if not (is_number_setting(share) and 0 < share < 0.5):
                msg = f"{name}={share!r} of regions is not a share between 0 and 0.5, say 0.05"
                raise BadSettingError(msg)
        if self.min_noise is not None:
            msg = (
                "min_noise= of regions does nothing any more; min_output= and min_effect= are bars"
            )
            warnings.warn(msg, DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "min_noise", None)
        for name in ("min_effect", "min_output", "confidence"):
            size = getattr(self, name)
            if not (is_number_setting(size) and np.isfinite(size) and size >= 0):
                msg = f"{name}={size!r} of regions is not a number of zero or more"
                raise BadSettingError(msg)
        require_count("min_rows", self.min_rows)
        require_count("search_rows", self.search_rows)
        if isinstance(self.splitters, str):
            msg = f"splitters={self.splitters!r} is one name; pass a list of features"
            raise BadSettingError(msg)
        if self.splitters is not None:
            object.__setattr__(self, "splitters", tuple(self.splitters))
            if not self.splitters:
                msg = "splitters=[] of regions names no feature; name some, or leave it out for all"
                raise BadSettingError(msg)

    @property
    def columns(self) -> tuple[str | int, ...]:
        """Columns that may be splitters; none where all may be."""
        return tuple(self.splitters or ())


@runtime_checkable
class FittedRegions(Protocol):
    """Regions that were found before."""

    @property
    def splitters(self) -> tuple[str, ...]:
        """Features that their rules use."""


@dataclass(frozen=True)
class By:
    """Groups of rows that you name: there is no search, and all features have the same groups.

    Parameters
    ----------
    column : str, int or RegionTree
        The column whose values are the groups; or regions that an earlier search found.
    cuts : sequence of numbers or dates, optional
        Limits between groups of a numerical column; a value at a limit belongs to the lower group.
    groups : mapping of str to sequence, optional
        Names of groups, and the levels of the column in each. All other levels form one more
        group.

    Examples
    --------
    >>> By("age", cuts=[30, 50])
    By(column='age', cuts=(30, 50), groups=None)
    """

    column: Any
    cuts: Sequence[Any] | None = None
    groups: Mapping[str, Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        column = self.column
        if not isinstance(column, str | int | FittedRegions) or isinstance(column, bool):
            msg = f"By({column!r:.60}) names no groups; pass a column, or regions that were found"
            raise BadSettingError(msg)
        if self.cuts is not None and self.groups is not None:
            msg = f"By({column!r}) has cuts and groups; a column is cut, or its levels united"
            raise BadSettingError(msg)
        if self.cuts is not None:
            cuts: Any = self.cuts
            if isinstance(cuts, str) or not isinstance(cuts, Iterable):
                msg = f"By({column!r}, cuts={cuts!r}) is not a list of cuts; pass cuts=[{cuts!r}]"
                raise BadSettingError(msg)
            object.__setattr__(self, "cuts", tuple(cuts))
        if self.groups is not None:
            object.__setattr__(self, "groups", self._read_groups(self.groups))

    def _read_groups(self, groups: Any) -> dict[str, tuple[Any, ...]]:
        if not isinstance(groups, Mapping) or not groups:
            msg = (
                f"By({self.column!r}, groups={groups!r:.60}) names no groups; pass a name for each, "
                "and its levels: groups={'name': [levels]}"
            )
            raise BadSettingError(msg)
        for name, levels in groups.items():
            if isinstance(levels, str) or not isinstance(levels, Iterable) or not list(levels):
                msg = f"By({self.column!r}) has group {name!r} of {levels!r:.60}; pass a list of levels"
                raise BadSettingError(msg)
        return {str(name): tuple(levels) for name, levels in groups.items()}

    @property
    def search_rows(self) -> int:
        """Rows that measure how much the groups explain at most; half of them give the curves."""
        return Regions.search_rows

    @property
    def columns(self) -> tuple[str | int, ...]:
        """Columns that the groups are made of."""
        return (self.column,) if isinstance(self.column, str | int) else self.column.splitters


def parse_regions_option(asked: Any) -> Regions | By | None:
    """Turn `regions=` of a call into what is to be done; None where nothing is."""
    if asked is None or asked is False:
        return None
    if asked is True:
        return Regions()
    if isinstance(asked, Regions | By):
        return asked
    msg = (
        f"regions={asked!r:.60} is not understood; pass True, rhale.Regions(depth=2, splitters=[...])"
        ", or rhale.By('column')"
    )
    raise BadSettingError(msg)


# --- What a search for regions is given, and what it finds: numbers only, no names


Reason = Literal[
    "",
    "few rows",
    "no splitter",
    "itself",
    "alike",
    "nothing found",
    "not confirmed",
    "too little",
    "any direction",
]


@dataclass(frozen=True, eq=False)
class SearchRows:
    """Rows that are searched, and holdout rows."""

    # (n_rows, n_splitters): values of the features that may tell regions apart: numbers, or numbers
    # of levels from 0; nan where missing
    values: FloatArray
    # (n_splitters,): how many levels without an order a splitter has; 0 for numbers and for levels
    # in order
    n_levels: IntArray
    weight: FloatArray  # (n_rows,): weights, all positive
    is_holdout: BoolArray  # (n_rows,): rows that validate what was found in the others
    # how many features the model has; as many as there are splitters, if that is not said
    n_features: int = 0

    @cached_property
    def orders(self) -> tuple[IntArray | None, ...]:
        """Rows along each splitter, those without a value last; None for levels without an order.

        Cells of any number, lines and neighbours all need it: it is sorted once.
        """
        columns = zip(self.values.T, self.n_levels, strict=True)
        return tuple(None if levels else np.argsort(column) for column, levels in columns)


@dataclass(frozen=True, eq=False)
class Target:
    """The local effects of one feature, the target of a search for regions."""

    # (n_effects,): the row that each belongs to: a row has none where its value is missing, one
    # where the feature has bins, and up to two, the steps to its neighbours, where it has levels
    row: IntArray
    x: FloatArray  # (n_effects,): its position on the axis of the feature
    effects: FloatArray  # (n_effects,): local effects
    # (n_effects,): what all rows share at this place, as far as it is known beforehand; zeros
    # otherwise
    shared: FloatArray
    # of secants over wide windows, as of a model with steps: mean square of the steps that they are
    # made of, over that of the secants. 1 where the steps of a row have nothing to do with each
    # other, 0 for slopes
    roughness: float = 0.0
    step: IntArray | None = None  # (n_effects,): of a feature with levels: which step each is about
    own: int = -1  # the splitter that is the feature itself; -1 where it is none
    scale: float = 1.0  # deviation of the feature over the rows, of that of the predictions
    # (n_effects,): effects in the order of `x`, where it is known; see `along`
    order: IntArray | None = None

    @cached_property
    def along(self) -> IntArray:
        """Effects in their order on the axis."""
        return np.argsort(self.x) if self.order is None else self.order


@dataclass(frozen=True, eq=False)
class Gain:
    """What a rule, with those below it, explains in holdout rows: share, error, their number."""

    share: float
    error: float
    rows: int


@dataclass(frozen=True, eq=False)
class Finding:
    """What a search found for one feature."""

    # the tree, as `locate_rows` reads it; none where nothing was found
    rules: tuple[Rule, ...] = ()
    gains: tuple[Gain, ...] = ()  # one for each rule
    # share, error: share of the spread that the tree explains in holdout rows, and its error
    share: float = 0.0
    error: float = float("nan")
    reason: Reason = ""  # why there are no rules; empty where there are
    gradual: int = -1  # the splitter with which the effect changes gradually; -1 where it does not
    # partner_share, partner_error: (n_splitters,): share of the spread that goes with each
    # splitter, however it acts; nan for the feature itself and for splitters that cannot be looked
    # at
    partner_share: FloatArray = field(default_factory=lambda: np.empty(0))
    partner_error: FloatArray = field(default_factory=lambda: np.empty(0))
    unexplained: float = float("nan")  # share that no splitter explains, nor all together
