"""Put the sections that the scripts wrote together: docs/accuracy.md, and the long tables apart.

A reader of the page wants to know how far off things are; whoever doubts it wants every case. Tables
of many rows stand whole in accuracy/tables.md, and on the page by their means.
"""

from __future__ import annotations

import re
import sys

import numpy as np
from parts import HERE, PAGE, PARTS
from report import assemble, table

# the order of the page; each is written by the script of the same name
SECTIONS = (
    "random_problems",
    "two_looks",
    "oracle",
    "additive",
    "california_subsets",
    "curves",
    "audit",
    "trees",
    "spreads",
    "tree_regions",
    "jumps",
    "intervals",
    "regions",
    "pairs",
    "refits",
    "comparisons",
)
HEAD = """# How accurate the bins, the curve and the intervals are

Everything here is measured against a known truth, or against far more rows than were used.
`make accuracy` writes this page anew; each section names its script. Settings were chosen on some
problems and seeds, and are reported on others. Tables of many cases are shown by their means; every
case stands in `accuracy/tables.md`.
"""

TABLES_HEAD = """# Long tables of docs/accuracy.md, every case

Written by `make accuracy`; docs/accuracy.md says what is measured, and how.

"""
LONG = 14  # rows of a table that the page shows whole
TABLES = HERE / "tables.md"
# Columns by which a long table is averaged, by the first words of its header
BY = {
    "effect | rows | fits alone": (1,),
    "function | model | rows | largest": (1, 2),
    "function | model | $x_1$": (1,),
    "case | rows | jumps": (1,),
    "effect and x | rows": (1,),
    "table and feature | rows": (1,),
    "problem | rows | right": (1,),
    "problem | kind | right": (1,),
    "rows | ratio, slopes": (1,),
    "AUC | a true one": (1,),
    "learner | rows | noise | interval": (3,),
}
KEPT = ("net and feature", "n | rms")  # of the page although they are long
APART = ("c-ICE", "windows, corr", "function | predictions")  # summarised by the table before them
SETTING = ("rows", "noise")  # numbers that were chosen, not measured
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def split_long_tables(text: str) -> tuple[str, str]:
    """The page with the means of long tables, and these tables below the headings of their sections."""
    page, apart, headings = list[str](), list[str](), list[str]()
    for block in re.split(r"\n{2,}", text.strip()):
        lines = block.split("\n")
        if lines[0].startswith("#"):
            headings = [block]
        header = lines[0].strip("| ")
        if not lines[0].startswith("|") or len(lines) - 2 <= LONG or header.startswith(KEPT):
            page.append(block)
            continue
        if header.startswith(APART):
            page.append(f"({len(lines) - 2} cases in `accuracy/tables.md`)")
        else:
            page += [summarise(lines), f"Means of {len(lines) - 2} cases."]
        apart += [*headings, block]
        headings = []
    return "\n\n".join(page) + "\n", "\n\n".join(apart) + "\n"


def summarise(lines: list[str]) -> str:
    """The means of a table, one row for each value of the columns that `BY` names."""
    header, _, *rows = ([cell.strip() for cell in line.strip()[1:-1].split("|")] for line in lines)
    keys = next((k for start, k in BY.items() if lines[0].strip("| ").startswith(start)), ())
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[k] for k in keys), []).append(row)
    # column 0 names the case
    shown = [
        k for k in range(1, len(header)) if k not in keys and header[k] not in SETTING
        and not any(re.search("[a-z]{4}", row[k]) for row in rows)
    ]  # fmt: skip
    found = [
        [*(key or ("all cases",)), *(mean_of_cells([row[k] for row in group]) for k in shown)]
        for key, group in groups.items()
    ]
    return table([*([header[k] for k in keys] or [""]), *(header[k] for k in shown)], found)


def mean_of_cells(cells: list[str]) -> str:
    """The mean of each number of cells that are written alike; of "3 of 9" the sums."""
    known = [cell for cell in cells if NUMBER.search(cell)]
    if not known:
        return "-"
    forms = [NUMBER.sub("#", cell) for cell in known]
    form = max(set(forms), key=forms.count)
    numbers = [NUMBER.findall(c) for c, f in zip(known, forms, strict=True) if f == form]
    values = np.array([[float(n.replace(",", "")) for n in row] for row in numbers])
    if form == "# of #":
        return " of ".join(f"{total:.0f}" for total in values.sum(axis=0))
    decimals = [
        max(len(row[k].partition(".")[2]) for row in numbers) for k in range(len(numbers[0]))
    ]
    means = iter(f"{m:.{d}f}" for m, d in zip(values.mean(axis=0), decimals, strict=True))
    return re.sub("#", lambda _: next(means), form)


def write_pages() -> int:
    """Write both pages from the sections; gives the exit code."""
    if code := assemble(HEAD, SECTIONS, PARTS, PAGE):
        return code
    page, tables = split_long_tables(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")
    TABLES.write_text(TABLES_HEAD + tables, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(write_pages())
