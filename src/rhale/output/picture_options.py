"""Options of pictures: their types, their defaults and their help, each written once.

A method that draws takes `**options: Unpack[EffectOptions]`, so that type checkers and editors know
every name; `with_options` shows them in its signature and in its help.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict, TypeVar, get_type_hints

from rhale.effects.curve import Center

Method = TypeVar("Method", bound=Callable[..., Any])
Limits = str | Sequence[Any] | Mapping[str, Any] | None
Scale = Literal["auto", "linear", "log"]
Sort = Literal["effect", "order"]
Kind = Literal["both", "curve", "bins"]
Colors = str | Sequence[str] | Mapping[str, Any]  # the effect, several curves, or by role


class FrameOptions(TypedDict, total=False):
    """Options of every picture.

    colors : str, sequence or mapping, optional
        Colour of the effect ("black"), of several curves (a list), or by role ({"spread": "grey"}):
        effect, spread, interval, rows, between, truth, single, common, notes, zero, halo, curves,
        thirds.
    figsize : pair of float, optional
        Width and height of a new figure in inches.
    legend : bool, optional
        Whether there is a legend; as the style says if not given.
    title : str, optional
        Written above a new figure, or above the one panel that was given.
    """

    colors: Annotated[Colors | None, None]
    figsize: Annotated[tuple[float, float] | None, None]
    legend: Annotated[bool | None, None]
    title: Annotated[str | None, None]


class AxisOptions(FrameOptions, total=False):
    """Options of pictures of curves.

    center : {"mean", "start", "uniform"}
        Where curves are zero: on average over the rows, at the first value, on average over x.
        A profile may have None, too, which keeps the level of the predictions.
    level : float
        Of the intervals.
    limits : str, pair or mapping, optional
        The part of the axis that is shown: "1%..99%" between these shares of the rows, (20, 65)
        between these values, of which one may be None, "all" for everything. Of several features
        also by name.
    xscale : {"auto", "linear", "log"} or mapping
        Scale of an axis of numbers; of several features also by name.
    sort : {"effect", "order"}, optional
        Order of levels: by effect, or as they were measured.
    """

    center: Annotated[Center | None, "mean"]
    level: Annotated[float, 0.95]
    limits: Annotated[Limits, None]
    xscale: Annotated[Scale | Mapping[str, Scale], "auto"]
    sort: Annotated[Sort | None, None]


class EffectOptions(AxisOptions, total=False):
    """Options of pictures of one feature and one output; `smooth` and `regions` also of several.

    kind : {"both", "curve", "bins"}, optional
        The panels: the curve, the bins that it is made of (of levels, the steps between them), or both.
    smooth : bool, optional
        Of a model that moves in steps, such as trees: False draws its own curve, flat but for its
        jumps; True evens out small steps and keeps real jumps, as in `Effect.curve`. None is False,
        but in pictures of regions, where curves of many steps are smoothed.
    spread : bool
        Draw curve ± spread, which says how rows differ.
    uncertainty : bool
        Draw the interval of the curve, which says how well the mean is known.
    violins : bool
        Draw the local effects of the sampled rows in each bin.
    rows : bool or int, optional
        Draw the curves of so many sampled rows; True is 50.
    color : str, int or bool, optional
        The feature that colours these curves; True takes the one that accounts for most of the spread.
    truth : callable, optional
        A known curve, from values to values, drawn dashed.
    turned : bool, optional
        Write levels below one another; chosen by the length of their names if not given.
    regions : bool
        Draw the curves of regions over the common one.
    derivatives : bool
        Of a profile: draw slopes instead of values (d-ICE).
    max_curves : int
        Of a profile: how many curves of single rows are drawn at most.
    """

    kind: Annotated[Kind | None, None]
    smooth: Annotated[bool | None, None]
    spread: Annotated[bool, True]
    uncertainty: Annotated[bool, True]
    violins: Annotated[bool, True]
    rows: Annotated[bool | int | None, None]
    color: Annotated[Any, None]
    truth: Annotated[Callable[[Any], Any] | None, None]
    turned: Annotated[bool | None, None]
    regions: Annotated[bool, False]
    derivatives: Annotated[bool, False]
    max_curves: Annotated[int, 200]


class ExplanationOptions(EffectOptions, total=False):
    """Options of pictures of several features or outputs.

    top : int, optional
        Draw only so many features, those with the largest importance.
    columns : int, optional
        Panels in a row.
    sharey : bool
        One y axis for all panels, so that sizes can be compared.
    """

    top: Annotated[int | None, None]
    columns: Annotated[int | None, None]
    sharey: Annotated[bool, True]


class RefitOptions(AxisOptions, total=False):
    """Options of the picture of one feature in all retrained models.

    trainings : bool
        Draw the curve of every retrained model, beside their mean.
    rows : bool
        Draw the interval of your own model, too: how well its mean is known from these rows.
    """

    trainings: Annotated[bool, True]
    rows: Annotated[bool, False]


class RefitsOptions(RefitOptions, total=False):
    """Options of the picture of all features.

    most : int
        How many features are ranked at most.
    """

    most: Annotated[int, 30]


class PairOptions(FrameOptions, total=False):
    """Options of pictures of one pair.

    by : str or int, optional
        Of lines: the feature that is held; the one with fewer cells or levels if not given.
    uncertainty : bool
        Of lines: draw the interval of the joint effect.
    contours : bool
        Of a map: draw lines of equal height.
    rows : bool
        Of a map: draw at its edges where the rows are.
    limit : float, optional
        Of a map: the largest height that colours tell apart, for several maps with one scale.
    """

    by: Annotated[str | int | None, None]
    uncertainty: Annotated[bool, True]
    contours: Annotated[bool, True]
    rows: Annotated[bool, True]
    limit: Annotated[float | None, None]


class InteractionsOptions(PairOptions, total=False):
    """Options of the picture of all pairs.

    top : int
        How many pairs are ranked.
    """

    top: Annotated[int, 10]


class ComparisonOptions(FrameOptions, total=False):
    """Options of pictures of comparisons.

    smooth : bool
        Even out small steps of models that move in steps, as in `Effect.curve`.
    top : int
        Of all features: how many are drawn.
    sharey : bool
        Of all features: one y axis for all panels.
    """

    smooth: Annotated[bool, False]
    top: Annotated[int, 12]
    sharey: Annotated[bool, True]


OPTION_GROUPS = (
    *(FrameOptions, AxisOptions, EffectOptions, ExplanationOptions, RefitOptions, RefitsOptions),
    *(PairOptions, InteractionsOptions, ComparisonOptions),
)


def with_options(options: Any) -> Callable[[Method], Method]:
    """Show options, one of `OPTION_GROUPS`, in the signature and the help of a method, for its `**options`."""
    hints = get_type_hints(options, include_extras=True)
    # A typed dictionary forgets its bases: those are the groups whose options it has. Its own
    # options come first, and what every picture has comes last.
    bases = [
        one
        for one in OPTION_GROUPS
        if get_type_hints(one, include_extras=True).items() <= hints.items()
    ]
    texts: dict[str, str] = {}
    for base in reversed(bases):
        described = inspect.cleandoc((base.__doc__ or "").partition("\n")[2])
        parts = re.split(r"^(?=\w+ : )", described, flags=re.MULTILINE)
        texts = texts | {part.partition(" ")[0]: part.rstrip() for part in parts if part}
    names = [name for name in texts if name in hints] or list(hints)

    def show(method: Method) -> Method:
        shown: Any = method
        found = inspect.signature(method)
        kept = [one for one in found.parameters.values() if one.kind is not one.VAR_KEYWORD]
        for name in names:
            kind, default = hints[name].__origin__, hints[name].__metadata__[0]
            kept.append(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
                )
            )
        shown.__signature__ = found.replace(parameters=kept)
        if method.__doc__ is not None:  # it is under python -OO
            listed = textwrap.indent("\n".join(texts[name] for name in names), "        ")
            shown.__doc__ = method.__doc__.replace("        **options", listed)
        return method

    return show
