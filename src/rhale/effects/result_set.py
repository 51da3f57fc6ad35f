"""ResultSet: what explanations, interactions, refits and comparisons have in common as mappings."""

from __future__ import annotations

import warnings
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from rhale.effects import store
from rhale.errors import UnknownNameError, UnknownOutputError
from rhale.naming import find_feature, find_output, near_names
from rhale.output.labels import Captions, choose_output_names
from rhale.stats.arrays import same_fields
from rhale.system.files import write_text

HeldResult = TypeVar("HeldResult")


class ResultSet(Generic[HeldResult]):
    """Results by name, as a mapping: look-up, ranking, equality, text, page and file.

    Keys are names of features where there is one output, and pairs of feature and output where
    there are several; of interactions the two features, and the output behind them. Outputs go by
    the names that `output_names=` gave them. `fx[key]` takes every key, and also the name of a
    column, the label of an output, and positions.

    A subclass has `features`, `outputs`, `captions` and `provenance`, and says which results it
    holds (`_results`), by what they are ranked (`_rank`), how it is printed (`__str__`) and shown on
    a page (`_page`).

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
    >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
    >>> list(fx.keys()), len(fx), "x0" in fx, fx.get("x9")
    (['x0', 'x1'], 2, True, None)
    >>> {name: round(effect.importance, 1) for name, effect in fx.items()}
    {'x0': 5.8, 'x1': 3.0}
    """

    _called: ClassVar[str] = "fx"  # in messages
    if TYPE_CHECKING:  # fields of some of them, properties of others

        @property
        def features(self) -> tuple[str, ...]:
            """Names of the features: columns of the table."""

        @property
        def outputs(self) -> tuple[str, ...]:
            """Labels of the outputs, as the model has them."""

        @property
        def captions(self) -> Captions:
            """What people read for both."""

        @property
        def provenance(self) -> Mapping[str, Any]:
            """What was explained, how, on how many rows."""

    @property
    def _results(self) -> tuple[HeldResult, ...]:
        """The results: features (or pairs) first, outputs within them."""
        raise NotImplementedError

    @staticmethod
    def _rank(result: Any) -> Any:
        """Sort a result by this: the largest have the smallest."""
        raise NotImplementedError

    def _page(self, title: str | None) -> str:
        """The page as HTML."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self)

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[HeldResult]:
        """Results, until the next version, in which iteration gives keys, as of every mapping."""
        name = self._called
        msg = (
            f"iteration over results will give keys in the next version of rhale: write "
            f"`for name in {name}.keys()`, or `for effect in {name}.values()` for what it gives now"
        )
        warnings.warn(msg, DeprecationWarning, stacklevel=2)
        return iter(self._results)

    def __contains__(self, key: object) -> bool:
        feature, output = _split_key(key)
        try:
            self._find_feature(feature)
            self._find_output(0 if output is None else output)
        except UnknownNameError:
            return False
        return isinstance(feature, str)  # positions are no keys

    def __getitem__(self, key: Any) -> HeldResult:
        feature, output = _split_key(key)
        place = self._find_feature(feature)
        number = self._choose_output(output, f"{self._called}[{feature!r}, {{}}]")
        return self._results[place * len(self.outputs) + number]

    def get(self, key: Any, default: Any = None) -> Any:
        """The result of a key, or something else where there is none.

        Parameters
        ----------
        key : str or tuple of str
            As in `keys`.
        default : object
            What is returned for a name that is not there.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> fx.get("x0").name, fx.get("income", "not explained")
        ('x0', 'not explained')
        """
        try:
            return self[key]
        except UnknownNameError:
            return default

    def keys(self) -> KeysView[Any]:
        """Names of the results, in the order of `values`.

        Returns
        -------
        view of str or tuple of str
            Features where there is one output, else pairs of feature and output; of interactions
            two features, and the output behind them.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: rows[:, :1] * [1, 2], x, output_names=["low", "high"])
        >>> list(fx.keys())
        [('x0', 'low'), ('x0', 'high'), ('x1', 'low'), ('x1', 'high')]
        """
        return self._by_key().keys()

    def values(self) -> ValuesView[HeldResult]:
        """The results: features (or pairs) in the table's order, outputs within them.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> [effect.name for effect in fx.values()]
        ['x0', 'x1']
        """
        return self._by_key().values()

    def items(self) -> ItemsView[Any, HeldResult]:
        """Keys and results.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> [(name, effect.n_parts) for name, effect in fx.items()]
        [('x0', 1), ('x1', 1)]
        """
        return self._by_key().items()

    def _by_key(self) -> dict[Any, HeldResult]:
        """Results by their keys."""
        several = len(self.outputs) > 1
        names = [(f, o) if several else f for f in self.features for o in self.output_names]
        return dict(zip(names, self._results, strict=True))

    @property
    def output_names(self) -> tuple[str, ...]:
        """What outputs are called: the names of `output_names=`, else the model's, as in `outputs`."""
        return choose_output_names(self.outputs, self.captions, self._words_asked)

    @property
    def _words_asked(self) -> Any:
        """What was asked for as `output_names=`."""
        asked = self.provenance.get("asked")
        return asked.get("output_names") if isinstance(asked, Mapping) else None

    def ranked(self, output: str | int | None = None) -> list[HeldResult]:
        """Results with the largest first, unknown ones last; of one output, or of all.

        Effects are ranked by `importance`, those of refits by `replicated`, pairs by `strength`, and
        compared features by the `size` of their difference.

        Parameters
        ----------
        output : str or int, optional
            Which output; all of them if not given.

        Returns
        -------
        list of results

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> [effect.name for effect in fx.ranked()]
        ['x1', 'x0']
        """
        return sorted(self._of_output(output), key=self._rank)

    def _of_output(self, output: str | int | None) -> list[HeldResult]:
        """Results of one output, or of all."""
        if output is None:
            return list(self._results)
        return list(self._results[self._find_output(output) :: len(self.outputs)])

    def _find_feature(self, feature: Any) -> int:
        """Place of a feature: by the name of its column, what people read, or its position."""
        return find_feature(self.captions.feature_key(feature), self.features)

    def _find_output(self, output: Any) -> int:
        """Place of an output: by its label, its name, or its position."""
        key = self.captions.output_key(output)
        return find_output(key, self.outputs, self.output_names)

    def _choose_output(self, output: Any, example: str) -> int:
        """Place of an output, which need not be named where there is one.

        `example` is a call that names one, with `{}` for it.
        """
        if output is not None:
            return self._find_output(output)
        if len(self.outputs) > 1:
            names = list(self.output_names)
            msg = f"there are several outputs, name one: {example.format(repr(names[0]))}; "
            raise UnknownOutputError(msg + near_names("", names))
        return 0

    @property
    def _backend(self) -> str | None:
        """Kind of the explained table, which data frames are of unless another is asked for."""
        return cast("str | None", self.provenance.get("table"))

    def report(self, path: str | PathLike[str], title: str | None = None) -> Path:
        """Write one HTML page that needs no network: ranking, sentences, charts, notes.

        Parameters
        ----------
        path : path-like
            The file, for example "effects.html".
        title : str, optional
            Heading of the page.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> import tempfile, pathlib
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = fx.report(pathlib.Path(folder.name, "effects.html"), title="Two lines")
        >>> "<h1" in path.read_text(encoding="utf-8")
        True
        >>> folder.cleanup()
        """
        write_text(path, self._page(title))
        return Path(path)


class StoredResultSet(ResultSet[HeldResult]):
    """Results that have a file of their own: all but comparisons, which are made of explanations.

    A subclass says what goes into the file (`_pack`).
    """

    def _pack(self) -> Any:
        """Plain values for the file."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Write one JSON file that `rhale.load` reads back exactly; models are not in it.

        Parameters
        ----------
        path : path-like
            The file, for example "effects.json".

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> import tempfile, pathlib
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "effects.json")
        >>> fx.save(path)
        >>> rhale.load(path) == fx
        True
        >>> folder.cleanup()
        """
        store.write_result_file(path, self._pack())


def _split_key(key: Any) -> tuple[Any, Any]:
    """The feature and the output that a key names; None where it names no output."""
    return key if isinstance(key, tuple) and len(key) == 2 else (key, None)
