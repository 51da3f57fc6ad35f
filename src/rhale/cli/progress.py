"""How far the work is, for those who watch a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from rhale.cli.output import harmless, note_line

COUNT_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class RateColumn(ProgressColumn):
    """Rows, or trainings, done, and those in a second."""

    def render(self, task: Task) -> Text:
        """Nothing before the number of rows is known."""
        if task.total is None:
            return Text("")
        speed = task.finished_speed or task.speed
        rate = f", {write_short_count(speed)}/s" if speed else ""
        unit = task.fields["unit"]
        return Text(
            f"{write_short_count(task.completed)} of {write_short_count(task.total)} {unit}{rate}"
        )


class LeftColumn(TimeRemainingColumn):
    """Time that remains, once there is something to tell it from."""

    def render(self, task: Task) -> Text:
        """Nothing before the number of rows is known."""
        if task.total is None:
            return Text("")
        return Text.assemble(super().render(task), " left")


def write_short_count(number: float) -> str:
    """Write a large number in few letters.

    Examples
    --------
    >>> write_short_count(950), write_short_count(12_345), write_short_count(2_500_000)
    ('950', '12.3k', '2.5M')
    """
    for size, unit in COUNT_UNITS:
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


@contextmanager
def show_progress() -> Iterator[Callable[[dict[str, Any]], None]]:
    """Give a function that hears what a child says; without a terminal only its notes are told."""
    if not sys.stderr.isatty():
        yield lambda words: note_line(f"note: {words['note']}") if "note" in words else None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        RateColumn(table_column=Column(no_wrap=True)),
        LeftColumn(compact=True, table_column=Column(no_wrap=True)),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        task = bar.add_task("starting", total=None, unit="rows")

        def hear(words: dict[str, Any]) -> None:
            if "note" in words:
                bar.console.print(Text(harmless(f"note: {words['note']}"), style="yellow"))
            if "doing" in words:
                bar.update(task, description=words["doing"])
            if "of" in words:
                unit = words.get("unit", "rows")
                bar.update(task, completed=words["done"], total=words["of"], unit=unit)

        yield hear
