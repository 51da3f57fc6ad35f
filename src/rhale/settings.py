"""What the user asked for: all arguments of a call, checked, in one frozen record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, Protocol, cast, get_args, runtime_checkable

import numpy as np

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.choose import PARTITIONS
from rhale.effects.binning.partition import Edges, Fixed, Partition, Quantile, require_count
from rhale.errors import BadSettingError, warn_caller
from rhale.interaction.settings import PairSettings
from rhale.naming import find, find_feature, list_asked, read_word
from rhale.regions.settings import By, Regions, parse_regions_option

Method = Literal["rhale", "dale", "ale", "pdp", "ice", "mplot"]
Local = Literal["auto", "gradient", "secant"]
Response = Literal["auto", "predict", "predict_proba", "decision_function", "margin", "log_odds"]
PROFILES = ("pdp", "ice", "mplot")
MARGINAL_BINS = Quantile(20)
USUAL_BINS: dict[str, Partition] = {
    "rhale": Adaptive(),
    "dale": Fixed(20),
    "ale": Quantile(20),
    "pdp": Fixed(50),
    "ice": Fixed(50),
    "mplot": MARGINAL_BINS,
}
# what makes a run the same run; features and columns are those of the table that it reads
IDENTITY = (
    *("method", "bins", "local", "limits", "window"),
    *("output", "response", "categorical", "regions", "partners", "seed", "pairing"),
)
NOT_IN_NUMBERS = ("checkpoint", "progress")
LONGEST_SOURCE = 200  # entries of a list that is written out


@runtime_checkable
class BinSource(Protocol):
    """A finished explanation, whose bins and whose order of levels another one can take over."""

    def copy_bins(self, feature: str, output: str) -> Partition | None:
        """Bins of one feature and output; None where it has levels."""

    def level_order(self, feature: str) -> tuple[str, ...]:
        """Levels of a feature in their order; none where it has none."""


@dataclass(frozen=True, eq=False)
class Settings:
    """All arguments of `rhale.explain` but model and data; see there.

    `pairing` holds those that only `rhale.interactions` has; None where effects are explained.
    """

    features: Any = None
    output: Any = None
    response: Response = "auto"
    method: Method = "rhale"
    regions: Any = None
    partners: bool = True
    transform: Any = None
    output_transform: Any = None
    limits: Any = None
    categorical: Any = None
    weights: Any = None
    columns: Sequence[str] | None = None
    feature_names: Any = None
    output_names: Any = None
    units: Any = None
    bins: Any = None
    local: Local = "auto"
    gradient: Callable[[Any], Any] | None = None
    window: float | None = None
    spread_window: float | None = None
    seed: int = 0
    n_rows: int | None = None
    batch_size: int | None = None
    n_jobs: int | None = None
    device: Any = None
    checkpoint: Any = None
    progress: Any = None
    pairing: PairSettings | None = None

    def __post_init__(self) -> None:
        for name, words in (("method", Method), ("local", Local), ("response", Response)):
            read = read_word(name, getattr(self, name), get_args(words))
            object.__setattr__(self, name, read)
        object.__setattr__(self, "bins", parse_bins_setting(self.bins))
        share: Any = self.window
        if share is not None and not (isinstance(share, int | float) and 0 < share <= 1):
            msg = f"window={share!r} is not a share of the rows; pass a number in (0, 1], say 0.05"
            raise BadSettingError(msg)
        if self.spread_window is not None:
            msg = (
                "spread_window= does nothing any more: how rows differ is measured from rows moved "
                "to values near their own, over an eighth of the rows on each side; leave it out"
            )
            warn_caller(msg, DeprecationWarning)
            object.__setattr__(self, "spread_window", None)
        if self.method == "dale" and self.local == "secant":
            msg = "method='dale' is defined by gradients; use method='ale' or 'rhale' for secants"
            raise BadSettingError(msg)
        if self.method == "ale" and self.local == "gradient":
            msg = "method='ale' is defined by secants over bins; use method='dale' for gradients"
            raise BadSettingError(msg)
        seed: Any = self.seed
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            msg = f"seed={seed!r} is not a whole number of zero or more"
            raise BadSettingError(msg)
        if self.n_rows is not None:
            require_count("n_rows", self.n_rows)
            if self.n_rows < 2:
                msg = f"n_rows={self.n_rows} leaves one row; an effect needs at least two"
                raise BadSettingError(msg)
        if self.batch_size is not None:
            require_count("batch_size", self.batch_size)
        object.__setattr__(self, "regions", parse_regions_option(self.regions))
        if self.regions is not None and self.is_profile:
            msg = (
                f"regions= compare local effects, and method={self.method!r} has none; use "
                "method='rhale', 'ale' or 'dale'"
            )
            raise BadSettingError(msg)
        if self.partners not in (True, False):
            msg = f"partners={self.partners!r:.60} is not known; use one of True, False"
            raise BadSettingError(msg)
        units: Any = self.units
        if units is not None and not isinstance(units, Mapping):
            msg = f"units={units!r:.60} is not a mapping; say whose units, as in {{'price': '$'}}"
            raise BadSettingError(msg)
        for name in ("feature_names", "output_names"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Collection):  # df.columns, too
                msg = f"{name}={given!r:.60} is not understood; pass a list of names, or a mapping"
                raise BadSettingError(msg)
        gradient: Any = self.gradient
        if gradient is not None and not callable(gradient):
            msg = f"gradient={gradient!r:.60} is not callable; pass rows -> (n_rows, n_features)"
            raise BadSettingError(msg)

    def by_name(self, names: Sequence[str]) -> Settings:
        """The same, with features of `bins`, `limits` and pairs by their names in a table."""
        pairing, features = self.pairing, self.features
        if pairing is not None and isinstance(pairing.pairs, tuple):
            # by name: later only features that are in some pair have a position
            pairs = [[names[find_feature(one, names)] for one in pair] for pair in pairing.pairs]
            pairing = replace(pairing, pairs=[tuple(pair) for pair in pairs])
            features = list(dict.fromkeys(name for pair in pairs for name in pair))
        return replace(
            self,
            features=features,
            bins=name_keys(self.bins, names),
            limits=name_keys(self.limits, names),
            pairing=pairing,
        )

    def without_positions(self, names: Sequence[str]) -> Settings:
        """The same, with columns by their names wherever they are given by position: they will move."""
        regions, categorical = self.regions, self.categorical
        if isinstance(regions, Regions) and regions.splitters is not None:
            splitters = name_all(regions.splitters, names)
            regions = replace(regions, splitters=splitters)
        elif isinstance(regions, By) and isinstance(regions.column, int):
            regions = replace(regions, column=name_all([regions.column], names)[0])
        if isinstance(categorical, Mapping):
            named = name_all(categorical, names)
            categorical = dict(zip(named, categorical.values(), strict=True))
        elif categorical is not None and not isinstance(categorical, bool):
            categorical = name_all(list_asked(categorical, "categorical"), names)
        features = self.features
        if features is not None:
            features = name_all(list_asked(features, "features"), names)
        return replace(self, features=features, categorical=categorical, regions=regions)

    @property
    def is_profile(self) -> bool:
        """Whether predictions are traced instead of local effects."""
        return self.method in PROFILES

    @property
    def is_searched(self) -> bool:
        """Whether partners or regions are searched with the local effects of single rows."""
        return not self.is_profile and (self.partners or self.regions is not None)

    @property
    def wants_gradient(self) -> bool:
        """Whether nothing but the gradient will do."""
        return self.local == "gradient" or self.method == "dale"

    @property
    def splitters(self) -> tuple[Any, ...] | None:
        """Columns that may define regions, as the user names them; () for all, None for no regions."""
        return None if self.regions is None else self.regions.columns

    def partition(self, feature: str, output: str) -> Partition:
        """Bins of one feature and output: the user's, or the method's usual ones."""
        return partition_for(self.bins, feature, output) or USUAL_BINS[self.method]

    def wants_numbers(self, feature: str) -> bool:
        """Whether few whole numbers are to be binned all the same: bins, limits or slopes."""
        limited = self.limits is not None
        if isinstance(self.limits, Mapping):
            limited = feature in self.limits
        has_bins = bins_of_feature(self.bins, feature) is not None and not self.level_order(feature)
        return limited or has_bins or self.wants_gradient

    def level_order(self, feature: str) -> tuple[str, ...]:
        """Levels of a feature in another explanation whose bins are to be used; none if it is not."""
        asked = bins_of_feature(self.bins, feature)
        return asked.level_order(feature) if isinstance(asked, BinSource) else ()

    def sources(self) -> dict[str, str]:
        """Python source of every argument that is not the usual one, to make the same call again.

        What has no source of its own (arrays, functions, other explanations) is written as a
        variable of the argument's name.

        Examples
        --------
        >>> Settings(bins=Fixed(7), limits={"age": (20, 60)}).sources()
        {'limits': "{'age': (20, 60)}", 'bins': "rhale.Fixed(n_bins=7, closed='left')"}
        """
        pairing = self.pairing
        hidden: tuple[str, ...] = NOT_IN_NUMBERS
        if pairing is None:
            return sources_of_changed_fields(self, hidden)
        hidden = (*hidden, "pairing", "bins")  # which are cells of pairs
        hidden += ("features",) if isinstance(pairing.pairs, tuple) else ()
        return {**sources_of_changed_fields(pairing, ()), **sources_of_changed_fields(self, hidden)}


def sources_of_changed_fields(record: Any, hidden: Sequence[str]) -> dict[str, str]:
    """Python source of every field of a record that is not the usual one, less the hidden ones."""
    found = {}
    for field in fields(record):
        text = source_of(getattr(record, field.name))
        if field.name not in hidden and text != source_of(field.default):
            found[field.name] = text or field.name
    return found


def name_keys(asked: Any, names: Sequence[str]) -> Any:
    """Turn positions in a mapping of features into names, and refuse names that are not there."""
    if not isinstance(asked, Mapping):
        return asked
    return {names[find_feature(feature, names)]: value for feature, value in asked.items()}


def name_all(asked: Iterable[Any], names: Sequence[str]) -> list[Any]:
    """Turn positions into names; what is not there stays as it is, and is refused later.

    Examples
    --------
    >>> name_all([1, "a", 9], ["a", "b"])
    ['b', 'a', 9]
    """
    places = [(one, find(one, names)) for one in asked]
    return [one if place is None else names[place] for one, place in places]


def parse_bins_setting(bins: Any) -> Any:
    """Take limits that are listed for `Edges`, also within a mapping; leave all else as it is.

    Examples
    --------
    >>> parse_bins_setting({"bmi": [18, 25, 30]})["bmi"].edges
    (18.0, 25.0, 30.0)
    """
    if isinstance(bins, Mapping):
        return {feature: parse_bins_setting(asked) for feature, asked in bins.items()}
    is_array = not isinstance(bins, type) and len(getattr(bins, "shape", ())) == 1
    if not is_array and not isinstance(bins, list | tuple | range):
        return bins
    try:
        return Edges(list(bins))
    except (TypeError, ValueError) as error:
        msg = f"bins={bins!r:.60} lists no limits of bins: {error}"
        raise BadSettingError(msg) from error


def bins_of_feature(bins: Any, feature: str) -> Any:
    """What was asked for one feature; a mapping may leave it out."""
    return bins.get(feature) if isinstance(bins, Mapping) else bins


def partition_for(bins: Any, feature: str, output: str) -> Partition | None:
    """Find the partition of one feature and output; None leaves it to the method.

    `bins` is what the user gave, read by `parse_bins_setting`; a mapping may leave features out.
    """
    asked = bins_of_feature(bins, feature)
    if asked is None:
        return None
    if isinstance(asked, BinSource):
        return asked.copy_bins(feature, output)
    if isinstance(asked, int | np.integer) and not isinstance(asked, bool):
        return Fixed(int(asked))
    if isinstance(asked, Partition) and not isinstance(asked, type):
        return asked
    msg = (
        f"bins={asked!r} is not understood; pass {', '.join(p.call for p in PARTITIONS.values())}, "
        "a number, a list of limits, another Explanation, or a mapping from feature to one of these"
    )
    raise BadSettingError(msg)


def describe_bins(bins: Any) -> str:
    """Name bins in a few words, for people."""
    if isinstance(bins, Mapping):
        return "{" + ", ".join(f"{k!r}: {describe_bins(v)}" for k, v in bins.items()) + "}"
    return "another explanation" if isinstance(bins, BinSource) else repr(bins)


def source_of(value: Any) -> str | None:
    """Python source that makes a value; None for what has none."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if hasattr(value, "isoformat"):  # dates are read from text, too
        return repr(str(value.isoformat()))
    if isinstance(value, np.datetime64):
        return repr(str(value))
    if is_dataclass(value) and type(value).__module__.startswith("rhale."):
        parts = {f.name: source_of(getattr(value, f.name)) for f in fields(value)}
        inside = ", ".join(f"{name}={text}" for name, text in parts.items())
        return None if None in parts.values() else f"rhale.{type(value).__name__}({inside})"
    if isinstance(value, Mapping):
        pairs = [(source_of(k), source_of(v)) for k, v in value.items()]
        known = all(k is not None and v is not None for k, v in pairs)
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}" if known else None
    if isinstance(value, list | tuple):
        if len(value) > LONGEST_SOURCE:
            return None
        inner = [source_of(v) for v in value]
        if None in inner:
            return None
        inside = ", ".join(cast("list[str]", inner))
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(inner) == 1 else f"({inside})"
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return source_of(value.tolist())
    return None
