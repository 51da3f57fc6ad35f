"""Timing in turns, counting questions, and the table of results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Line:
    """One row of the table; `met` is None where there is no target."""

    work: str
    size: str
    ours: str
    other: str
    ratio: str
    target: str = ""
    met: bool | None = None


@dataclass
class Ledger:
    """What has been measured so far."""

    lines: list[Line] = field(default_factory=list)

    def add(self, work, size, ours, other, ratio, target="", *, met=None):
        self.lines.append(Line(work, size, ours, other, ratio, target, met))


@dataclass(frozen=True)
class Race:
    """Best times of two programs that took turns, and what they answered."""

    ours: float
    other: float
    our_answer: Any
    other_answer: Any

    @property
    def speedup(self) -> float:
        return self.other / self.ours

    @property
    def cost(self) -> float:
        return self.ours / self.other


def race(benchmark, ours: Callable[[], Any], other: Callable[[], Any], rounds: int) -> Race:
    """Time two programs in turns, so that a busy machine is busy for both; keep the minima."""
    times, answers = [], []

    def let_the_other_run():
        start = perf_counter()
        answers[:] = [other()]
        times.append(perf_counter() - start)

    answer = benchmark.pedantic(ours, setup=let_the_other_run, rounds=rounds, iterations=1)
    return Race(benchmark.stats.stats.min, min(times), answer, answers[0])


def race_of_processor(ours: Callable[[], Any], other: Callable[[], Any], rounds: int) -> Race:
    """Time two programs in turns by the processor's clock: of one thread, on a busy machine."""
    times, answers = ([], []), [None, None]
    with threadpool_limits(1):  # threads that wait for work count on that clock, too
        for _ in range(rounds):
            for place, work in enumerate((other, ours)):
                start = process_time()
                answers[place] = work()
                times[place].append(process_time() - start)
    return Race(min(times[1]), min(times[0]), answers[1], answers[0])


def best_time(work: Callable[[], Any], rounds: int) -> float:
    """Smallest time of several runs."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


class Counted:
    """A model that counts the rows and calls it is asked for."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.n_rows, self.n_calls = function, 0, 0

    def __call__(self, rows):
        self.n_rows += len(rows)
        self.n_calls += 1
        return self.function(np.asarray(rows))

    predict = __call__

    @property
    def asked(self) -> str:
        return f"{self.n_rows:,} rows in {self.n_calls:,} calls"


def seconds(value: float) -> str:
    """Write a time with a fitting unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return f"{value * factor:.3g} {unit}"
    raise AssertionError


def table_of(lines: list[Line]) -> str:
    """Write lines as a Markdown table."""
    head = ("work", "size", "rhale", "compared with", "ratio", "target", "met")
    said = {None: "", True: "yes", False: "**no**"}
    rows = [(x.work, x.size, x.ours, x.other, x.ratio, x.target, said[x.met]) for x in lines]
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    rule = tuple("-" * w for w in widths)
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in [head, rule, *rows]
    )
