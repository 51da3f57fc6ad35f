"""Decisions before pairs are measured: how their differences are found, and which pairs are worth it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.errors import BadSettingError
from rhale.features.feature import Feature
from rhale.features.first_pass import Columns
from rhale.kernels import IntArray
from rhale.kernels.pair_settings import FEW_PAIR_ROWS, PairSettings
from rhale.measures.choose import FLAT_GRADIENT, judge_gradient
from rhale.measures.pair_plan import FeatureOnPairAxis, Way, every_pair
from rhale.measures.questions import BatchedModel
from rhale.results.note import Note
from rhale.settings import Settings

RHALE_LOG = logging.getLogger("rhale")
SCREENED = 10  # pairs of a black box, where the user names none
MANY_ROWS = 10**7  # that a model is asked about: told before
MAX_PAIRS_BY_DEFAULT, MAX_PAIRED_FEATURES = (
    500,
    30,
)  # beyond, the features whose effect differs most
ON_THE_MARGIN = Note(
    "margin",
    "on the margin, before the link function, where what trees add up is additive: a probability "
    "bends every sum, and so mixes the features of every pair (response='predict_proba' measures that)",
)
ON_PROBABILITIES = Note(
    "margin",
    "on probabilities, whose link bends every sum and so mixes the features of every pair; "
    "response='log_odds', or 'margin' where the model has one, leaves what features do together",
)


@dataclass(frozen=True, eq=False)
class Manner:
    """How the differences of pairs are found.

    Attributes
    ----------
    usual : {"corners", "gradient", "walk"}
        Where nothing speaks against it.
    refused : frozenset of int
        Features for which it does not work: columns that mix before trees, slopes that are zero
        although predictions move.
    asked : int
        Rows that were asked to find out.
    notes : tuple of Note
        Why it is not another way.
    """

    usual: Way
    refused: frozenset[int] = frozenset()
    asked: int = 0
    notes: tuple[Note, ...] = ()

    @property
    def is_dear(self) -> bool:
        """Whether every pair has its price."""
        return self.usual == "corners"

    def ways(self, sides: Sequence[FeatureOnPairAxis], pairs: IntArray) -> tuple[Way, ...]:
        """How each pair is found."""
        return tuple(self._way(sides, int(a), int(b)) for a, b in pairs)

    def _way(self, sides: Sequence[FeatureOnPairAxis], first: int, second: int) -> Way:
        both = (sides[first], sides[second])
        if any(side.axis.n_steps == 0 for side in both):
            return "still"
        refused = [side.feature.place in self.refused for side in both]
        levels = [side.axis.is_levels for side in both]
        if self.usual == "walk":
            return "corners" if any(refused) else "walk"
        if self.usual == "gradient":
            blind = [no or is_levels for no, is_levels in zip(refused, levels, strict=True)]
            return "corners" if all(blind) else "gradient"
        return "corners"


def choose_manner(columns: Columns, asker: BatchedModel, settings: Settings) -> Manner:
    """Trees are walked, slopes taken where they are to be trusted, all others asked."""
    predictor, features = asker.predictor, columns.features
    if predictor.walker is not None and predictor.walks_pairs:
        mixed = [f.place for f in features if not predictor.walker.sees(f.column)]
        return Manner("walk", frozenset(mixed))
    if not predictor.adapter.is_differentiable:
        return Manner("corners", notes=predictor.notes)
    numbers = [f for f in features if f.levels is None and not f.is_constant]
    if not numbers:
        return Manner("corners")
    why, ways, n_asked = judge_gradient(settings, asker, columns.probe, numbers)
    if why:
        text = f"{why}pairs are found from predictions at the corners of cells"
        return Manner("corners", asked=n_asked, notes=(Note("gradient", text),))
    flat = [f.place for f, way in zip(numbers, ways, strict=True) if way is FLAT_GRADIENT]
    return Manner("gradient", frozenset(flat), n_asked)


def limit_pairs(n_features: int, manner: Manner, asked: PairSettings) -> int | None:
    """How many pairs are to be chosen by how effects differ; None for all.

    Where all pairs have one price they are measured, and the strongest so many are told.

    Parameters
    ----------
    n_features : int
        Features that may make pairs.
    manner : Manner
        How differences are found.
    asked : PairSettings
        What the user wants.
    """
    n_pairs = n_features * (n_features - 1) // 2
    if isinstance(asked.pairs, int):
        is_cheap = asked.method == "ale" and not manner.is_dear and n_pairs <= MAX_PAIRS_BY_DEFAULT
        return None if is_cheap or asked.pairs >= n_pairs else asked.pairs
    if asked.pairs is not None:
        return None
    return SCREENED if manner.is_dear and n_pairs > SCREENED else None


def too_many(n_features: int, asked: PairSettings) -> bool:
    """Whether there are more pairs than are measured unasked."""
    return asked.pairs is None and n_features * (n_features - 1) // 2 > MAX_PAIRS_BY_DEFAULT


def require_two(features: Sequence[Feature]) -> None:
    """Refuse fewer than two features."""
    if len(features) < 2:
        names = ", ".join(repr(f.name) for f in features) or "none"
        msg = f"a pair needs two features; found {names}. Name more in features=, or pairs= of them"
        raise BadSettingError(msg)


def tell_price(manner: Manner, n_pairs: int, n_rows: int, asked: PairSettings) -> None:
    """Say what all pairs of a black box cost, before it is paid."""
    price = count_pair_queries(manner, n_pairs, n_rows, asked)
    if price and asked.pairs == "all":
        text = "pairs='all' asks the model about 4 x %s pairs x %s rows = %s rows"
        RHALE_LOG.warning(text, f"{n_pairs:,}", f"{n_rows:,}", f"{price:,}")


def tell_asked(n_asked: int, method: str) -> None:
    """Say how many rows a model will be asked about, where these are many."""
    if n_asked >= MANY_ROWS:
        RHALE_LOG.warning("method=%r asks the model about %s rows", method, f"{n_asked:,}")


def tell_grid(n_points: int, n_rows: int, asked: PairSettings) -> None:
    """Say what partial dependence of all pairs costs, before it is paid."""
    if asked.pairs == "all":
        text = "pairs='all' asks the model about %s points of grids x %s rows = %s rows"
        RHALE_LOG.warning(text, f"{n_points:,}", f"{n_rows:,}", f"{n_points * n_rows:,}")


def describe_screen(n_measured: int, n_pairs: int, n_asked: int) -> tuple[Note, ...]:
    """Say which pairs were left out, and how many rows the model would be asked about for all.

    Parameters
    ----------
    n_measured, n_pairs : int
        Pairs that are measured, and all.
    n_asked : int
        Rows that all pairs cost; 0 where they cost hardly more than these.
    """
    if n_measured >= n_pairs:
        return ()
    price = f", and asks the model about {n_asked:,} rows" if n_asked else ""
    text = (
        f"{n_measured} of {n_pairs:,} pairs: those that the spread of the effects points to; "
        f"pairs='all' measures every one{price}"
    )
    return (Note("screen", text),)


def describe_rows(n_rows: int, asked: PairSettings) -> tuple[Note, ...]:
    """Say that rows are few, and what follows for the usual cells."""
    if n_rows >= FEW_PAIR_ROWS:
        return ()
    cells = ": 5 cells a side" if asked.method == "ale" and asked.cells is None else ""
    return (Note("few rows", f"{n_rows} rows tell little about pairs{cells}"),)


def count_pair_queries(manner: Manner, n_pairs: int, n_rows: int, asked: PairSettings) -> int:
    """Rows that a model is asked about for all pairs; 0 where pairs have no price of their own."""
    return 4 * n_pairs * n_rows if manner.is_dear and asked.method == "ale" else 0


def all_of(some: Sequence[int]) -> IntArray:
    """All pairs of some features, by their places."""
    places = np.array(sorted(some), dtype=np.int64)
    return places[every_pair(places.size)]
