"""Interactions on the page and in notebooks: sentences, parts, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rhale.interaction.charts import (
    MAX_PAIR_NAME_LETTERS,
    LinesShape,
    MapShape,
    compile_pair_charts,
    lines_of,
    map_of,
    write_pair_value,
)
from rhale.interaction.pair_effect import (
    PAIR_NAME_SEPARATOR,
    PairEffect,
    PairResult,
    PairSurface,
    can_be_ranked,
    write_head,
)
from rhale.interaction.pair_profile import (
    PairSection,
    change_apart,
    choose_section_cells,
    cut_sections,
    lay_along,
    with_surface,
)
from rhale.interaction.table import PAIR_COLUMNS, PairRow, captioned
from rhale.output import colours
from rhale.output.columns import MAX_NOTE_LETTERS, Header, insert_after, lay_out_further, words
from rhale.output.number_format import UNKNOWN_DASH
from rhale.regions.report import SEARCHED_INTERVAL_ERROR_RATE, farthest_apart
from rhale.report.notebook import NOTEBOOK_BAR_WIDTH, card, folded_notes, write_paragraph
from rhale.report.numbers import MAX_CHART_LEVEL_LETTERS
from rhale.report.page import (
    Footnote,
    Page,
    Section,
    describe_explained_shares,
    drop_size_rounding,
    list_known,
    list_settings,
    read_arguments,
    rows_in_words,
    short_model,
    write_arguments,
)
from rhale.report.sentences import (
    clean,
    fixed_or_dash,
    format_report_number,
    isolated,
    listed,
    named_output,
    plus_minus,
    unbroken,
)
from rhale.stats.arrays import BoolArray, IntArray
from rhale.stats.distributions import Z_SCORE_95

if TYPE_CHECKING:
    from rhale.interaction.result import Interactions


# --- The joint effect of two features in one plain sentence, only as far as errors allow


# that a claim about a stretch that was not searched for is wrong, as three standard errors
FIXED_INTERVAL_ERROR_RATE = 1.35e-3
PAIR_SIGNIFICANCE = 0.05  # of p
UNSURE = (
    "Partial dependence comes without standard errors, so the uncertainty of the lines is unknown."
)
UNSURE_PAIR = "The two features interact, but the form of the interaction is uncertain"
NEGLIGIBLE_PAIR_CHANGE = 0.1  # of the difference between two curves: a smaller change is hardly one
PAIR_TEXT_ROUNDING = 1e-9  # of the deviation of the predictions
MIN_SHARED_NODES = 0.5  # of the nodes: curves that have less in common are not all compared


class Contrast(NamedTuple):
    """Two curves over the stretch on which they differ most."""

    start: float  # start, stop: the stretch
    stop: float
    values: tuple[float, float]  # of the other feature
    changes: tuple[float, float]  # what the prediction does there
    apart: float  # apart, error: the second change less the first, and its standard error
    error: float
    is_gradual: bool  # whether what lies between the two values does something between.


def tell_surface(pair: PairSurface, n_pairs: int) -> str:
    """Say what a pair does, if errors tell how sure that is; arguments as in `tell_pair`."""
    return tell_pair(pair, n_pairs) if isinstance(pair, PairEffect) else UNSURE


def tell_pair(pair: PairEffect, n_pairs: int) -> str:
    """Say what the second feature does to the effect of the first.

    The pair was chosen among `n_pairs`: the more these are, the surer a claim has to be.
    """
    spoken = [pair.captions.feature(name) for name in pair.names]
    names = [isolated(clean(name, MAX_PAIR_NAME_LETTERS)) for name in spoken]
    if pair.strength <= PAIR_TEXT_ROUNDING * math.sqrt(pair.variance):
        return f"On average there is no interaction of {names[0]} and {names[1]}."
    middle, widest = contrast_middle(pair), contrast(pair)
    for found, chance in (
        (middle, FIXED_INTERVAL_ERROR_RATE),
        (widest, SEARCHED_INTERVAL_ERROR_RATE),
    ):
        limit = -NormalDist().inv_cdf(chance / max(n_pairs, 1))
        if found is not None and abs(found.apart) > limit * found.error:
            return unbroken(f"{headline(pair, found, names)}: {tell_changes(pair, found, names)}.")
    if widest is None:
        return "The lines cannot be compared: no range has rows at two values of the other feature."
    size = plus_minus(abs(widest.apart), widest.error)
    if pair.p_value * n_pairs < PAIR_SIGNIFICANCE:
        return unbroken(
            f"{UNSURE_PAIR}: no two lines differ significantly over a range (by at most {size})."
        )
    return unbroken(f"The lines do not differ significantly (by at most {size}).")


def headline(pair: PairEffect, found: Contrast, names: Sequence[str]) -> str:
    """Say in few words how one effect depends on the other feature."""
    small, (low, high) = least_change(found), found.changes
    verb = "depends on"
    if not pair.axes[1].is_levels and found.is_gradual:
        if abs(low) > small and abs(high) > small and low * high < 0:
            verb = "changes its sign with"
        else:
            verb = "grows with" if abs(high) > abs(low) else "shrinks with"
    return f"The effect of {names[0]} {verb} {names[1]}"


def tell_changes(pair: PairEffect, found: Contrast, names: Sequence[str]) -> str:
    """Say what the prediction does at both values, and how far that is apart."""
    small, about = least_change(found), "" if pair.axes[1].is_levels else "about "
    first, second = (change_in_words(change, small) for change in found.changes)
    verb, _, rest = second.partition(" ")
    second = rest if rest.startswith("by") and first.startswith(f"{verb} by") else second
    start, stop = (write_pair_value(pair.axes[0], end) for end in (found.start, found.stop))
    where = [f"{about}{write_pair_value(pair.axes[1], value)}" for value in found.values]
    size = plus_minus(abs(found.apart), found.error)
    output = named_output(pair.captions, pair.output)
    return (
        f"from {start} to {stop} {output} {first} where {names[1]} is {where[0]}, "
        f"and {second} where it is {where[1]} (a difference of {size})"
    )


def least_change(found: Contrast) -> float:
    """What a change needs to be one; the error of two curves' difference stands for its own."""
    return max(NEGLIGIBLE_PAIR_CHANGE * abs(found.apart), Z_SCORE_95 * found.error)


def change_in_words(change: float, small: float) -> str:
    """Say what a prediction does.

    Examples
    --------
    >>> change_in_words(1.25, 0.1), change_in_words(-3.0, 0.1), change_in_words(0.01, 0.1)
    ('rises by 1.25', 'falls by 3', 'hardly moves')
    """
    if abs(change) <= small:
        return "hardly moves"
    return f"{'rises' if change > 0 else 'falls'} by {format_report_number(abs(change))}"


def contrast_middle(pair: PairEffect) -> Contrast | None:
    """Compare the curves at low and high values between low and high places: nothing is searched for."""
    # Most of the rows lie between them. Beyond, cells are wide and hold few rows, whose
    # disagreement adds up: of trees, what is sure is mostly seen here. None for levels, or
    # without rows there.
    sections = cut_sections(pair)
    if any(axis.is_levels for axis in pair.axes) or len(sections) < 2:
        return None
    stands = choose_section_cells(pair.axes[0], pair.weight.sum(axis=1))
    ends = [int(stands[0]), int(stands[-1])]
    if ends[0] == ends[1] or not all(s.has_rows[ends].all() for s in (sections[0], sections[-1])):
        return None
    return compare_sections(pair, sections, (0, len(sections) - 1), (ends[0], ends[1] + 1))


def contrast(pair: PairEffect) -> Contrast | None:
    """Find the two curves, and the stretch, that differ most; None where none can be compared."""
    found = find_shared_nodes(cut_sections(pair), is_levels=pair.axes[0].is_levels)
    if found is None:
        return None
    sections, nodes = found
    heights = np.array([section.height[nodes] for section in sections])
    which, first, last = farthest_apart(heights, has_order=not pair.axes[0].is_levels)
    return compare_sections(pair, sections, which, (int(nodes[first]), int(nodes[last])))


def compare_sections(
    pair: PairEffect,
    sections: Sequence[PairSection],
    which: tuple[int, int],
    nodes: tuple[int, int],
) -> Contrast:
    """What two curves do from one node to another, and whether those between do something between."""
    changes = np.array([s.height[nodes[1]] - s.height[nodes[0]] for s in sections])
    start, stop = pair.axes[0].nodes[list(nodes)].tolist()
    values = sections[which[0]].value, sections[which[1]].value
    apart, error = change_apart(pair, (start, stop), values)
    low, high = np.sort(changes[list(which)])
    middle = changes[which[0] + 1 : which[1]]
    middle = middle[np.isfinite(middle)]
    between = bool(np.all((middle >= low - error) & (middle <= high + error)))
    is_gradual = which == (0, len(sections) - 1) and between
    both = float(changes[which[0]]), float(changes[which[1]])
    return Contrast(start, stop, values, both, apart, error, is_gradual)


def find_shared_nodes(
    sections: Sequence[PairSection], *, is_levels: bool
) -> tuple[list[PairSection], IntArray] | None:
    """The curves that have a stretch in common, and its nodes: all of them, or the best two."""
    least = 2 if is_levels else 3
    groups = [list(sections)] if len(sections) > 1 else []
    nodes = shared_nodes(groups[0], is_levels=is_levels) if groups else np.arange(0)
    if groups and nodes.size >= max(least, MIN_SHARED_NODES * sections[0].height.size):
        return groups[0], nodes
    pairs = [list(two) for two in combinations(sections, 2)]
    if not pairs:
        return None
    common = [shared_nodes(two, is_levels=is_levels) for two in pairs]
    best = int(np.argmax([nodes.size for nodes in common]))
    return (pairs[best], common[best]) if common[best].size >= least else None


def shared_nodes(sections: Sequence[PairSection], *, is_levels: bool) -> IntArray:
    """Levels that all curves have, or the nodes of the longest stretch of cells."""
    has: BoolArray = np.all([section.has_rows for section in sections], axis=0)
    if is_levels:
        return np.flatnonzero(has)
    ends = np.flatnonzero(np.diff(np.concatenate([[False], has, [False]]).astype(int)))
    starts, stops = ends[::2], ends[1::2]
    if not starts.size:
        return np.arange(0)
    longest = int(np.argmax(stops - starts))
    return np.arange(starts[longest], stops[longest] + 1)


PAIR_METHODS = {
    "ale": "second-order ALE: joint effect of two features (interaction only), measured where the rows are",
    "pdp": "two-way partial dependence, which leaves the data",
    "h": "H of Friedman and Popescu, not normalised",
    "greenwell": "Greenwell's index of partial dependence",
    "shap": "SHAP interaction values",
}
MEANINGS = {
    "ale": (
        "The strength of a pair is the standard deviation over the rows of its joint effect "
        "(interaction only), corrected for noise, in units of the prediction. It describes this "
        "model; rhale.refit(..., pairs='all') measures which pairs are stable under retraining."
    ),
    "pdp": (
        "The strength of a pair is the standard deviation of its joint effect (interaction only) "
        "in partial dependence. It also counts what the model does far from the rows."
    ),
    "h": (
        "The strength of a pair is the standard deviation over the rows of its joint effect "
        "(interaction only) in partial dependence, in units of the prediction. It also counts what "
        "the model does far from the rows, so that it grows where features are correlated. The "
        "normalised H², a share, does not measure strength: weak pairs can have a large H²."
    ),
    "greenwell": (
        "The number is how much the deviation of one feature's partial dependence changes along "
        "the other, averaged over both directions, in units of the prediction. It is smaller than "
        "the deviation of the joint effect, by a factor that differs from pair to pair."
    ),
    "shap": (
        "The strength of a pair is the standard deviation over the rows of its SHAP interaction "
        "values, in units of the prediction, as the library SHAP computes them."
    ),
}
MAX_RANKING_ROWS, MAX_DRAWN_PAIRS, MAX_PAIR_MATRIX_FEATURES = 30, 5, 30
MOST_SECTION_ROWS, MOST_SECTION_PAIRS = 10, 3  # of a section that is one of several
NUMBERED = 12  # features of a matrix: with more, cells have no room for numbers
N_SHADES = 10


DRAWN_PAIR_COLUMNS = ("pair", "output", "strength", "share", "h2", "notes")


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
    further: tuple[str, ...] = ()  # cells that have no field of their own

    def strength_in_words(self, largest: float) -> str:
        """Strength of the pair and its error, aligned with the largest."""
        size = fixed_or_dash(self.strength, largest)
        return f"{size} ± {fixed_or_dash(self.error, largest)}" if self.error else size

    @property
    def share_in_words(self) -> str:
        """Share of the variance of the predictions."""
        return format_variance_percent(self.share)


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
    further: tuple[Header, ...] = ()  # columns that the template does not name


@dataclass(frozen=True)
class InteractionsSection(Section):
    """Ranking of pairs, the matrix of their strengths, and the strongest ones."""

    kind: ClassVar[str] = "interactions"
    meaning: str
    outputs: tuple[OutputPart, ...]
    has_h2: bool

    def data(self) -> dict[str, Any]:
        """Numbers of the pairs that are drawn, by the place of their output."""
        drawn: list[list[Any]] = [[] for _ in range(1 + max(one.place for one in self.outputs))]
        for output in self.outputs:
            drawn[output.place] = [
                {"names": pair.names, "lines": asdict(pair.lines), "map": asdict(pair.map)}
                for pair in output.pairs
            ]
        return {"pairs": drawn}

    def charts(self) -> dict[str, Any]:
        """Kinds of lines that pairs need, and the map."""
        return compile_pair_charts({p.lines.form for one in self.outputs for p in one.pairs})


def make_pair_page(table: Interactions, title: str | None = None) -> Page:
    """Gather what a page of interactions shows."""
    method, rows = method_of(table), rows_in_words(table.provenance)
    model = short_model(table.provenance)
    whose = f"a {model}" if model != "function" else "a model"
    where = f", over {rows} rows" if rows else ""
    return Page(
        title=clean(title or "Which features interact"),
        lead=f"This page shows which pairs of features interact in {whose}{where}; the strongest pairs come first.",
        facts=summarize_pair_page(table),
        settings=list_settings(PAIR_METHODS[method], table.provenance),
        notes=tuple(Footnote(clean(text)) for text in table.notes)
        + tuple(
            Footnote(clean(text), list_noted_pairs(text, table.pairs)) for text in texts_of(table)
        ),
        sections=(make_interactions_section(table),),
    )


def make_interactions_section(table: Interactions, *, brief: bool = False) -> InteractionsSection:
    """Gather what is shown of interactions; a brief section is one of several."""
    return InteractionsSection(
        "Interactions",
        write_pair_code(table),
        brief,
        meaning=MEANINGS[method_of(table)],
        outputs=tuple(make_pair_output(table, output, brief=brief) for output in table.outputs),
        has_h2=any(math.isfinite(pair.h2) for pair in table.pairs),
    )


def method_of(table: Interactions) -> str:
    """Name of the method of all pairs."""
    return table.pairs[0].method if table.pairs else "ale"


def texts_of(table: Interactions) -> list[str]:
    """Notes of all pairs, each once."""
    return list(dict.fromkeys(note for pair in table.pairs for note in pair.notes))


def make_pair_output(table: Interactions, output: str, *, brief: bool) -> OutputPart:
    """Gather what is said of one output."""
    ranked, texts = table.ranked(output), texts_of(table)
    most_rows = MOST_SECTION_ROWS if brief else MAX_RANKING_ROWS
    most_pairs = MOST_SECTION_PAIRS if brief else MAX_DRAWN_PAIRS
    scale = math.sqrt(float(table.variance[table.outputs.index(output)]))
    shown = with_surface(p for p in ranked[:most_pairs] if drop_size_rounding(p.strength, scale))
    drawn = {pair.names: part for part, pair in enumerate(shown)}
    n_notes = len(table.notes)
    interacting = [pair for pair in ranked if drop_size_rounding(pair.strength, scale)]
    listed_pairs = (interacting or ranked[:most_pairs])[:most_rows]
    further, cells = lay_out_further(
        [PairRow(pair) for pair in listed_pairs], PAIR_COLUMNS, DRAWN_PAIR_COLUMNS
    )
    rows = tuple(
        replace(
            rank(
                pair, scale, drawn.get(pair.names), [n_notes + texts.index(n) for n in pair.notes]
            ),
            further=own,
        )
        for pair, own in zip(listed_pairs, cells, strict=True)
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
        further=further,
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


def format_variance_percent(share: float | None) -> str:
    """A share of the variance."""
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


def summarize_pair_page(table: Interactions) -> tuple[tuple[str, str], ...]:
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
        ("Sum of the shares of these pairs", unbroken(describe_explained_shares(shares))),
    ]
    return list_known(found)


def write_pair_code(table: Interactions) -> str:
    """Write how to make the same again, from the arguments that were given."""
    inside = write_arguments(read_arguments(table.provenance, "ale"))
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


# --- Pairs as small pieces of HTML for notebooks, one or the strongest: no script, no style sheet


STRENGTH_BAR_HEIGHT = 8
MAP_COLOURS_NOTE = (
    "Colours show the joint effect (interaction only); cells without rows are hatched."
)


def draw_strength_cell(row: PairRow) -> str:
    """Draw the strength of a pair as a bar, for its table."""
    width = NOTEBOOK_BAR_WIDTH * row.strength / row.largest if row.largest > 0 else 0.0
    return (
        f'<svg width="{NOTEBOOK_BAR_WIDTH}" height="{STRENGTH_BAR_HEIGHT}" aria-hidden="true">'
        f'<rect width="{width:.3g}" height="{STRENGTH_BAR_HEIGHT}" fill="{colours.STRENGTH_COLOUR}"/></svg>'
    )


PAIR_NOTEBOOK_COLUMNS = insert_after(
    PAIR_COLUMNS, "output", words(header="", markup=draw_strength_cell)
)


def pair_as_html(pair: PairResult) -> str:
    """Write one pair: its map, strength, a sentence, notes."""
    names = captioned(pair)
    on = f"interaction on {pair.captions.value_axis(pair.output)}"
    head = write_head(pair)
    parts = [write_paragraph(head)]
    for surface in with_surface([pair]):  # an index has none
        if map_of(surface).reach > 0:
            # Draw the surface of a pair.
            from rhale.plots.choice import draw_pair  # tables need no Matplotlib
            from rhale.report import inline_svg

            parts = [
                inline_svg.draw_inline_svg(
                    draw_pair, clean(head, MAX_NOTE_LETTERS), surface, "map"
                ),
                write_paragraph(MAP_COLOURS_NOTE),
                *parts,
            ]
        parts.append(write_paragraph(tell_surface(surface, 1)))
    return card(PAIR_NAME_SEPARATOR.join(names), on, [*parts, folded_notes(pair.notes)])
