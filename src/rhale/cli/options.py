"""The options that several commands share, with their help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rhale.cli.parent import Request, Task
from rhale.cli.values import (
    DRAWN,
    KNOWN_BINS_TEXT,
    names_as_typed,
    pairs_as_typed,
    parse_byte_size,
    read_scheme,
    regions_as_typed,
    require_named,
    trainings_as_typed,
)
from rhale.errors import BadSettingError
from rhale.interaction.settings import PairSettings
from rhale.regions.settings import MAX_REGION_DEPTH
from rhale.settings import Settings
from rhale.system.processes import usual_memory

EXPLAINED_PANEL, WRITTEN_PANEL, GUARDED_PANEL = (
    "Explanation",
    "Output",
    "Permissions and limits",
)
TRAINED_PANEL = "Training"
MODEL_HELP = (
    "ONNX (.onnx), XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm), skops (.skops), or "
    "module:object for code on the path."
)
DATA_HELP = "Parquet, CSV, Arrow or Feather; files, folders, quoted patterns are one table."
LEARNER_HELP = (
    "module:name, on the path or in this folder: an estimator with fit, a function without arguments "
    "that returns one, or a function (rows, target) that returns a fitted model."
)
FILES_HELP = (
    "Kind by its ending: page (.html), numbers (.json), table of stability (.csv, .parquet), "
    "picture of stability (.png, .svg, .pdf). Repeatable."
)
RESPONSES = "auto, predict, predict_proba, decision_function, margin or log_odds"
NOT_EXPLAINED = ("scheme", *DRAWN, "groups", "pairs")  # what only `refit` knows
Model = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP, show_default=False)]
Data = Annotated[list[str], typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column to leave out of the table.", rich_help_panel=EXPLAINED_PANEL
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Features to explain; all by default.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Method = Annotated[
    Literal["rhale", "dale", "ale", "pdp", "ice", "mplot"],
    typer.Option(
        metavar="NAME", help="rhale, dale, ale, pdp, ice or mplot.", rich_help_panel=EXPLAINED_PANEL
    ),
]
Bins = Annotated[
    str | None,
    typer.Option(metavar="BINS", help=f"{KNOWN_BINS_TEXT}.", rich_help_panel=EXPLAINED_PANEL),
]
Output = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL", help="Output to explain; or its position.", rich_help_panel=EXPLAINED_PANEL
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of weights: how much each row counts.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        min=2, metavar="N", help="Use N rows, drawn with --seed.", rich_help_panel=EXPLAINED_PANEL
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Seed of the random draw of rows.", rich_help_panel=EXPLAINED_PANEL
    ),
]
Response = Annotated[
    Literal["auto", "predict", "predict_proba", "decision_function", "margin", "log_odds"],
    typer.Option(
        metavar="NAME",
        help=f"What the model predicts: {RESPONSES}.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Regions = Annotated[
    bool,
    typer.Option(
        "--regions",
        help="Search for regions: rules on other features, checked on held-out rows.",
        rich_help_panel=EXPLAINED_PANEL,
        show_default=False,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MAX_REGION_DEPTH,
        metavar="N",
        help="Maximum number of rules of a region.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Splitters = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Features that regions may split by; all by default.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
GroupedBy = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Effects in the groups of a column, without a search.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Cuts = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="With --by: where to divide a column of numbers.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Pairs = Annotated[
    str | None,
    typer.Option(
        metavar="A:B,...",
        help="Pairs to measure, or all, which takes long for black-box models.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of pairs to measure, chosen by the effects of their features.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
PairsBy = Annotated[
    Literal["ale", "h", "greenwell", "pdp"],
    typer.Option(
        "--method",
        metavar="NAME",
        help="ale; for comparison h, greenwell or pdp.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Cells = Annotated[
    str | None,
    typer.Option(
        metavar="CELLS",
        help="Cells along each feature: 20, quantile:20 or fixed:20.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Even = Annotated[
    bool,
    typer.Option(
        "--smooth",
        help="Smooth the slopes of neighbouring cells; p-values are then too small.",
        rich_help_panel=EXPLAINED_PANEL,
        show_default=False,
    ),
]
Estimator = Annotated[str, typer.Argument(metavar="LEARNER", help=LEARNER_HELP, show_default=False)]
Learned = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="Column to predict.",
        rich_help_panel=TRAINED_PANEL,
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Columns to learn from; all others by default.",
        rich_help_panel=TRAINED_PANEL,
    ),
]
Taken = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B,...",
        help="Columns that the model takes, in its order; those it was trained on by default.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of groups (customers, patients): the rows of a group stay together.",
        rich_help_panel=TRAINED_PANEL,
    ),
]
SchemeName = Annotated[
    Literal["half-samples", "subsamples", "folds", "bootstraps"],
    typer.Option(
        "--scheme",
        metavar="NAME",
        help="Rows of each retraining: half-samples, subsamples, folds or bootstraps.",
        rich_help_panel=TRAINED_PANEL,
    ),
]
NRefits = Annotated[
    int,
    typer.Option(min=2, metavar="N", help="Number of retrainings.", rich_help_panel=TRAINED_PANEL),
]
Share = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share of the rows in a subsample; 2/3 by default.",
        rich_help_panel=TRAINED_PANEL,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        min=2, metavar="N", help="Folds of one round; 5 by default.", rich_help_panel=TRAINED_PANEL
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Retrainings at a time; -1 for one per core.",
        rich_help_panel=TRAINED_PANEL,
    ),
]
TrainedSeed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Seed of the random draw of rows.",
        rich_help_panel=TRAINED_PANEL,
    ),
]
RefitPairs = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        metavar="A:B,...",
        help="Pairs whose interaction is measured in every retraining; or all.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
RefitRows = Annotated[
    int | None,
    typer.Option(
        "--rows",
        min=2,
        metavar="N",
        help="Explain on N rows, drawn with --seed; retrainings draw from all rows.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
RefitWeights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="COLUMN",
        help="Column of weights of the rows in the effects; the learner does not use it.",
        rich_help_panel=EXPLAINED_PANEL,
    ),
]
Names = Annotated[
    list[str],
    typer.Option(
        "--name",
        metavar="COLUMN=TEXT",
        help="Label of a column in results. Repeatable.",
        rich_help_panel=WRITTEN_PANEL,
        show_default=False,
    ),
]
OutputName = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Label of the prediction; --target by default.",
        rich_help_panel=WRITTEN_PANEL,
    ),
]
Units = Annotated[
    list[str],
    typer.Option(
        "--unit",
        metavar="NAME=UNIT",
        help="Unit of a column or of the prediction. Repeatable.",
        rich_help_panel=WRITTEN_PANEL,
        show_default=False,
    ),
]
CalledNames = Annotated[
    str | None,
    typer.Option(
        "--names",
        help="Names of the explanations, separated by commas; those of the files by default.",
    ),
]
Zero = Annotated[
    str | None,
    typer.Option(
        "--zero",
        help="Explanation over whose rows curves are centred at zero; the first by default.",
    ),
]
Outs = Annotated[
    list[Path],
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help=FILES_HELP,
        rich_help_panel=WRITTEN_PANEL,
        show_default=False,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Heading of the page.", rich_help_panel=WRITTEN_PANEL),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Folder for finished work; the same command, run again, continues from there.",
        rich_help_panel=WRITTEN_PANEL,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="PAGE", help="Report, one HTML page.", rich_help_panel=WRITTEN_PANEL
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json", metavar="FILE", help="Numbers; - for the screen.", rich_help_panel=WRITTEN_PANEL
    ),
]
Plots = Annotated[
    Path | None,
    typer.Option(
        "--plots", metavar="DIR", help="Folder for pictures.", rich_help_panel=WRITTEN_PANEL
    ),
]
Smooth = Annotated[
    bool,
    typer.Option(
        "--smooth",
        help="Smooth the small steps of tree models in pictures.",
        rich_help_panel=WRITTEN_PANEL,
        show_default=False,
    ),
]
Limits = Annotated[
    str | None,
    typer.Option(
        metavar="A%..B%",
        help="Part of the axes in pictures, between quantiles of the rows: 1%..99%.",
        rich_help_panel=WRITTEN_PANEL,
    ),
]
Scales = Annotated[
    list[str],
    typer.Option(
        "--scale",
        metavar="COLUMN=log",
        help="log or linear axis of a feature in pictures. Repeatable.",
        rich_help_panel=WRITTEN_PANEL,
        show_default=False,
    ),
]
Trust = Annotated[
    list[str],
    typer.Option(
        metavar="NAME",
        help="Type that a skops file may make. Repeatable.",
        rich_help_panel=GUARDED_PANEL,
        show_default=False,
    ),
]
AllowPickle = Annotated[
    str | None,
    typer.Option(
        metavar="sha256:...",
        help="Read a pickle with exactly this hash. It can run any code.",
        rich_help_panel=GUARDED_PANEL,
    ),
]
MaxMemory = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="Memory for the model's process, such as 8G; 3/4 of the machine's by default.",
        rich_help_panel=GUARDED_PANEL,
        show_default=False,
    ),
]
MaxSeconds = Annotated[
    float,
    typer.Option(
        min=0.1, metavar="S", help="Seconds for the model's process.", rich_help_panel=GUARDED_PANEL
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show tracebacks, and what models print.", show_default=False),
]


def request(task: Task, given: Mapping[str, Any]) -> Request:
    """Check what the command line writes as text; wrong usage ends with exit code 2."""
    memory = parse_byte_size(given["max_memory"]) if given["max_memory"] else usual_memory()
    if not memory:
        msg = f"--max-memory {given['max_memory']} is not a size; write 512M, 8G or 1.5GiB"
        raise typer.BadParameter(msg)
    allowed = given["allow_pickle"]
    if allowed is not None and not allowed.startswith("sha256:"):
        msg = "--allow-pickle takes sha256: and the hash of the one file that may be read"
        raise typer.BadParameter(msg)
    try:
        if task == "refit":
            require_named(given["model"])
        found = Request(
            task,
            model=given["model"],
            data=tuple(given["data"]),
            target=given["target"],
            asked=_asked(task, given),
            trust=tuple(given["trust"]),
            allow_pickle=given["allow_pickle"],
            max_memory=memory,
            max_seconds=given["max_seconds"],
        )
        _check(found)
        return found
    except BadSettingError as error:
        raise typer.BadParameter(str(error)) from error


def _check(request: Request) -> None:
    """Refuse settings that make no sense, before a process is started for them."""
    asked = request.arguments
    if request.task == "refit":
        read_scheme(asked)
        asked = {name: value for name, value in asked.items() if name not in NOT_EXPLAINED}
    if request.task != "interactions":
        Settings(**asked)
        return
    names = {field.name for field in fields(PairSettings)}
    pairing = PairSettings(**{name: asked[name] for name in asked if name in names})
    Settings(**{n: v for n, v in asked.items() if n not in names}, pairing=pairing)


def _asked(task: Task, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the call that does the task."""
    if task == "interactions":
        shared = {name: value for name, value in given.items() if name != "method"}
        return {**_arguments(shared), **pairs_as_typed(given)}
    own = trainings_as_typed(given) if task == "refit" else {}
    return {**_arguments(given), **own}


def _arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `explain` that were given; whole numbers name outputs by position, too."""
    asked = {f.name: given[f.name] for f in fields(Settings) if given.get(f.name) is not None}
    asked.pop("regions", None)
    if (regions := regions_as_typed(given)) is not None:
        asked["regions"] = regions
    asked |= names_as_typed(given)
    if given["rows"] is not None:
        asked["n_rows"] = given["rows"]
    for name in ("features", "columns"):
        if given.get(name):
            asked[name] = [one.strip() for one in given[name].split(",")]
    if str(given["output"]).isdigit():
        asked["output"] = int(given["output"])
    return asked
