"""`rhale compare`: saved explanations read, compared and shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from rhale.cli.output import (
    JSON_ENDINGS,
    PAGE_ENDINGS,
    PICTURE_ENDINGS,
    Destinations,
    draw_into,
    note_line,
    show_listing,
    write_json,
    write_table,
)
from rhale.cli.pictures import write_comparison, write_comparisons
from rhale.comparison.result import Comparison, compare
from rhale.comparison.table import comparison_rows
from rhale.effects.explanation import load_explanation
from rhale.system.files import whole

MIN_COMPARED_FILES = 2


def read_files(files: Sequence[Path], names: str | None, zero: str | None) -> Comparison:
    """Read explanations, and compare all others with the first.

    They are called by `names`, which has commas between them, or by their files.
    """
    if len(files) < MIN_COMPARED_FILES:
        msg = f"compare takes at least {MIN_COMPARED_FILES} files, and was given {len(files)}"
        raise typer.BadParameter(msg)
    called = name_files(files) if names is None else [name.strip() for name in names.split(",")]
    return compare(*(load_explanation(path) for path in files), names=called, zero=zero)


def name_files(files: Sequence[Path]) -> list[str]:
    """Name explanations after their files; number those that would have the same name."""
    stems = [path.stem for path in files]
    return [
        f"{stem} ({stems[: i + 1].count(stem)})" if stems.count(stem) > 1 else stem
        for i, stem in enumerate(stems)
    ]


def write_all(
    cx: Comparison, files: Sequence[Path], places: Destinations, title: str | None = None
) -> None:
    """Show the comparison, and write what was asked for."""
    if places.json == "-":
        write_comparison_json(cx, "-")
    else:
        show_listing(cx._listing())  # noqa: SLF001 - what print and notebooks show
    if places.json and places.json != "-":
        write_comparison_json(cx, places.json)
    for path in files:  # the ending says what is written
        ending = path.suffix.lower()
        if ending in JSON_ENDINGS:
            write_comparison_json(cx, str(path))
            continue
        if ending in PAGE_ENDINGS:
            cx.report(path, title=title)
        elif ending in PICTURE_ENDINGS:
            write_comparison(cx, path, whole, smooth=places.smooth)
        else:
            write_table(cx.summary(backend="pandas"), path)
        note_line(f"wrote {path}")
    draw_into(places, lambda folder: write_comparisons(cx, folder, whole, smooth=places.smooth))


def write_comparison_json(cx: Comparison, place: str) -> None:
    """Write the table as JSON: columns by name."""
    write_json({"names": list(cx.names), **comparison_rows(cx.ranked())}, place)
