"""Who differs, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from rhale.report.region_courses import RegionComparison, RegionTrend, compare_regions, known_error
from rhale.report.sentences import Z_SCORE_95, capital, is_sure
from rhale.report.wording import (
    clean,
    format_report_number,
    isolated,
    listed,
    plus_minus,
    shorten_middle,
)
from rhale.results.listing import share_told, write_share
from rhale.results.region_tree import Region, RegionTree
from rhale.results.result import Difference, Result

Way = Literal["rises", "falls", "hardly moves", "unclear"]
DIRECTIONS: tuple[Way, ...] = ("rises", "falls", "hardly moves", "unclear")
MOST_TOLD = 4  # regions; of more, the two that differ most
NEGLIGIBLE_REGION_CHANGE = 0.1  # of the largest change among the regions
BROAD = 0.25  # of a ratio: an interval that is wider tells no number
UNMEASURED = "no measurable part"
MAX_RULE_LETTERS_IN_TEXT, MAX_NAME_LETTERS_IN_TEXT = 80, 60


def tell_regions(effect: Result) -> str:
    """Say who differs, and how, and how far to trust it; nothing where nobody asked.

    Parameters
    ----------
    effect : Effect or LevelEffect
        The effect of all rows, with its regions.
    """
    tree = effect.regions
    if tree is None:
        return ""
    name = isolated(shorten_middle(effect.captions.feature(effect.name), MAX_NAME_LETTERS_IN_TEXT))
    if tree.state == "doubtful":
        return doubtful_sentence(tree, name)
    if len(tree) < 2:
        return f"No regions: {clean(tree.why) or 'none was found'}."
    if tree.gradual is not None:
        return gradual_sentence(effect, tree, name)
    return region_sentence(effect, tree, name)


def doubtful_sentence(tree: RegionTree, name: str) -> str:
    """Say that something was seen that the model's own steps could make."""
    names = dict.fromkeys(split.feature for split in tree.doubtful)
    who = listed([isolated(shorten_middle(one, MAX_NAME_LETTERS_IN_TEXT)) for one in names], most=3)
    return (
        f"There are hints that the effect of {name} differs {f'by {who}' if who else 'between rows'}, "
        "but no larger than the steps of the model."
    )


def gradual_sentence(effect: Result, tree: RegionTree, name: str) -> str:
    """Say with whom an effect changes, and what it is at both ends."""
    partner = isolated(shorten_middle(tree.gradual, MAX_NAME_LETTERS_IN_TEXT))
    others = [
        isolated(shorten_middle(n, MAX_NAME_LETTERS_IN_TEXT))
        for n in tree.splitters
        if n != tree.gradual
    ]
    start = f"The effect of {name} changes gradually with {partner}"
    start += f", and differs by {listed(others)}" if others else ""
    start += which_explains(tree)
    ends = (tree.thirds[0], tree.thirds[-1]) if len(tree.thirds) > 1 else ()
    who = [where(region) for region in ends]
    if len(tree.thirds) == 3:  # values that many rows share leave fewer
        who = [f"in the lowest third of {partner}", "in the highest"]
    found = compare_regions(effect, ends, who)
    if found is None or not found.is_sure:
        return f"{start}."
    return f"{start}: {over(found)} {in_order(found)}."


def region_sentence(effect: Result, tree: RegionTree, name: str) -> str:
    """Compare the regions, and say how much of the spread they explain."""
    groups = "groups" if tree.state == "given" else "regions"
    found = compare_regions(effect, tree.regions, [where(region) for region in tree])
    if found is None:
        return f"The {groups} have no stretch of {name} in common to compare.{they_explain(tree)}"
    if found.is_sure:
        told = capital(difference_sentence(found, groups, name)) + this_explains(tree)
    elif tree.state == "given" or explained(tree) == UNMEASURED:
        told = f"The {groups} differ in the effect of {name} by no more than chance could make."
        told += they_explain(tree) if explained(tree) != UNMEASURED else ""
    else:
        told = f"The effect of {name} differs between {len(tree)} {groups} in its shape"
        told += this_explains(tree)
    return told + left_out(found, groups)


def difference_sentence(found: RegionComparison, groups: str, name: str) -> str:
    """Say how regions differ that do."""
    if (ratio := ratio_words(found)) is not None:
        return ratio_sentence(found, name, ratio)
    if len(found.courses) > MOST_TOLD:
        start = f"of {len(found.courses)} {groups} two differ most: "
        two = tuple(found.courses[i] for i in found.apart)
        return f"{start}{over(found)} {in_groups(two)}"
    start = (
        f"the effect of {name} differs most {write_region_interval(found)}: there {found.output}"
    )
    return f"{over(found) if found.tells_all else start} {in_groups(found.courses)}"


def left_out(found: RegionComparison, groups: str) -> str:
    """Say how many regions are not compared."""
    if not found.n_left:
        return ""
    words = f"{groups} are" if found.n_left > 1 else f"{groups[:-1]} is"
    return f" {found.n_left} {words} not compared: too few rows, or on another stretch."


def ratio_sentence(found: RegionComparison, name: str, ratio: str) -> str:
    """Compare two regions whose curves go the same way: the stronger one comes first."""
    strong, weak = sorted(found.courses, key=lambda course: -abs(course.change.size))
    sizes = [amount(course.change) for course in (strong, weak)]
    way = way_of(strong.change, abs(strong.change.size))
    is_long = len(weak.who) > MAX_NAME_LETTERS_IN_TEXT and not found.n_left
    weak_who = "elsewhere" if is_long else weak.who
    return (
        f"{strong.who} the effect of {name} is {ratio} that {weak_who} "
        f"({over(found)} {way} by {sizes[0]} and by {sizes[1]})"
    )


def ratio_words(found: RegionComparison) -> str | None:
    """How many times as strong one of two regions is; None where that cannot be told.

    Notes
    -----
    Rows of two regions are different rows, so the errors are independent, and relative errors of
    a ratio add up as squares.
    """
    if len(found.courses) != 2 or not found.tells_all:
        return None
    changes = sorted((c.change for c in found.courses), key=lambda change: -abs(change.size))
    strong, weak = changes
    largest = abs(strong.size)
    ways = {way_of(change, largest) for change in changes}
    if ways not in ({"rises"}, {"falls"}):
        return None
    ratio = largest / abs(weak.size)
    if Z_SCORE_95 * math.hypot(strong.error / strong.size, weak.error / weak.size) > BROAD:
        return None
    return "about twice" if 1.9 <= ratio < 2.1 else f"about {format_report_number(ratio, 2)} times"


def in_groups(courses: Sequence[RegionTrend]) -> str:
    """List what regions do, those that go one way together: "rises by 3 where a, by 1 where b"."""
    largest = max(abs(course.change.size) for course in courses)
    order = sorted(courses, key=lambda course: -abs(course.change.size))
    said: list[str] = []
    for way in DIRECTIONS[:3]:
        mine = [course for course in order if way_of(course.change, largest) == way]
        if not mine:
            continue
        if way == "hardly moves":
            said.append(f"{way} {' or '.join(course.who for course in mine)}")
        else:
            sizes = [f"by {size} {' or '.join(who)}" for size, who in by_size(mine).items()]
            said.append(
                f"{way} {join_clauses(sizes) if len(mine) == len(order) else ', '.join(sizes)}"
            )
    unclear = [course.who for course in order if way_of(course.change, largest) == "unclear"]
    more = f"; {' or '.join(unclear)} these rows do not tell which way it goes" if unclear else ""
    return join_clauses(said) + more


def by_size(courses: Sequence[RegionTrend]) -> dict[str, list[str]]:
    """Who changes by how much; those that change alike together."""
    found: dict[str, list[str]] = {}
    for course in courses:
        found.setdefault(amount(course.change), []).append(course.who)
    return found


def in_order(found: RegionComparison) -> str:
    """Say what two ends do, the first one first: "rises by 1 in the lowest third, and by 3 ..."."""
    largest = max(abs(course.change.size) for course in found.courses)
    said, last = [], ""
    for who, change in found.courses:
        way = way_of(change, largest)
        verb = "" if way == last else f"{way} "
        if way == "unclear":
            said.append(f"moves in no clear way {who}")
        else:
            said.append(
                f"{way} {who}" if way == "hardly moves" else f"{verb}by {amount(change)} {who}"
            )
        last = way
    return join_clauses(said)


def join_clauses(said: Sequence[str]) -> str:
    """Join parts of a sentence.

    Examples
    --------
    >>> join_clauses(["a"]), join_clauses(["a", "b", "c"])
    ('a', 'a, b, and c')
    """
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


def way_of(change: Difference, largest: float) -> Way:
    """Tell which way a curve goes, as far as its rows tell."""
    if abs(change.size) + Z_SCORE_95 * known_error(change) <= NEGLIGIBLE_REGION_CHANGE * largest:
        return "hardly moves"
    if not is_sure(change._replace(error=known_error(change))):
        return "unclear"
    return "rises" if change.size > 0 else "falls"


def amount(change: Difference) -> str:
    """Size of a change, and its error."""
    return plus_minus(abs(change.size), change.error)


def write_region_interval(found: RegionComparison) -> str:
    """Write the stretch.

    Examples
    --------
    >>> write_region_interval(RegionComparison("0", "1", True, (), (0, 1), True))
    'from 0 to 1'
    """
    return f"from {found.start} to {found.stop}"


def over(found: RegionComparison) -> str:
    """Begin a sentence about the stretch."""
    return f"{write_region_interval(found)} {found.output}"


def where(region: Region) -> str:
    """Say who is in a region."""
    return f"where {isolated(shorten_middle(region.rule, MAX_RULE_LETTERS_IN_TEXT))}"


def explained(tree: RegionTree) -> str:
    """Share of the spread that the regions explain; nothing where that is not known."""
    share, error = share_told(tree)
    if share <= 0 or share <= Z_SCORE_95 * error:
        return UNMEASURED
    return write_share(share, error)


def which_explains(tree: RegionTree) -> str:
    """Say how much a gradual change explains."""
    return f", which explains {explained(tree)} {of_the_spread(tree)}" if explained(tree) else ""


def this_explains(tree: RegionTree) -> str:
    """The same as the end of a sentence."""
    return f"; this explains {explained(tree)} {of_the_spread(tree)}." if explained(tree) else "."


def they_explain(tree: RegionTree) -> str:
    """The same as a sentence of its own."""
    return f" They explain {explained(tree)} {of_the_spread(tree)}." if explained(tree) else ""


def of_the_spread(tree: RegionTree) -> str:
    """Say what a share is of; what a search found was found in one model."""
    return "of the spread in this model" if tree.state == "found" else "of the spread"
