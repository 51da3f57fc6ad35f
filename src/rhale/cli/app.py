"""The commands and their options; each parses, calls and writes."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from rhale.cli import options
from rhale.cli.compare import read_files, write_all
from rhale.cli.output import (
    Destinations,
    check_endings,
    error_line,
    note_line,
    show_check,
    show_progress,
    write_explanation,
    write_interactions,
    write_refits,
)
from rhale.cli.parent import Request, ask_child
from rhale.cli.pictures import read_typed_view
from rhale.effects.explanation import restore_explanation
from rhale.errors import BadFileError, MissingExtraError, RhaleError
from rhale.interaction.result import Interactions
from rhale.models.files.sandbox import TERMINAL_CONTROL_CHARACTERS
from rhale.output.text import Note
from rhale.stability.result import Refits
from rhale.stability.result import load as load_any
from rhale.stability.result import restore_result as unpacked_any
from rhale.system.processes import can_limit

app = typer.Typer(
    name="rhale",
    help="Effects of features on the predictions of a model, and how much they differ between rows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Found = TypeVar("Found", Interactions, Refits)
STATE = {"debug": False}
ANSWER = "the output of the model's process"
ENDED = 130  # the exit code after Ctrl-C
INTERRUPTED_NOTE_KIND = "interrupted"  # kind of the note of refits that are not complete
NO_LIMITS = "this system cannot limit memory: a model may take all of it (time is limited)"


@app.callback(invoke_without_command=True)
def _start(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks, and what models print.")
    ] = False,
) -> None:
    STATE["debug"] = debug
    if version:
        from rhale.pipeline import own_version

        typer.echo(own_version())
        raise typer.Exit


@app.command()
def explain(
    model: options.Model,
    data: options.Data,
    *,
    target: options.Target = None,
    columns: options.Taken = None,
    features: options.Features = None,
    method: options.Method = "rhale",
    bins: options.Bins = None,
    output: options.Output = None,
    weights: options.Weights = None,
    rows: options.Rows = None,
    seed: options.Seed = 0,
    response: options.Response = "auto",
    regions: options.Regions = False,
    depth: options.Depth = None,
    splitters: options.Splitters = None,
    by: options.GroupedBy = None,
    cuts: options.Cuts = None,
    out: options.Out = None,
    title: options.Title = None,
    json: options.Json = None,
    plots: options.Plots = None,
    smooth: options.Smooth = False,
    limits: options.Limits = None,
    scale: options.Scales = [],  # noqa: B006 - never changed
    name: options.Names = [],  # noqa: B006 - never changed
    output_name: options.OutputName = None,
    unit: options.Units = [],  # noqa: B006 - never changed
    checkpoint: options.Checkpoint = None,
    trust: options.Trust = [],  # noqa: B006 - never changed
    allow_pickle: options.AllowPickle = None,
    max_memory: options.MaxMemory = "",
    max_seconds: options.MaxSeconds = 3600.0,
    debug: options.Debug = False,
) -> None:
    """Explain a model on a table: a ranking on the screen, a report, numbers, plots."""
    request = options.request("explain", {**locals(), "limits": None})  # of pictures
    STATE["debug"] |= debug
    view = read_typed_view(limits, scale)
    places = Destinations(out, json, plots, smooth=smooth, title=title, view=view)
    fx = restore_explanation(_run_in_child(request), ANSWER)
    write_explanation(fx, places)


@app.command()
def interactions(
    model: options.Model,
    data: options.Data,
    *,
    target: options.Target = None,
    columns: options.Taken = None,
    features: options.Features = None,
    pairs: options.Pairs = None,
    top: options.Top = None,
    method: options.PairsBy = "ale",
    cells: options.Cells = None,
    smooth: options.Even = False,
    output: options.Output = None,
    weights: options.Weights = None,
    rows: options.Rows = None,
    seed: options.Seed = 0,
    response: options.Response = "auto",
    out: options.Out = None,
    title: options.Title = None,
    json: options.Json = None,
    plots: options.Plots = None,
    name: options.Names = [],  # noqa: B006 - never changed
    output_name: options.OutputName = None,
    unit: options.Units = [],  # noqa: B006 - never changed
    checkpoint: options.Checkpoint = None,
    trust: options.Trust = [],  # noqa: B006 - never changed
    allow_pickle: options.AllowPickle = None,
    max_memory: options.MaxMemory = "",
    max_seconds: options.MaxSeconds = 3600.0,
    debug: options.Debug = False,
) -> None:
    """Measure which pairs of features interact, and how strongly: a ranking, a report, numbers."""
    request = options.request("interactions", locals())
    STATE["debug"] |= debug
    places = Destinations(out, json, plots, title=title)
    write_interactions(unpack_answer(_run_in_child(request), Interactions, "interactions"), places)


@app.command()
def refit(
    estimator: options.Estimator,
    data: options.Data,
    *,
    target: options.Learned,
    columns: options.Columns = None,
    groups: options.Groups = None,
    scheme: options.SchemeName = "half-samples",
    n_refits: options.NRefits = 20,
    share: options.Share = None,
    folds: options.Folds = None,
    seed: options.TrainedSeed = 0,
    jobs: options.Jobs = None,
    features: options.Features = None,
    method: options.Method = "rhale",
    bins: options.Bins = None,
    output: options.Output = None,
    weights: options.RefitWeights = None,
    rows: options.RefitRows = None,
    response: options.Response = "auto",
    pairs: options.RefitPairs = None,
    regions: options.Regions = False,
    depth: options.Depth = None,
    splitters: options.Splitters = None,
    by: options.GroupedBy = None,
    cuts: options.Cuts = None,
    out: options.Outs = [],  # noqa: B006 - never changed
    title: options.Title = None,
    json: options.Json = None,
    plots: options.Plots = None,
    name: options.Names = [],  # noqa: B006 - never changed
    output_name: options.OutputName = None,
    unit: options.Units = [],  # noqa: B006 - never changed
    checkpoint: options.Checkpoint = None,
    max_memory: options.MaxMemory = "",
    max_seconds: options.MaxSeconds = 86_400.0,
    debug: options.Debug = False,
) -> None:
    """Retrain a learner on parts of the rows, and measure which effects are stable."""
    given = {**locals(), "model": estimator, "trust": (), "allow_pickle": None}
    request = options.request("refit", given)
    STATE["debug"] |= debug
    places = Destinations(None, json, plots)
    check_endings(out)
    rx = unpack_answer(_run_in_child(request), Refits, "refits")
    write_refits(rx, out, places, title)
    if any(isinstance(note, Note) and note.kind == INTERRUPTED_NOTE_KIND for note in rx.notes):
        raise typer.Exit(ENDED)


@app.command()
def check(
    model: options.Model,
    data: options.Data,
    *,
    target: options.Target = None,
    columns: options.Taken = None,
    features: options.Features = None,
    method: options.Method = "rhale",
    bins: options.Bins = None,
    output: options.Output = None,
    weights: options.Weights = None,
    rows: options.Rows = None,
    seed: options.Seed = 0,
    response: options.Response = "auto",
    regions: options.Regions = False,
    depth: options.Depth = None,
    splitters: options.Splitters = None,
    by: options.GroupedBy = None,
    cuts: options.Cuts = None,
    json: options.Json = None,
    trust: options.Trust = [],  # noqa: B006 - never changed
    allow_pickle: options.AllowPickle = None,
    max_memory: options.MaxMemory = "",
    max_seconds: options.MaxSeconds = 600.0,
    debug: options.Debug = False,
) -> None:
    """Load a model and a table, predict a few rows, and estimate the time of `explain`."""
    request = options.request("check", locals())
    STATE["debug"] |= debug
    places = Destinations(None, json, None)
    show_check(_run_in_child(request), places.json)


@app.command()
def report(
    numbers: Annotated[
        Path, typer.Argument(help="A file that --json of explain, interactions or refit wrote.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page; beside the file by default.")
    ] = None,
    title: options.Title = None,
) -> None:
    """Make a report, one page that opens anywhere, from saved numbers."""
    page = out or numbers.with_suffix(".html")
    Destinations(page, None, None)
    load_any(numbers).report(page, title=title)
    note_line(f"wrote {page}")


@app.command("compare")
def compare_files(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="A.JSON B.JSON...",
            help="Files that `explain --json` wrote; all others are compared with the first.",
        ),
    ],
    *,
    names: options.CalledNames = None,
    zero: options.Zero = None,
    out: options.Outs = [],  # noqa: B006 - never changed
    title: options.Title = None,
    json: options.Json = None,
    plots: options.Plots = None,
    smooth: options.Smooth = False,
) -> None:
    """Compare explanations of models, periods or groups: differences between the curves, data drift."""
    check_endings(out)
    places = Destinations(None, json, plots, smooth=smooth)
    write_all(read_files(files, names, zero), out, places, title)


@app.command()
def demo(
    *,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path("demo"),
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page, where there is a display.")
    ] = True,
) -> None:
    """Train a small model and explain it; tables on screen, pictures and a page in a folder."""
    if find_spec("sklearn") is None:
        msg = "the demo trains a model of its own and needs pip install scikit-learn"
        raise MissingExtraError(msg)
    from rhale.cli.tour import take_the_tour

    take_the_tour(folder, open_page=open_page)


def unpack_answer(answer: dict[str, Any], kind: type[Found], what: str) -> Found:
    """Read an answer, which may be hostile, and be about something else."""
    found = unpacked_any(answer, ANSWER)
    if not isinstance(found, kind):
        msg = f"{ANSWER} holds no {what}, which were requested"
        raise BadFileError(msg)
    return found


def _run_in_child(request: Request) -> dict[str, Any]:
    """Have the work done by a child, with progress where someone watches."""
    if not can_limit():
        note_line(NO_LIMITS)
    with show_progress() as hear:
        return ask_child(request, hear, debug=STATE["debug"])


def describe_cli_error(error: Exception) -> str:
    """One sentence about an error; files that are not there have theirs in parts.

    Examples
    --------
    >>> describe_cli_error(FileNotFoundError(2, "No such file or directory", "a.json"))
    'a.json: no such file or directory'
    """
    if isinstance(error, OSError) and not isinstance(error, RhaleError) and error.filename:
        return f"{error.filename}: {str(error.strerror).lower()}"
    return str(error) or type(error).__name__


@contextmanager
def _telling_warnings() -> Iterator[None]:
    """Tell what is warned of in one line each; letters that a picture lacks are seen there."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                note_line(text)


def run(arguments: list[str] | None = None) -> None:
    """Run a command; an error is one sentence and exit code 1."""
    code = 1
    try:
        with _telling_warnings():
            app(arguments)
        return
    except (RhaleError, OSError) as error:
        error_line(describe_cli_error(error))
        if STATE["debug"]:
            sys.stderr.write(
                TERMINAL_CONTROL_CHARACTERS.sub("", "".join(traceback.format_exception(error)))
            )
    except KeyboardInterrupt:
        code = ENDED
    sys.exit(code)
