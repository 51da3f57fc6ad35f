"""What a run of 1e11 rows on a cluster would cost, from what one partition costs here.

Run by hand: `python benchmarks/on_paper.py` prints the table; `--write` puts it into docs/how-to/scale.md.
"""

import pickle
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

import numpy as np

import rhale
from rhale.data.array import ArrayTable
from rhale.effects.local.precomputed import MAX_RESULT_SAMPLE_ROWS
from rhale.execution import fold as passes
from rhale.stats.sampling import MAX_ROW_HASH

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "scale.md"
MARKS = "<!-- on paper: start -->\n", "<!-- on paper: end -->"
N_ROWS, PART_ROWS, CORES, NETWORK = 1e11, 1_000_000, 1_000, 1e9  # bytes per second
TABLES = {"8 features": 8, "30 features": 30}
EARLIER = 10_000  # partitions in the sum that one is added to: most come later and bring fewer rows


@dataclass
class Part:
    """What the two passes over one partition cost."""

    first_bytes: int
    effect_bytes: int
    first_add: float
    effect_add: float
    first_seconds: float
    effect_seconds: float


def measured(n_features):
    """Explain one partition, and weigh what its two passes send back."""
    rows = np.random.default_rng(0).normal(size=(PART_ROWS, n_features)).astype(np.float32)
    pieces, seconds = {}, {}
    fold = passes.Passes.fold

    def watched(self, task, name):
        start = process_time()
        pieces[name] = (task, fold(self, task, name))
        seconds[name] = process_time() - start
        return pieces[name][1]

    passes.Passes.fold = watched
    try:
        rhale.explain(smooth, rows, gradient=slopes)
    finally:
        passes.Passes.fold = fold
    chunk = ArrayTable(rows).chunk(0, PART_ROWS)
    (look, survey), task = pieces[passes.FIRST_LOOK], pieces[passes.SECOND_LOOK][0]
    last_key = np.uint64(MAX_RESULT_SAMPLE_ROWS / N_ROWS * int(MAX_ROW_HASH))  # of all partitions
    effects = replace(task, last_key=last_key, search_key=last_key)(chunk)
    sent = look.trim(survey, EARLIER)
    return Part(
        n_bytes(sent),
        n_bytes(effects),
        adding(sum_of_many(survey), sent),
        adding(effects, effects),
        seconds[passes.FIRST_LOOK],
        seconds[passes.SECOND_LOOK],
    )


def sum_of_many(survey):
    """The survey of many such partitions: the keys of its rows are so many times smaller."""
    sample, probe = (
        replace(rows, key=rows.key // np.uint64(EARLIER)) for rows in (survey.sample, survey.probe)
    )
    return replace(survey, sample=sample, probe=probe)


def smooth(rows):
    return np.sin(rows).sum(axis=1)


def slopes(rows):
    return np.cos(rows)


def n_bytes(piece):
    return len(pickle.dumps(piece))


def adding(total, piece, times=5):
    start = process_time()
    for _ in range(times):
        total + piece
    return (process_time() - start) / times


def lines(parts):
    """The table: one column for each width."""
    n_parts = N_ROWS / PART_ROWS
    yield "| | " + " | ".join(parts) + " |"
    yield "| --- |" + " --- |" * len(parts)

    def line(title, number):
        return f"| {title} | " + " | ".join(number(p) for p in parts.values()) + " |"

    yield line("first pass, summary of a partition", lambda p: size(p.first_bytes))
    yield line("second pass, summary of a partition", lambda p: size(p.effect_bytes))
    yield line(
        "adding one of each to the sum",
        lambda p: f"{1e3 * p.first_add:.1f} ms, {1e3 * p.effect_add:.1f} ms",
    )
    yield line(
        "work on a partition without the model, one core",
        lambda p: f"{p.first_seconds:.2f} s, {p.effect_seconds:.2f} s",
    )
    yield line(
        f"{n_parts:,.0f} partitions on {CORES:,} cores, without the model",
        lambda p: time((p.first_seconds + p.effect_seconds) * n_parts / CORES),
    )
    yield line(
        "through the driver's network (1 GB/s), first pass",
        lambda p: f"{size(p.first_bytes * n_parts)}, {time(p.first_bytes * n_parts / NETWORK)}",
    )
    yield line(
        "through the driver's network, second pass",
        lambda p: f"{size(p.effect_bytes * n_parts)}, {time(p.effect_bytes * n_parts / NETWORK)}",
    )
    yield line(
        "adding up in the driver, both passes",
        lambda p: time((p.first_add + p.effect_add) * n_parts),
    )


def size(n):
    power = min(int(np.log10(n) // 3), 3)
    return f"{n / 1e3**power:.3g} {('B', 'kB', 'MB', 'GB')[power]}"


def time(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def main():
    text = "\n".join(lines({name: measured(n) for name, n in TABLES.items()})) + "\n"
    print(text)
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        pattern = re.compile(f"{re.escape(MARKS[0])}.*?{re.escape(MARKS[1])}", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: MARKS[0] + text + MARKS[1], page), encoding="utf-8")


if __name__ == "__main__":
    main()
