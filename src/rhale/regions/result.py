"""RegionTree: rules, their rows, the effect there, and how far to trust the split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from rhale.effects.new_rows import MISSING_LEVEL, UNSEEN_LEVEL, NewRows, read_new_rows
from rhale.output.number_format import AxisKind
from rhale.output.storage.values import (
    ANY_NUMBER,
    MAX_SHARE,
    SPREAD_SHARE_NUMBER,
    STANDARD_ERROR_NUMBER,
    UNIQUE_TEXTS,
    ArrayDimension,
    Number,
    Numbers,
    RecordUnion,
    Several,
    stored,
)
from rhale.regions.rules import Rule, locate_rows
from rhale.regions.settings import MAX_REGION_DEPTH, MOST_GROUPS
from rhale.stats.arrays import FloatArray, IntArray, freeze, same_fields

if TYPE_CHECKING:
    from rhale.effects.result import Result

MAX_STORED_REGIONS = MOST_GROUPS + 2  # rows without a value, and levels that no group names
REGION_INDEX = Number(-MAX_STORED_REGIONS, MAX_STORED_REGIONS, whole=True)

State = Literal["found", "doubtful", "none", "given"]
Side = Literal["first", "second"]


@dataclass(frozen=True)
class Split:
    """One split of some rows into two.

    Attributes
    ----------
    depth : int
        Splits before it: 0 for the first.
    feature : str
        The feature that is looked at.
    column : int
        Its column in the table.
    threshold : float or None
        Rows with values up to this one go first; None where levels do.
    levels : tuple of str
        Levels that go first, where the feature has levels; rare ones that are pooled have one
        name, "other (7 levels)", here or among the others.
    missing : {"first", "second", "none"}
        Where rows without a value go; "none" where no searched row is without one. A new row
        without one goes second then.
    share, standard_error : float
        Share of the spread that it explains, with what is below it, in rows that the search did
        not see, and its error.
    rows : int
        Rows that it splits, of those of the holdout.
    first, second : int
        What comes next on either side: the place of a further split, or -1 - region.
    kind : {"number", "date", "duration"}
        What the threshold is.
    others : tuple of str
        The remaining levels, where the feature has levels.
    rest : {"first", "second"}
        Where rows go whose level is named nowhere: the side of the rare ones that are pooled;
        "second" where none are.
    above : float or None
        The lower limit of an interval: rows with values above this one, and up to the threshold, go
        first, all others second. None where there is one limit.

    Examples
    --------
    >>> split = Split(depth=0, feature="age", column=3, threshold=40.0)
    >>> split.feature, split.threshold
    ('age', 40.0)
    """

    depth: int = field(metadata=stored(Number(0, MAX_REGION_DEPTH - 1, whole=True)))
    feature: str
    column: int
    threshold: float | None = field(metadata=stored(ANY_NUMBER))
    levels: tuple[str, ...] = field(default=(), metadata=stored(UNIQUE_TEXTS))
    missing: Literal["first", "second", "none"] = "none"
    share: float = field(default=float("nan"), metadata=stored(SPREAD_SHARE_NUMBER))
    standard_error: float = field(default=float("nan"), metadata=stored(STANDARD_ERROR_NUMBER))
    rows: int = 0
    first: int = field(default=-1, metadata=stored(REGION_INDEX))
    second: int = field(default=-2, metadata=stored(REGION_INDEX))
    kind: AxisKind = "number"
    others: tuple[str, ...] = field(default=(), metadata=stored(UNIQUE_TEXTS))
    rest: Side = "second"
    above: float | None = field(default=None, metadata=stored(ANY_NUMBER))


class Group(NamedTuple):
    """Rows that the user named: those between two cuts, or with one of some levels.

    Attributes
    ----------
    low, high : float
        Rows with values above `low`, and up to `high`, where the column is cut; both infinite
        where there are none but rows without a value.
    levels : tuple of str
        Levels of the rows, where the groups are made of levels.
    missing : bool
        Whether rows without a value are here.
    rest : bool
        Whether rows are here whose level no group names.
    name : str
        What the user calls it; nothing where its values say it.

    Examples
    --------
    >>> Group(low=30.0, high=50.0).high
    50.0
    """

    low: Annotated[float, ANY_NUMBER] = float("-inf")
    high: Annotated[float, ANY_NUMBER] = float("inf")
    levels: Annotated[tuple[str, ...], UNIQUE_TEXTS] = ()
    missing: bool = False
    rest: bool = False
    name: str = ""


@dataclass(frozen=True)
class Groups:
    """Groups of rows that the user named.

    Attributes
    ----------
    feature : str
        The column that is looked at.
    column : int
        Its place in the table.
    groups : tuple of Group
        One for each region; none has rows of another.
    is_cut : bool
        Whether groups lie between cuts; else they are made of levels.
    kind : {"number", "date", "duration"}
        What the cuts are.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> groups = rhale.By("x1", cuts=[0.0])
    >>> fx = rhale.explain(lambda rows: rows[:, 0] * np.sign(rows[:, 1]), x, regions=groups)
    >>> tree = fx["x0"].regions
    >>> tree.groups.feature, [group.high for group in tree.groups.groups]
    ('x1', [0.0, inf])
    """

    feature: str
    column: int
    groups: tuple[Group, ...]
    is_cut: bool = False
    kind: AxisKind = "number"


class Partner(NamedTuple):
    """A feature that accounts for a part of the spread of an effect.

    Attributes
    ----------
    feature : str
        Name of the feature.
    share : float
        Share of the spread that it accounts for, 0 to 1.
    standard_error : float
        Standard error of the share.

    Examples
    --------
    >>> Partner("sex", 0.4, 0.02).share
    0.4
    """

    feature: str
    share: Annotated[float, SPREAD_SHARE_NUMBER]
    standard_error: Annotated[float, STANDARD_ERROR_NUMBER]


@dataclass(frozen=True, eq=False)
class Region:
    """Rows that a rule describes, and the effect there.

    Attributes
    ----------
    rule : str
        The rule of its rows: "sex = female and age ≤ 40"; "all rows".
    count : int
        Rows in it that have a value of the explained feature.
    share_of_rows : float
        Their share of the weight.
    effect : Effect or LevelEffect
        The effect of the feature in these rows.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> fx = rhale.explain(lambda rows: rows[:, 0] * np.sign(rows[:, 1]), x, regions=True)
    >>> tree = fx["x0"].regions
    >>> [region.effect.mean.round(6).tolist() for region in tree]
    [[-1.0], [1.0]]
    """

    rule: str
    count: int
    share_of_rows: float = field(metadata=stored(Number(0, MAX_SHARE)))
    effect: Result

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False, repr=False)
class RegionTree:
    """Regions of rows with different effects of one feature on one output.

    Attributes
    ----------
    feature, output : str
        The feature and the output of the effect.
    state : {"found", "doubtful", "none", "given"}
        "found" (in this model): held-out rows confirm them; `rhale.refit(..., regions=True)` shows
        whether they are stable. "doubtful": held-out rows confirm them, but the difference is no
        larger than the steps of the model. "none": there are no regions. "given": the user named
        the groups.
    why : str
        Why there are no regions, as a sentence; empty where there are.
    regions : tuple of Region
        The regions; a single one with all rows where nothing was found.
    splits : tuple of Split
        The rules as a tree: the first looks at all rows. None where nothing was found, or where
        groups of a column were given.
    share, standard_error : float
        Share of the spread that the regions explain on held-out rows, and its standard error; also
        of doubtful regions. Zero and nan where nothing was found.
    gradual : str or None
        The feature with which the effect changes gradually, without a clear threshold.
    thirds : tuple of Region
        The effect in thirds of the rows, by that feature, where it changes gradually.
    partners : tuple of Partner
        Share of the spread that each other feature accounts for, in whatever form; largest first.
    unexplained : float
        Share of the spread that no partner explains, nor all of them together.
    sampled : ndarray of shape (n_sample,)
        Region of every row of the explanation's sample, -1 for none; empty where there is one
        region.
    groups : Groups or None
        The groups, where groups of a column were given.
    doubtful : tuple of Split
        The rules that are in doubt, where `state` says so; they make no regions.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> fx = rhale.explain(lambda rows: rows[:, 0] * np.sign(rows[:, 1]), x, regions=True)
    >>> tree = fx["x0"].regions
    >>> tree.state, tree.splitters, len(tree)
    ('found', ('x1',), 2)
    >>> [region.effect.mean.round(6).tolist() for region in tree]
    [[-1.0], [1.0]]
    """

    feature: str
    output: str
    state: State
    why: str
    regions: tuple[Region, ...]
    splits: tuple[Split, ...] = field(
        default=(),
        metadata=stored(
            Several(RecordUnion.of(Split), ArrayDimension("splits", most=MAX_STORED_REGIONS))
        ),
    )
    share: float = field(default=0.0, metadata=stored(SPREAD_SHARE_NUMBER))
    standard_error: float = field(default=float("nan"), metadata=stored(STANDARD_ERROR_NUMBER))
    gradual: str | None = None
    thirds: tuple[Region, ...] = ()
    partners: tuple[Partner, ...] = ()
    unexplained: float = field(default=float("nan"), metadata=stored(SPREAD_SHARE_NUMBER))
    sampled: IntArray = field(
        default_factory=lambda: np.empty(0, dtype=np.int64),
        metadata=stored(Numbers(("sampled rows",), least=-1, whole=True)),
    )
    groups: Groups | None = None
    doubtful: tuple[Split, ...] = field(
        default=(),
        metadata=stored(
            Several(RecordUnion.of(Split), ArrayDimension("doubts", most=MAX_STORED_REGIONS))
        ),
    )

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.regions)

    def __iter__(self) -> Iterator[Region]:
        return iter(self.regions)

    def __getitem__(self, place: int) -> Region:
        return self.regions[place]

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rules = ", ".join(repr(region.rule) for region in self.regions)
        state = "found in this model" if self.state == "found" else self.state
        return f"RegionTree({self.feature!r}, {state}, {rules})"

    @property
    def splitters(self) -> tuple[str, ...]:
        """Features that the rules split by, each once, in the order of the rules."""
        return tuple(dict.fromkeys(split.feature for split in self.splits))

    def locate(self, rows: Any) -> IntArray:
        """Find the region of every row of a table with the same columns.

        Parameters
        ----------
        rows : data frame or array of shape (n_rows, n_columns)
            A data frame (pandas, polars, pyarrow) has columns by their names; an array has them
            where the explained table had them.

        Returns
        -------
        ndarray of shape (n_rows,)
            Places in `regions`; -1 for rows that are in no group, where groups were given.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * np.sign(rows[:, 1]), x, regions=True)
        >>> tree = fx["x0"].regions
        >>> tree.locate(np.array([[0.3, -0.5], [0.3, 0.5]]))
        array([0, 1])
        """
        table = read_new_rows(rows)
        if self.splits:
            # a split of levels looks at 1 for levels that go first and 0 for others
            rules = [
                Rule(
                    place,
                    threshold=float("nan") if split.threshold is None else split.threshold,
                    above=float("-inf") if split.above is None else split.above,
                    levels=(1,) if split.threshold is None else (),
                    missing_first=split.missing == "first",
                    first=split.first,
                    second=split.second,
                )
                for place, split in enumerate(self.splits)
            ]
            return locate_rows(
                rules, lambda i: read_splitter_values(self.splits[i], table), table.n_rows
            )
        if self.groups is not None:
            return locate_groups(self.groups, table)
        return np.zeros(table.n_rows, dtype=np.int64)


def read_splitter_values(split: Split, rows: NewRows) -> FloatArray:
    """What a split tests in every row: numbers, or 1 for levels that go first and 0 for others."""
    if split.threshold is not None:
        return rows.numbers(split.feature, split.column, split.kind)
    names = split.levels + split.others
    found = rows.levels(split.feature, split.column, split.kind, names)
    first = np.where(found == UNSEEN_LEVEL, split.rest == "first", found < len(split.levels))
    return np.where(found == MISSING_LEVEL, np.nan, first.astype(np.float64))


def locate_groups(groups: Groups, rows: NewRows) -> IntArray:
    """Find the group of every row; -1 where it is in none."""
    place = np.full(rows.n_rows, -1, dtype=np.int64)
    where = groups.feature, groups.column, groups.kind
    if groups.is_cut:
        x = rows.numbers(*where)
        gone, unnamed = np.isnan(x), np.zeros(x.size, dtype=np.bool_)
        inside = [(x > group.low) & (x <= group.high) for group in groups.groups]
    else:
        names = [level for group in groups.groups for level in group.levels]
        owner = np.repeat(np.arange(len(groups.groups)), [len(g.levels) for g in groups.groups])
        found = rows.levels(*where, names)
        gone, unnamed = found == MISSING_LEVEL, found == UNSEEN_LEVEL
        inside = [np.isin(found, np.flatnonzero(owner == i)) for i in range(len(groups.groups))]
    for number, (group, here) in enumerate(zip(groups.groups, inside, strict=True)):
        place[here | (gone & group.missing) | (unnamed & group.rest)] = number
    return place
