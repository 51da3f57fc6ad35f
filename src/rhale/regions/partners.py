"""Partners of a feature as results: kept, ranked and listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from rhale.effects.result import Result
from rhale.effects.table import UNDEFINED, Columns
from rhale.naming import near_names
from rhale.output.frame import as_frame
from rhale.output.number_format import write_number, write_share
from rhale.output.storage.values import (
    ANY_TEXT,
    MAX_AXIS_VALUE,
    ArrayDimension,
    Numbers,
    Several,
    stored,
)
from rhale.output.text import aligned, shorten_name
from rhale.regions.result import RegionTree
from rhale.stats.arrays import FloatArray, IntArray, freeze, same_fields

MAX_PARTNER_P_VALUE = 0.001  # of partners that are named
MIN_NAMED_PARTNER_SHARE = 0.02  # of the spread
MAX_NAMED_PARTNERS = 3
MEASURE = "_measure"  # what measures a matrix when it is first read


@dataclass(frozen=True)
class Partner:
    """A feature that accounts for a part of the spread of another one.

    Attributes
    ----------
    feature : str
        Name of the partner.
    share, standard_error : float
        Share of the spread that it accounts for, in whatever form, and the standard error.
    p_value : float
        P-value of no effect on the spread; nan where it is not known.
    part : float
        The same in units of the output: the square root of the share, times the typical spread.
    is_proxy_of : str or None
        The partner with which it is correlated, if it adds less than a tenth of its share to that
        partner; else None.

    Examples
    --------
    >>> Partner("sex", share=0.4, standard_error=0.02).counts
    True
    """

    feature: str
    share: float
    standard_error: float
    p_value: float = UNDEFINED
    part: float = UNDEFINED
    is_proxy_of: str | None = None

    @property
    def counts(self) -> bool:
        """Whether it explains a part of the spread, and is significant."""
        is_sure = self.p_value < MAX_PARTNER_P_VALUE or self.share > 3 * self.standard_error
        return self.share >= MIN_NAMED_PARTNER_SHARE and is_sure


@dataclass(frozen=True, repr=False)
class Partners:
    """Features that account for the spread of one feature, largest share first.

    Attributes
    ----------
    feature, output : str
        The feature whose spread is explained, and the output.
    partners : tuple of Partner
        All features that were tested; none if the effect does not differ between rows.
    unexplained : float
        Share that no sum of partners explains: interactions of three or more features, and steps
        of the model; nan if the effect does not differ between rows.
    rows : int
        Number of rows from which it was estimated.
    typical_spread : float
        Spread of the feature, in units of the output.
    table : str or None
        Kind of the explained table, which `to_frame` returns.

    Notes
    -----
    Shares of correlated features overlap, so they do not add up.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
    >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
    >>> found = fx.partners("x0")
    >>> found[0].feature, found["x1"].counts, found["x2"].counts
    ('x1', True, False)
    """

    feature: str
    output: str
    partners: tuple[Partner, ...] = ()
    unexplained: float = UNDEFINED
    rows: int = 0
    typical_spread: float = UNDEFINED
    table: str | None = None

    def __len__(self) -> int:
        return len(self.partners)

    def __iter__(self) -> Iterator[Partner]:
        return iter(self.partners)

    def __getitem__(self, key: int | str) -> Partner:
        if not isinstance(key, str):
            return self.partners[key]
        for partner in self.partners:
            if partner.feature == key:
                return partner
        names = [partner.feature for partner in self.partners]
        msg = f"{key!r} is not a partner of {self.feature!r}; " + near_names(key, names)
        raise KeyError(msg)

    def __str__(self) -> str:
        counted = [partner for partner in self.partners if partner.counts]
        title = f"partners of {shorten_name(self.feature)}, {self.rows:,} rows"
        if not counted:
            return f"{title}\n{self.sentence}"
        rows = [["feature", "share", "part", "p", ""]]
        for p in counted:
            chance = "" if np.isnan(p.p_value) else f"{p.p_value:.2g}"
            rows.append(
                [
                    shorten_name(p.feature),
                    write_share(p.share, p.standard_error),
                    write_number(p.part),
                    "< 0.0001" if p.p_value < 1e-4 else chance,
                    ""
                    if p.is_proxy_of is None
                    else f"correlated with {shorten_name(p.is_proxy_of)}",
                ]
            )
        more = len(self.partners) - len(counted)
        rest = (
            [f"and {more} more that {'is' if more == 1 else 'are'} not significant"] if more else []
        )
        return "\n".join(
            [title, *aligned(rows, [True, False, False, False, True]), *rest, self.sentence]
        )

    __repr__ = __str__

    @property
    def sentence(self) -> str:
        """What all of it comes to, in words."""
        name = shorten_name(self.feature)
        if not self.partners:
            return f"the effect of {name} does not differ between rows, or there are too few rows to tell"
        counted = [partner for partner in self.partners if partner.counts]
        real = [partner for partner in counted if partner.is_proxy_of is None][:MAX_NAMED_PARTNERS]
        parts = [f"{shorten_name(p.feature)} for {write_share(p.share)}" for p in real]
        if real:
            first = shorten_name(real[0].feature)
            parts[0] = f"{first} accounts for {write_share(real[0].share)} of the spread of {name}"
        parts += [
            f"{shorten_name(p.feature)} only because it is correlated with {shorten_name(p.is_proxy_of)}"
            for p in counted
            if p.is_proxy_of is not None
        ][:MAX_NAMED_PARTNERS]
        if not parts:
            parts = [f"no single feature accounts for the spread of {name}"]
        if real and self.typical_spread == 0:
            parts.append(
                "but only the slopes differ between rows, not the curves: the slopes oscillate on a "
                "finer scale than the points to which rows are moved"
            )
        if np.isfinite(self.unexplained):
            left = write_share(self.unexplained)
            parts.append(
                f"{left} is unexplained (interactions of three or more features, or steps of the model)"
            )
        return "; ".join(parts)

    def columns(self) -> Columns:
        """One list for each column of the table, largest share first.

        Returns
        -------
        dict of str to list

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
        >>> fx.partners("x0").columns()["partner"]
        ['x1', 'x2']
        """
        return {
            "partner": [p.feature for p in self.partners],
            "share": [p.share for p in self.partners],
            "standard_error": [p.standard_error for p in self.partners],
            "p_value": [p.p_value for p in self.partners],
            "part": [p.part for p in self.partners],
            "is_proxy_of": [p.is_proxy_of for p in self.partners],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """One row for each partner, largest share first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
        >>> fx.partners("x0").to_frame("pandas")["partner"].tolist()
        ['x1', 'x2']
        """
        return as_frame(self.columns(), backend, self.table)


@dataclass(frozen=True, eq=False)
class PartnerMatrix:
    """What an explanation keeps of the partners of all its features and outputs.

    Attributes
    ----------
    names : tuple of str
        Features that were looked at as partners.
    share, standard_error, p_value : ndarrays of shape (n_results, n_names)
        Shares of the spread, their errors, chances of as much by nothing; nan for the feature
        itself, for one value only, and where rows do not differ.
    own_share : ndarray of shape (n_results, n_names)
        What each adds to those before it; nan where that was not looked at.
    proxy_of : ndarray of shape (n_results, n_names)
        Place of the partner that takes over what it has; -1 where none does.
    size : ndarray of shape (n_results, n_names)
        Deviation over the rows of what goes with it, accumulated, in units of the output.
    unexplained, rows : ndarrays of shape (n_results,)
        Share that no sum of partners explains; rows that all of it rests on.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
    >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
    >>> fx.partner_matrix.names, fx.partner_matrix.share.shape
    (('x0', 'x1', 'x2'), (3, 3))
    """

    names: tuple[str, ...] = field(
        metadata=stored(Several(ANY_TEXT, ArrayDimension("partners"), unique=True))
    )
    share: FloatArray = field(metadata=stored(Numbers.places("results", "partners", unknown=True)))
    standard_error: FloatArray = field(
        metadata=stored(Numbers(("results", "partners"), 0, MAX_AXIS_VALUE, unknown=True))
    )
    p_value: FloatArray = field(
        metadata=stored(Numbers.shares("results", "partners", unknown=True))
    )
    own_share: FloatArray = field(
        metadata=stored(Numbers(("results", "partners"), 0, MAX_AXIS_VALUE, unknown=True))
    )
    proxy_of: IntArray = field(
        metadata=stored(Numbers(("results", "partners"), whole=True, least=-1))
    )
    size: FloatArray = field(
        metadata=stored(Numbers(("results", "partners"), 0, MAX_AXIS_VALUE, unknown=True))
    )
    unexplained: FloatArray = field(metadata=stored(Numbers.shares("results", unknown=True)))
    rows: IntArray = field(metadata=stored(Numbers.counts("results")))

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def later(cls, measure: Callable[[], PartnerMatrix]) -> PartnerMatrix:
        """Promise a matrix that is measured when the first of its numbers is read: few readers do.

        Parameters
        ----------
        measure : callable
            Gives the matrix; asked once.

        Returns
        -------
        PartnerMatrix

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rows = np.random.default_rng(0).normal(size=(200, 2))
        >>> known = rhale.explain(lambda r: r[:, 0] * r[:, 1], rows).partner_matrix
        >>> PartnerMatrix.later(lambda: known).names
        ('x0', 'x1')
        """
        made = object.__new__(cls)
        vars(made)[MEASURE] = measure
        return made

    def __getattr__(self, name: str) -> Any:  # asked only about what is not there
        measure = vars(self).get(MEASURE)
        if measure is not None and not name.startswith("_"):
            vars(self).update(measure().__getstate__())  # which may be a promise itself
            vars(self).pop(MEASURE, None)  # the rows may go
        if name not in vars(self):
            raise AttributeError(name)
        return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def tell(self, place: int, effect: Result, table: str | None = None) -> Partners:
        """Partners of one result, largest share first.

        Parameters
        ----------
        place : int
            Which result it is.
        effect : Result
            The result itself.
        table : str, optional
            Kind of the explained table.

        Returns
        -------
        Partners

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
        >>> fx.partner_matrix.tell(0, fx["x0"])[0].feature
        'x1'
        """
        share, proxy_of = self.share[place], self.proxy_of[place]
        known = np.flatnonzero(np.isfinite(share))
        found = [
            Partner(
                self.names[k],
                max(float(share[k]), 0.0),
                float(self.standard_error[place, k]),
                float(self.p_value[place, k]),
                _in_units(share[k], effect),
                None if proxy_of[k] < 0 else self.names[proxy_of[k]],
            )
            for k in known[np.argsort(-share[known], kind="stable")]
        ]
        return Partners(
            effect.name,
            effect.output,
            tuple(found),
            unexplained=float(self.unexplained[place]),
            rows=int(self.rows[place]),
            typical_spread=effect.typical_spread,
            table=table,
        )

    @property
    def lowered_size(self) -> FloatArray:
        """`size`, that of proxies as far as they have something of their own."""
        is_proxy = (self.proxy_of >= 0) & (self.share > 0)
        part = np.divide(self.own_share, self.share, out=np.ones(self.share.shape), where=is_proxy)
        return np.asarray(self.size * np.sqrt(np.clip(part, 0.0, 1.0)))


def partners_of_regions(effect: Result, tree: RegionTree, table: str | None = None) -> Partners:
    """What a search for regions knows of partners, where an explanation keeps no more."""
    found = [
        Partner(p.feature, max(p.share, 0.0), p.standard_error, part=_in_units(p.share, effect))
        for p in tree.partners
    ]
    return Partners(
        effect.name,
        effect.output,
        tuple(found),
        unexplained=tree.unexplained,
        typical_spread=effect.typical_spread,
        table=table,
    )


def _in_units(share: float, effect: Result) -> float:
    return float(np.sqrt(max(share, 0.0)) * effect.typical_spread)
