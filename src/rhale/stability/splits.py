"""Which rows each training gets: half-samples, subsamples, folds, bootstraps, the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.effects.binning.partition import is_number_setting
from rhale.errors import BadSettingError, BadTableError
from rhale.stats.arrays import BoolArray, IntArray

REFIT_SCHEMES = ("half-samples", "subsamples", "folds", "bootstraps")
USUAL_SHARE = 2 / 3  # of the units, in a subsample
MIN_UNITS = 4  # halves of two
MIN_TRAINED_UNITS = 2
ROWS_HINT = "give one array of row numbers, or one mask, for each retraining"


@dataclass(frozen=True)
class Scheme:
    """How rows are drawn for the trainings of one learner."""

    # one of `REFIT_SCHEMES`, or its singular; half-samples come in pairs: trainings 0 and 1, 2 and 3,
    # ... are the two halves of one random split
    name: str = "half-samples"
    n_refits: int = 20  # number of trainings, at least 2; of folds, a multiple of `folds`
    # share of the rows in each of the subsamples, 2/3 by default; other schemes have none
    share: float | None = None
    folds: int = 5  # parts of a round of folds

    def __post_init__(self) -> None:
        name: Any = self.name
        plural = f"{name}s" if isinstance(name, str) and f"{name}s" in REFIT_SCHEMES else name
        if plural not in REFIT_SCHEMES:
            msg = f"scheme {name!r:.60} is not known; use one of {', '.join(REFIT_SCHEMES)}"
            raise BadSettingError(msg)
        object.__setattr__(self, "name", str(plural))
        for setting in ("n_refits", "folds"):
            value = getattr(self, setting)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 2:
                why = (
                    "retrained models are compared" if setting == "n_refits" else "one is left out"
                )
                msg = f"{setting}={value!r:.60}: pass a whole number of 2 or more, because {why}"
                raise BadSettingError(msg)
            object.__setattr__(self, setting, int(value))
        self._check_share()
        if self.name == "folds" and self.n_refits % self.folds:
            rounds = self.n_refits // self.folds + 1
            msg = (
                f"n_refits={self.n_refits} is not a whole number of rounds of folds={self.folds}; "
                f"use n_refits={rounds * self.folds}, say (n_refits=20 is 4 rounds of 5)"
            )
            raise BadSettingError(msg)

    def _check_share(self) -> None:
        if self.name != "subsamples":
            if self.share is not None:
                msg = (
                    f"share={self.share!r} is for scheme='subsamples', and {self.name} have none; "
                    "leave it out"
                )
                raise BadSettingError(msg)
            return
        share = USUAL_SHARE if self.share is None else self.share
        if not (is_number_setting(share) and 0 < share < 1):
            msg = f"share={share!r} is not a share of the rows; pass a number between 0 and 1, say 0.5"
            raise BadSettingError(msg)
        object.__setattr__(self, "share", float(share))

    def draw(
        self, n_rows: int, *, groups: Any = None, strata: Any = None, seed: int = 0
    ) -> tuple[IntArray, ...]:
        """Draw the rows of every training, increasing; those of bootstraps repeat.

        Rows with the same label of `groups` (n_rows,) are in or out together; rows with the same label
        of `strata` (n_rows,) are divided as all rows are. The same seed gives the same rows, and more
        trainings keep the first ones.
        """
        # Units (rows or groups) are put in random order, stratum by stratum: every second one is in
        # the first half, every fifth one in a fold of five. So all strata, and all rows, are divided
        # evenly, whatever their number. O(n_rows) a training without strata. Whole groups cannot be
        # stratified: where there are groups, strata are not used.
        unit, n_units = (None, n_rows) if groups is None else as_units(groups, n_rows)
        self._require_units(n_units, "rows" if groups is None else "groups")
        stratum = np.zeros(n_units, dtype=np.intp)
        if groups is None and strata is not None:
            stratum, _ = as_units(strata, n_rows, argument="strata")
        # how often each unit is in one training after the other
        rng = np.random.default_rng(seed)
        if self.name == "half-samples":
            times_drawn = _draw_halves(stratum, rng)
        elif self.name == "folds":
            times_drawn = _draw_folds(stratum, self.folds, rng)
        elif self.name == "bootstraps":
            times_drawn = _draw_bootstraps(stratum, rng)
        else:
            times_drawn = _draw_subsamples(stratum, self._n_shared(n_units), rng)
        drawn = islice(times_drawn, self.n_refits)
        rows = np.arange(n_rows)
        return tuple(np.repeat(rows, times if unit is None else times[unit]) for times in drawn)

    def _n_shared(self, n_units: int) -> int:
        """Units in a subsample."""
        return round((self.share or USUAL_SHARE) * n_units)

    def _require_units(self, n_units: int, called: str) -> None:
        """Refuse to divide what leaves too little to train on, or nothing to leave out."""
        fewest = max(MIN_UNITS, self.folds) if self.name == "folds" else MIN_UNITS
        if n_units < fewest:
            msg = (
                f"{self.name} were requested, and the table has {n_units} {called}; they need at "
                f"least {fewest}: give more, or pass models that are fitted to rhale.refits"
            )
            raise BadSettingError(msg)
        if self.name != "subsamples":
            return
        n_shared = self._n_shared(n_units)
        if not MIN_TRAINED_UNITS <= n_shared < n_units:
            msg = (
                f"share={self.share:g} of {n_units} {called} is {n_shared}; subsamples train on "
                f"{MIN_TRAINED_UNITS} to {n_units - 1} of them: choose another share"
            )
            raise BadSettingError(msg)


# --- draws of units: in random order, every second or fifth one ---------------------------------


def _deal(stratum: IntArray, rng: np.random.Generator) -> IntArray:
    """Units in random order, those of a stratum side by side, and strata in random order too."""
    order = rng.permutation(stratum.size)
    n_strata = int(stratum.max()) + 1
    if n_strata == 1:
        return order
    turn = rng.permutation(n_strata)[stratum[order]]  # else the same ones were always odd
    return order[np.argsort(turn, kind="stable")]


def _draw_halves(stratum: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """Complementary halves, two after each other."""
    larger = 0  # of an odd number, the first half has one more, then the second, ...
    while True:
        times = np.zeros(stratum.size, dtype=np.intp)
        times[_deal(stratum, rng)[larger::2]] = 1
        yield times
        yield 1 - times
        larger = 1 - larger


def _draw_folds(stratum: IntArray, folds: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """All units but one fold, fold by fold, round by round."""
    while True:
        dealt = _deal(stratum, rng)
        for part in range(folds):
            times = np.ones(stratum.size, dtype=np.intp)
            times[dealt[part::folds]] = 0
            yield times


def _draw_subsamples(
    stratum: IntArray, n_shared: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """So many units without replacement (delete-d jackknife)."""
    n_units = stratum.size
    steps = np.arange(n_units + 1) * n_shared
    while True:
        # at even steps from a random start: no unit is drawn more often than others
        taken = np.diff((steps + rng.integers(n_units)) // n_units) > 0
        times = np.zeros(n_units, dtype=np.intp)
        times[_deal(stratum, rng)[taken]] = 1
        yield times


def _draw_bootstraps(stratum: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """As many units as there are, with replacement, within every stratum."""
    order = np.argsort(stratum, kind="stable")
    size = np.bincount(stratum)
    first = (np.cumsum(size) - size)[stratum]  # where a unit's stratum begins, and how many it has
    n_choices = size[stratum]
    while True:
        drawn = order[first + rng.integers(n_choices)]
        yield np.bincount(drawn, minlength=stratum.size)


# --- labels ----------------------------------------------------------------------------------------


def as_units(groups: Any, n_rows: int, *, argument: str = "groups") -> tuple[IntArray, int]:
    """Number the groups of rows in order of appearance: unit of each row (n_rows,), number of units.

    `groups` are labels of any type, one a row; `argument` is what the user knows them as.
    """
    if groups is None:
        return np.arange(n_rows), n_rows
    labels = read_labels(groups)
    if labels is None or labels.shape != (n_rows,):
        found = type(groups).__name__ if labels is None else f"labels of shape {labels.shape}"
        msg = f"{argument}: {found} for a table of {n_rows} rows; give one label per row"
        raise BadTableError(msg)
    missing = find_missing(labels)
    if missing.any():
        msg = (
            f"{argument} has no label in row {int(np.argmax(missing))} ({int(missing.sum())} of "
            f"{n_rows} rows lack one); give each row a label, a new one where it belongs to no other"
        )
        raise BadTableError(msg)
    if labels.dtype.kind == "O":
        places: dict[Any, int] = {}
        try:
            unit = [places.setdefault(label, len(places)) for label in labels.tolist()]
        except TypeError as error:
            msg = f"{argument} has labels that cannot be compared ({error}); use text or numbers"
            raise BadTableError(msg) from error
        return np.array(unit, dtype=np.intp), len(places)
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    turn = np.argsort(np.argsort(first))
    return turn[place.reshape(-1)].astype(np.intp), first.size


def read_labels(values: Any) -> npt.NDArray[Any] | None:
    """Values of any library as an array that has kept them; None if they are none.

    NumPy would write text for all of a list of text and gaps: "nan".
    """
    try:
        found = np.asarray(values)
        if found.dtype.kind in "US" and isinstance(values, list | tuple):
            found = np.array(values, dtype=object)
    except (TypeError, ValueError):  # lists of different lengths, say
        return None
    return found if found.ndim else None


def find_missing(values: npt.NDArray[Any]) -> BoolArray:
    """Tell which rows have a value that is missing: None, nan, NaT, NA."""
    if values.dtype.names:
        missing = np.any([find_missing(values[name]) for name in values.dtype.names], axis=0)
    elif values.dtype.kind == "O":
        flat = [_is_missing_group(value) for value in values.ravel().tolist()]
        missing = np.array(flat, dtype=np.bool_).reshape(values.shape)
    elif values.dtype.kind in "fcmM":
        missing = np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)
    else:
        missing = np.zeros(values.shape, dtype=np.bool_)
    return np.asarray(missing.reshape(len(values), -1).any(axis=1), dtype=np.bool_)


def _is_missing_group(value: Any) -> bool:
    """Whether a value is None or not itself; pandas' NA does not say whether it is."""
    if value is None:
        return True
    differs = value != value  # noqa: PLR0124 - nan does
    return (
        bool(differs) if isinstance(differs, bool | np.bool_) else type(value).__name__ == "NAType"
    )


# --- the user's own indices ------------------------------------------------------------------------


def check_indices(train: Any, test: Any, n_rows: int) -> tuple[IntArray, ...]:
    """Rows of each training, from the user's row numbers or masks to train on, to test on, or both."""
    if train is None and test is None:
        msg = "neither train nor test was given; " + ROWS_HINT
        raise BadSettingError(msg)
    tested = None if test is None else _read_all("test", test, n_rows)
    if train is None:  # all rows but the tested ones
        others = []
        for number, rows in enumerate(tested or (), start=1):
            kept = np.ones(n_rows, dtype=np.bool_)
            kept[rows] = False
            if not kept.any():
                msg = f"test {number} has all {n_rows} rows, which leaves none to train on; give train as well"
                raise BadSettingError(msg)
            others.append(np.flatnonzero(kept))
        return tuple(others)
    trained = _read_all("train", train, n_rows)
    if tested is None:
        return trained
    # no row may be both trained and tested on
    if len(trained) != len(tested):
        msg = (
            f"train has the rows of {len(trained)} retrainings, test of {len(tested)}; give both for "
            "each, or leave test out"
        )
        raise BadSettingError(msg)
    for number, (own, other) in enumerate(zip(trained, tested, strict=True), start=1):
        has = np.zeros(n_rows, dtype=np.bool_)
        has[own] = True
        shared = other[has[other]]
        if shared.size:
            msg = (
                f"retraining {number} has {np.unique(shared).size} rows both in train and in test, row "
                f"{int(shared.min())} for one; take them out of one, or leave test out"
            )
            raise BadSettingError(msg)
    return trained


def _read_all(argument: str, asked: Any, n_rows: int) -> tuple[IntArray, ...]:
    """Rows of every training under one argument."""
    if isinstance(asked, Mapping):
        msg = f"{argument} is a mapping; of cross_validate's pass {argument}=indices[{argument!r}]"
        raise BadSettingError(msg)
    if isinstance(asked, str | bytes) or not isinstance(asked, Sequence | np.ndarray):
        msg = f"{argument} is not a sequence but {type(asked).__name__}; {ROWS_HINT}"
        raise BadSettingError(msg)
    if any(np.ndim(one) == 0 for one in asked if not isinstance(one, Sequence)):
        msg = f"{argument} holds single values ({asked!r:.60}); {ROWS_HINT}: [[0, 1, 2], [3, 4, 5]]"
        raise BadSettingError(msg)
    if len(asked) < 2:
        msg = f"{argument} lists the rows of {len(asked)}; at least 2 retrainings are needed"
        raise BadSettingError(msg)
    return tuple(_read_rows(f"{argument} {k}", one, n_rows) for k, one in enumerate(asked, start=1))


def _read_rows(called: str, asked: Any, n_rows: int) -> IntArray:
    """Row numbers, or a mask, of one training."""
    found = read_labels(asked)
    if found is None or found.ndim != 1:
        shape = "" if found is None else f" of shape {found.shape}"
        msg = f"{called} is not a list of rows but {type(asked).__name__}{shape}; {ROWS_HINT}"
        raise BadSettingError(msg)
    if found.dtype.kind == "b":
        if found.size != n_rows:
            msg = f"{called} is a mask of {found.size} rows, and the table has {n_rows}; give all of them"
            raise BadSettingError(msg)
        found = np.flatnonzero(found)
    if not found.size:
        msg = f"{called} has no rows; every retraining needs some, and leaves some out"
        raise BadSettingError(msg)
    if found.dtype.kind not in "iu":
        msg = f"{called} holds {found.dtype} instead of whole numbers or truth values; {ROWS_HINT}"
        raise BadSettingError(msg)
    low, high = int(found.min()), int(found.max())
    if low < 0 or high >= n_rows:
        beyond = f"row {low}" if low < 0 else f"row {high}, its largest"
        msg = f"{called} names {beyond}, and the table has {n_rows}: use 0 to {n_rows - 1}"
        raise BadSettingError(msg)
    return found.astype(np.intp)
