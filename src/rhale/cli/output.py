"""What the commands write: tables, files, progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
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
from rich.table import Column, Table
from rich.text import Text

from rhale.cli.pictures import (
    DEFAULT_PICTURE_OPTIONS,
    PictureOptions,
    write_overview,
    write_pair_pictures,
    write_pictures,
    write_refit_pictures,
)
from rhale.effects import listing, store
from rhale.effects.explanation import Explanation
from rhale.interaction import table as pair_listing
from rhale.interaction.result import Interactions
from rhale.models.files.sandbox import TERMINAL_CONTROL_CHARACTERS
from rhale.output.number_format import write_number
from rhale.stability.result import Refits
from rhale.system.files import whole, write_text

MAX_MESSAGE_LENGTH = 2_000  # letters of a message
PAGE_ENDINGS, JSON_ENDINGS = (".html", ".htm"), (".json",)  # endings of files
TABLE_ENDINGS, PICTURE_ENDINGS = (".csv", ".parquet"), (".png", ".svg", ".pdf")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # beginnings of cells that spreadsheets run


@dataclass(frozen=True)
class Destinations:
    """Where results go; a place that cannot be written to is told before the work begins.

    Pictures are drawn as `view` says, with small steps evened out where `smooth` does; `title` is
    that of a page.
    """

    out: Path | None
    json: str | None
    plots: Path | None
    smooth: bool = False
    title: str | None = None
    view: PictureOptions = DEFAULT_PICTURE_OPTIONS

    def __post_init__(self) -> None:
        files = [self.out, Path(self.json) if self.json and self.json != "-" else None]
        for path in filter(None, files):
            is_other = path.exists() and not path.is_file()
            if is_other or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
                msg = f"{path} cannot be written: its folder is missing or closed, or it is no file"
                raise typer.BadParameter(msg)
        if self.plots is not None and self.plots.exists() and not self.plots.is_dir():
            msg = f"--plots {self.plots} is a file; name a folder"
            raise typer.BadParameter(msg)


def write_explanation(fx: Explanation, places: Destinations) -> None:
    """Show the ranking, and write what was asked for."""
    _show(fx, places, store.pack_explanation, show_ranking)
    _write_files(fx, places)
    draw_into(
        places,
        lambda folder: write_pictures(fx, folder, whole, places.view, smooth=places.smooth),
    )


def write_interactions(ix: Interactions, places: Destinations) -> None:
    """Show the ranking of pairs, and write what was asked for."""
    _show(ix, places, store.pack_interactions, show_pairs)
    _write_files(ix, places)
    draw_into(places, lambda folder: write_pair_pictures(ix, folder, whole))


def _show(
    found: Any,
    places: Destinations,
    pack: Callable[[Any], dict[str, Any]],
    show: Callable[[Any], object],
) -> None:
    """Show a result on the screen, or print it as JSON where that is asked for."""
    if places.json == "-":
        content = {store.VERSION: store.FORMAT, **pack(found)}
        sys.stdout.write(json.dumps(content, allow_nan=False) + "\n")
    else:
        show(found)


def _write_files(found: Explanation | Interactions, places: Destinations) -> None:
    """Write the numbers and the page, where they have a place."""
    if places.json and places.json != "-":
        found.save(places.json)
        note_line(f"wrote {places.json}")
    if places.out:
        found.report(places.out, title=places.title)
        note_line(f"wrote {places.out}")


def draw_into(places: Destinations, draw: Callable[[Path], int]) -> None:
    """Have pictures drawn into their folder, if there is one, and say how many they are."""
    if places.plots:
        places.plots.mkdir(parents=True, exist_ok=True)
        note_line(f"wrote {draw(places.plots)} pictures to {places.plots}")


def check_endings(paths: Sequence[Path]) -> None:
    """Refuse files that cannot be written, or whose ending does not say what they are to hold."""
    known = (*PAGE_ENDINGS, *JSON_ENDINGS, *TABLE_ENDINGS, *PICTURE_ENDINGS)
    for path in paths:
        if path.suffix.lower() not in known:
            msg = f"--out {path}: the ending says what is written; use one of {', '.join(known)}"
            raise typer.BadParameter(msg)
        Destinations(path, None, None)


def write_refits(
    rx: Refits, files: Sequence[Path], places: Destinations, title: str | None = None
) -> None:
    """Show what would come back, and write what was asked for."""
    _show(rx, places, store.pack_refits, lambda rx: sys.stdout.write(f"{rx}\n"))
    is_told = sys.stdout.isatty() and places.json != "-"  # with the table, to the same reader
    for failure in () if is_told else rx.failures:
        note_line(f"training {failure.number} failed: {failure.reason}")
    if places.json and places.json != "-":
        rx.save(Path(places.json))
        note_line(f"wrote {Path(places.json)}")
    for path in files:  # the ending says what is written
        ending = path.suffix.lower()
        if ending in PAGE_ENDINGS:
            rx.report(path, title=title)
        elif ending in JSON_ENDINGS:
            rx.save(path)
        elif ending in PICTURE_ENDINGS:
            write_overview(rx, path, whole)
        else:
            write_table(rx.replication(backend="pandas"), path)
        note_line(f"wrote {path}")
    draw_into(places, lambda folder: write_refit_pictures(rx, folder, whole))


def write_table(frame: Any, path: Path) -> None:
    """Write a data frame as CSV, whose cells no spreadsheet runs, or as Parquet."""
    with whole(path) as part:
        if path.suffix.lower() == ".csv":
            rows = without_formulas(frame.to_dict("list"))
            listing.as_frame(rows, "pandas").to_csv(part, index=False)
        else:
            frame.to_parquet(part, index=False)


def show_pairs(ix: Interactions) -> None:
    """Print the ranked pairs: plain where they are piped, laid out where they are looked at."""
    if not sys.stdout.isatty():
        sys.stdout.write(f"{ix}\n")
        return
    ranked, most = ix.ranked(), pair_listing.MAX_LISTED_PAIRS
    columns, n_left, remarks = pair_listing.pair_ranking(ranked[:most])
    title = f"pairs by {listing.title(ix.provenance)}"
    more = [f"and {len(ranked) - most:,} weaker ones"] if len(ranked) > most else []
    notes = (*pair_listing.note_evidence(ranked), *ix.notes)
    print_table(title, laid_out(columns, n_left, numbered=True), notes, remarks=remarks, more=more)


def show_ranking(fx: Explanation) -> None:
    """Print the ranked table: plain where it is piped, laid out where it is looked at."""
    if not sys.stdout.isatty():
        sentences = (*write_explained_shares(fx), *fx.notes)
        sys.stdout.write(listing.as_text(fx.effects, fx.provenance, sentences, most=None) + "\n")
        return
    columns, n_left, remarks = listing.ranking(fx.effects)
    title, notes = listing.head(fx.effects, fx.provenance), (*write_explained_shares(fx), *fx.notes)
    print_table(title, laid_out(columns, n_left, numbered=True), notes, remarks=remarks)


def print_table(
    title: str,
    table: Table,
    notes: Sequence[str],
    *,
    remarks: Sequence[str] = (),
    more: Sequence[str] = (),
) -> None:
    """Print a table on a terminal: under its title, above numbered remarks and notes."""
    console = Console()
    console.print(Text(title, style="bold"))
    console.print(table)
    for line in more:
        console.print(Text(line))
    for number, remark in enumerate(remarks, start=1):
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(style="dim", width=2)
        grid.add_column(style="dim")
        grid.add_row(Text(str(number)), Text(harmless(remark)))
        console.print(grid)
    for note in notes:
        console.print(Text(harmless(note)))


def write_explained_shares(fx: Explanation) -> tuple[str, ...]:
    """Say how much the curves explain, alone and with regions, where these were asked for."""
    if all(effect.regions is None for effect in fx.values()):
        return ()
    found = [
        share if isinstance(share, dict) else {fx.output_names[0]: share}
        for share in (fx.explained_variance, fx.explained_with_regions)
    ]
    shares = [(found[0][o], found[1][o]) for o in fx.output_names]
    some = listing.count_some(fx.provenance, fx.features)
    return listing.describe_shares(list(map(fx.captions.output, fx.outputs)), shares, some)


def laid_out(columns: Mapping[str, Sequence[str]], n_left: int, *, numbered: bool = False) -> Table:
    """Lay cells out; names are text, whatever signs they hold."""
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(columns):
        left = i < n_left or (numbered and i == len(columns) - 1)
        table.add_column(Text(name), justify="left" if left else "right", overflow="fold")
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*(Text(cell, style="bold" if i == 0 else "") for i, cell in enumerate(cells)))
    return table


def show_check(found: Mapping[str, Any], place: str | None) -> None:
    """Tell what a rehearsal found."""
    if place is not None:
        write_json(dict(found), place)
        return
    answers = ", ".join("/".join(write_number(v) for v in row) for row in found["predictions"])
    lines = {
        "model": found["model"],
        "table": f"{found['rows']:,} rows, {found['columns']} columns",
        "outputs": ", ".join(map(listing.shorten_name, found["outputs"])),
        "answers": f"{answers}, ...",
        "path": path_in_words(found),
        "asked": f"about {found['rows_asked']:,} rows",
        "time": f"about {time_in_words(found['seconds'])}",
        "regions": price_of_regions(found),
        "notes": "; ".join(found["notes"]),
    }
    shown = {name: harmless(text) for name, text in lines.items() if text}
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{name:<9}{text}\n" for name, text in shown.items())
        return
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim")
    grid.add_column()
    for name, text in shown.items():
        grid.add_row(Text(name), Text(text))
    Console().print(grid)


def path_in_words(found: Mapping[str, Any]) -> str:
    """Say how effects would be found, and for how many features each way."""
    counted: dict[str, int] = {}
    for way, n_features in found["ways"].items():
        name = way.partition(":")[0]
        counted[name] = counted.get(name, 0) + n_features
    parts = [f"{name} for {n} feature{'s' if n > 1 else ''}" for name, n in counted.items()]
    return f"{found['path']}: {', '.join(parts)}" if parts else found["path"]


def price_of_regions(found: Mapping[str, Any]) -> str:
    """Say what a search for regions costs at most; nothing where none was asked for.

    Examples
    --------
    >>> price_of_regions({"rows_for_regions": 12000, "seconds_for_regions": 40.0})
    'at most 12,000 rows and 40 seconds more'
    """
    if not found["rows_for_regions"]:
        return ""
    longest = time_in_words(found["seconds_for_regions"])
    return f"at most {found['rows_for_regions']:,} rows and {longest} more"


def time_in_words(seconds: float) -> str:
    """Write a duration roughly."""
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def without_formulas(rows: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Mark texts that a spreadsheet would run as formulas as what they are, with an apostrophe.

    Signs that steer a terminal are left out: such files are looked at there, too.
    """

    def plain(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        text = TERMINAL_CONTROL_CHARACTERS.sub("", value)
        return f"'{text}" if text.startswith(FORMULAS) else text

    return {name: list(map(plain, values)) for name, values in rows.items()}


def write_json(content: dict[str, Any], place: str) -> None:
    """Write plain values to a file, or to standard output."""
    text = json.dumps(_without_nan(content), indent=2) + "\n"
    if place == "-":
        sys.stdout.write(text)
        return
    write_text(place, text)
    note_line(f"wrote {place}")


def _without_nan(value: Any) -> Any:
    """JSON has no nan and no infinity: null stands for both."""
    if isinstance(value, dict):
        return {name: _without_nan(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(v) for v in value]
    is_number = isinstance(value, float) and value - value == 0
    return None if isinstance(value, float) and not is_number else value


def harmless(text: str) -> str:
    r"""A text without signs that steer a terminal: names of columns are in messages too."""
    return listing.shorten_name(text, MAX_MESSAGE_LENGTH)


def note_line(text: str) -> None:
    """Tell something beside the result, on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(Text(harmless(text), style="dim"))


def error_line(text: str) -> None:
    """Tell an error in one paragraph, on standard error."""
    line = Text.assemble(("error: ", "bold red"), harmless(text))
    Console(stderr=True, soft_wrap=not sys.stderr.isatty(), highlight=False).print(line)


# --- How far the work is, for those who watch a terminal


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
    """Write a large number in few letters."""
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
