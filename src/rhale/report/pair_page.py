"""Interactions to a page: frozen, plain numbers and words, and no word of HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rhale.report.chart_numbers import MAX_CHART_LEVEL_LETTERS
from rhale.report.page import (
    LONGEST_FACT,
    Footnote,
    argument,
    created,
    describe_explained_shares,
    drop_size_rounding,
    rows_in_words,
    short_model,
    versions,
)
from rhale.report.pair_numbers import LinesShape, MapShape, lines_of, map_of
from rhale.report.pair_sentences import tell_surface
from rhale.report.wording import (
    UNKNOWN_DASH,
    clean,
    fixed,
    format_report_number,
    isolated,
    listed,
    unbroken,
)
from rhale.results.pair_effect import PAIR_NAME_SEPARATOR, PairResult, can_be_ranked
from rhale.results.pair_sections import PairSurface, lay_along, with_surface

if TYPE_CHECKING:
    from rhale.pairs import Interactions

PAIR_METHODS = {
    "ale": "ALE of second order: what two features do together, where the rows are",
    "pdp": "two-way partial dependence, which leaves the data",
    "h": "H of Friedman and Popescu, not normalised",
    "greenwell": "Greenwell's index of partial dependence",
    "shap": "SHAP interaction values",
}
MEANINGS = {
    "ale": (
        "The strength of a pair is the deviation over the rows of what both features do together "
        "beyond what each does alone, without the noise in it. It is in units of the prediction, "
        "as importance is. It is of this model; rhale.refit(..., pairs='all') tells which pairs "
        "would come back after another training."
    ),
    "pdp": (
        "The strength of a pair is the deviation of what the average prediction does with both "
        "features beyond what it does with each alone. It also counts what the model does far "
        "from the rows."
    ),
    "h": (
        "The strength of a pair is the deviation over the rows of what the partial dependence of "
        "both features has beyond those of each alone, in units of the prediction. It also counts "
        "what the model does far from the rows, so that it grows where features are correlated. "
        "The normalised H², a share, is no measure of strength: weak pairs have large ones."
    ),
    "greenwell": (
        "The number is how much the deviation of one feature's partial dependence changes along "
        "the other, both ways averaged, in units of the prediction. It is smaller than the "
        "deviation of what both do together, by a factor that differs from pair to pair."
    ),
    "shap": (
        "The strength of a pair is the deviation over the rows of its SHAP interaction values, in "
        "units of the prediction. They are those of the model as SHAP reads it."
    ),
}
MAX_RANKING_ROWS, MAX_DRAWN_PAIRS, MAX_PAIR_MATRIX_FEATURES = 30, 5, 30
NUMBERED = 12  # features of a matrix: with more, cells have no room for numbers
N_SHADES = 10


@dataclass(frozen=True)
class RankedPair:
    """One row of the ranking: numbers are None where they are not known.

    `part` is which of the drawn pairs it is, `notes` are places among the page's notes.
    """

    names: tuple[str, str]
    strength: float | None
    error: float | None
    share: float | None
    h2: str
    part: int | None
    notes: tuple[int, ...]
    can_be_ranked: bool = True


@dataclass(frozen=True)
class MatrixCell:
    """A strength, or an importance on the diagonal: in words, as a shade, and where it is drawn."""

    words: str
    shade: int | None
    part: int | None = None


@dataclass(frozen=True)
class Matrix:
    """Strengths of all pairs of the features that interact most; `n_left` are not shown."""

    names: tuple[str, ...]
    cells: tuple[tuple[MatrixCell, ...], ...]
    n_left: int

    @property
    def is_numbered(self) -> bool:
        """Whether cells have room for numbers."""
        return len(self.names) <= NUMBERED


@dataclass(frozen=True)
class PairPart:
    """A pair that is drawn: lines of the first feature at values of the second, and the map.

    `names` are what people read, `axes` the same with units.
    """

    names: tuple[str, str]
    axes: tuple[str, str]
    ranked: RankedPair
    reading: str
    lines: LinesShape
    map: MapShape


@dataclass(frozen=True)
class OutputPart:
    """All that is said of one output; `n_weaker` and `n_none` pairs are but counted.

    `place` is that of the output on the page.
    """

    name: str
    key: str
    place: int
    ranking: tuple[RankedPair, ...]
    n_weaker: int
    n_none: int
    largest: float
    matrix: Matrix
    pairs: tuple[PairPart, ...]


@dataclass(frozen=True)
class PairPage:
    """Everything that the page of interactions says."""

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    meaning: str
    outputs: tuple[OutputPart, ...]
    notes: tuple[Footnote, ...]
    code: str
    has_h2: bool


class PairPageLimits(NamedTuple):
    """How much a page shows: rows of the ranking, and pairs that are drawn."""

    rows: int = MAX_RANKING_ROWS
    pairs: int = MAX_DRAWN_PAIRS


DEFAULT_PAIR_LIMITS = PairPageLimits()


def make_pair_page(
    table: Interactions, title: str | None = None, limits: PairPageLimits = DEFAULT_PAIR_LIMITS
) -> PairPage:
    """Gather what a page of interactions shows.

    Parameters
    ----------
    table : Interactions
        Pairs, and what was measured.
    title : str, optional
        Heading of the page.
    limits : PairPageLimits
        How much it shows.
    """
    texts = list(dict.fromkeys(note for pair in table.pairs for note in pair.notes))
    method = table.pairs[0].method if table.pairs else "ale"
    return PairPage(
        title=clean(title or "Which features work together"),
        lead=write_pair_lead(table),
        facts=tuple(summarize_pair_page(table)),
        settings=tuple(list_pair_settings(table, method)),
        meaning=MEANINGS[method],
        outputs=tuple(make_pair_output(table, output, texts, limits) for output in table.outputs),
        notes=tuple(Footnote(clean(text), "") for text in table.notes)
        + tuple(Footnote(clean(text), list_noted_pairs(text, table.pairs)) for text in texts),
        code=write_pair_code(table),
        has_h2=any(math.isfinite(pair.h2) for pair in table.pairs),
    )


def write_pair_lead(table: Interactions) -> str:
    """Say in one sentence what was explained."""
    model = short_model(table.provenance)
    rows = rows_in_words(table.provenance)
    where = f", over {rows} rows" if rows else ""
    who = f"a {model}" if model != "function" else "a model"
    return f"What two features of {who} do together that neither does alone{where}: the strongest pairs come first."


def make_pair_output(
    table: Interactions, output: str, texts: Sequence[str], limits: PairPageLimits
) -> OutputPart:
    """Gather what is said of one output."""
    ranked = table.ranked(output)
    scale = math.sqrt(float(table.variance[table.outputs.index(output)]))
    shown = with_surface(p for p in ranked[: limits.pairs] if drop_size_rounding(p.strength, scale))
    drawn = {pair.names: part for part, pair in enumerate(shown)}
    n_notes = len(table.notes)
    interacting = [pair for pair in ranked if drop_size_rounding(pair.strength, scale)]
    rows = tuple(
        rank(pair, scale, drawn.get(pair.names), [n_notes + texts.index(n) for n in pair.notes])
        for pair in (interacting or ranked[: limits.pairs])[: limits.rows]
    )
    return OutputPart(
        name=clean(table.captions.output(output)),
        key=output,
        place=table.outputs.index(output),
        ranking=rows,
        n_weaker=max(len(interacting) - len(rows), 0),
        n_none=len(ranked) - max(len(interacting), len(rows)),
        largest=max((row.strength or 0.0 for row in rows), default=0.0),
        matrix=make_matrix(table, output, drawn),
        pairs=tuple(make_pair_part(pair, rows[i], len(ranked)) for i, pair in enumerate(shown)),
    )


def rank(pair: PairResult, scale: float, part: int | None, notes: Sequence[int]) -> RankedPair:
    """One row of the ranking."""
    strength, error = (
        drop_size_rounding(pair.strength, scale),
        drop_size_rounding(pair.strength_error, scale),
    )
    return RankedPair(
        spoken_names(pair),
        strength,
        error,
        drop_size_rounding(pair.share, 1.0),
        h2=format_report_number(pair.h2, 2),
        part=part,
        notes=tuple(notes),
        can_be_ranked=can_be_ranked(pair),
    )


def spoken_names(pair: PairResult) -> tuple[str, str]:
    """What people read for both features."""
    first, second = (clean(pair.captions.feature(name)) for name in pair.names)
    return first, second


def strength_in_words(row: RankedPair, largest: float) -> str:
    """Strength of a pair and its error."""
    size = fixed(math.nan if row.strength is None else row.strength, largest)
    return f"{size} ± {fixed(row.error, largest)}" if row.error else size


def format_variance_percent(share: float | None) -> str:
    """A share of the variance.

    Examples
    --------
    >>> format_variance_percent(0.384), format_variance_percent(0.0), format_variance_percent(0.0004)
    ('38 %', '0 %', '< 0.1 %')
    """
    if share is None:
        return UNKNOWN_DASH
    return "< 0.1 %" if 0 < share < 1e-3 else f"{format_report_number(100 * share, 2)} %"


def make_pair_part(pair: PairSurface, ranked: RankedPair, n_pairs: int) -> PairPart:
    """Gather what is drawn and said of one pair."""
    laid = lay_along(pair)
    axes = laid.captions.axis(laid.names[0]), laid.captions.axis(laid.names[1])
    return PairPart(
        spoken_names(laid),
        (clean(axes[0]), clean(axes[1])),
        ranked,
        reading=tell_surface(laid, n_pairs),
        lines=lines_of(laid),
        map=map_of(laid),
    )


def make_matrix(table: Interactions, output: str, drawn: Mapping[tuple[str, str], int]) -> Matrix:
    """Strengths of all pairs; features that interact most come first."""
    found = table.matrix(output)
    apart = np.where(np.eye(len(found), dtype=bool), np.nan, found)
    strongest = np.max(np.nan_to_num(apart), axis=1, initial=0.0)
    order = np.lexsort((-np.nan_to_num(np.diagonal(found)), -strongest))[:MAX_PAIR_MATRIX_FEATURES]
    tops = float(np.nanmax([0.0, *strongest])), float(np.nanmax([0.0, *np.diagonal(found)]))
    names = [table.features[i] for i in order]
    either = {key: part for (a, b), part in drawn.items() for key in ((a, b), (b, a))}
    cells = tuple(
        tuple(
            make_cell(float(found[i, j]), tops[int(i == j)], either.get((a, b)))
            for j, b in zip(order, names, strict=True)
        )
        for i, a in zip(order, names, strict=True)
    )
    spoken = tuple(clean(table.captions.feature(name)) for name in names)
    return Matrix(spoken, cells, len(found) - len(order))


def make_cell(value: float, top: float, part: int | None) -> MatrixCell:
    """One cell; blank where nothing was measured."""
    if not math.isfinite(value):
        return MatrixCell("", None)
    size = drop_size_rounding(value, top) or 0.0
    shade = round(N_SHADES * size / top) if top > 0 else 0
    return MatrixCell(format_report_number(size, 2), min(shade, N_SHADES), part)


def list_noted_pairs(text: str, pairs: Sequence[PairResult]) -> str:
    """List the pairs that have a note."""
    named = dict.fromkeys(spoken_names(pair) for pair in pairs if text in pair.notes)
    everyone = dict.fromkeys(spoken_names(pair) for pair in pairs)
    if len(named) == len(everyone) > 1:
        return "all pairs"
    return listed(
        [PAIR_NAME_SEPARATOR.join(isolated(clean(n, 60)) for n in names) for names in named]
    )


def summarize_pair_page(table: Interactions) -> list[tuple[str, str]]:
    """Say what was measured; names and words."""
    provenance, n_features, read = table.provenance, len(table.features), table.captions
    n_pairs = len({pair.names for pair in table.pairs})
    possible = n_features * (n_features - 1) // 2
    some = f"{n_pairs:,}" if n_pairs == possible else f"{n_pairs:,} of {possible:,}"
    shares = {
        read.output(o): float(np.nansum([p.share for p in table.pairs if p.output == o]))
        for o in table.outputs
    }
    words = [clean(read.value_axis(output), 60) for output in table.outputs]
    found = [
        ("Model", provenance.get("model", "")),
        ("Rows", rows_in_words(provenance)),
        ("Features", f"{n_features:,}"),
        ("Pairs", some),
        ("Outputs" if len(words) > 1 else "Output", listed(words)),
        ("Shares of all these pairs together", unbroken(describe_explained_shares(shares))),
    ]
    return [(name, clean(text, LONGEST_FACT)) for name, text in found if text]


def list_pair_settings(table: Interactions, method: str) -> list[tuple[str, str]]:
    """Say how it was measured, when and with what; names and words."""
    found = [
        ("Method", PAIR_METHODS[method]),
        ("Made", created(table.provenance)),
        ("Versions", versions(table.provenance)),
    ]
    return [(name, clean(text, LONGEST_FACT)) for name, text in found if text]


def write_pair_code(table: Interactions) -> str:
    """Write how to make the same again, from the arguments that were given."""
    asked = table.provenance.get("asked")
    asked = {
        "method": repr(table.provenance.get("method", "ale")),
        **(asked if isinstance(asked, Mapping) else {}),
    }
    inside = "".join(f"    {argument(name, text)},\n" for name, text in asked.items())
    names = [
        clean(name, MAX_CHART_LEVEL_LETTERS)
        for name in (table.pairs[0].names if table.pairs else ())
    ]
    key = ", ".join(map(repr, [*names, *table.outputs[: len(table.outputs) > 1]]))
    return (
        f"import rhale  # version {clean(table.provenance.get('rhale', '?'), 40)}\n\n"
        f"ix = rhale.interactions(\n    model,\n    X,\n{inside})\n"
        f"ix[{clean(key)}]  # the numbers of one pair\n"
        "ix.to_frame()  # one row for each pair and output\n"
        'ix.report("interactions.html")  # this page\n'
    )
