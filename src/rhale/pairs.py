"""Interactions: which pairs of features, how strongly. What the user holds; its verbs call the rooms below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rhale.errors import BadSettingError, UnknownFeatureError, UnknownOutputError
from rhale.kernels import FloatArray
from rhale.kernels.records import same_value
from rhale.names import find_feature, find_output, near_names
from rhale.results.note import as_notes
from rhale.results.pair_effect import PairMethod, PairResult
from rhale.results.read_only import as_read_only
from rhale.system.writing import write_text


@dataclass(frozen=True, eq=False, repr=False)
class Interactions:
    """Pairs of features, and what they do together to each output.

    Attributes
    ----------
    features, outputs : tuple of str
        Names: features in the table's order, outputs in the model's.
    pairs : tuple of PairEffect or PairIndex
        Pairs first, outputs within them.
    importance : ndarray of shape (n_features, n_outputs)
        Deviation over the rows of each feature's own effect; nan where it is not known.
    variance : ndarray of shape (n_outputs,)
        Of the predictions.
    provenance : mapping
        What was measured, how, on how many rows, with which versions.
    notes : tuple of Note
        What a reader should know about the whole.
    """

    features: tuple[str, ...]
    outputs: tuple[str, ...]
    pairs: tuple[PairResult, ...]
    importance: FloatArray
    variance: FloatArray
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", as_read_only(self.provenance))
        object.__setattr__(self, "notes", as_notes(self.notes))

    @property
    def method(self) -> PairMethod:
        """What the pairs were measured by."""
        return self.pairs[0].method

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[PairResult]:
        return iter(self.pairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interactions):
            return NotImplemented
        names = ("features", "outputs", "pairs", "importance", "variance", "notes")
        same = all(same_value(getattr(self, n), getattr(other, n)) for n in names)
        return same and self.provenance == other.provenance

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, key: Any) -> PairResult:
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            msg = f"ix[{key!r}] names no pair; name two features, ix['a', 'b'], and one of several outputs"
            raise BadSettingError(msg)
        first, second = (self.features[find_feature(name, self.features)] for name in key[:2])
        if len(key) == 2 and len(self.outputs) > 1:
            msg = f"there are several outputs, name one: ix[{first!r}, {second!r}, {self.outputs[0]!r}]; "
            raise UnknownOutputError(msg + near_names("", list(self.outputs)))
        output = self.outputs[find_output(key[2], self.outputs) if len(key) == 3 else 0]
        for pair in self.pairs:
            if pair.output == output and set(pair.names) == {first, second} and first != second:
                return pair if pair.names[0] == first else pair.transposed()
        measured = list(dict.fromkeys(" x ".join(pair.names) for pair in self.pairs))
        msg = f"the pair {first!r}, {second!r} was not measured; ask for pairs=[({first!r}, {second!r})]; "
        raise UnknownFeatureError(msg + near_names(f"{first} x {second}", measured))

    def ranked(self, output: str | int | None = None) -> list[PairResult]:
        """Pairs with the strongest first; of one output, or of all."""
        wanted = (
            self.outputs if output is None else (self.outputs[find_output(output, self.outputs)],)
        )
        return sorted((p for p in self.pairs if p.output in wanted), key=lambda p: -p.strength)

    def matrix(self, output: str | int | None = None) -> FloatArray:
        """Strengths of all pairs of features, importance on the diagonal; nan where not measured.

        Parameters
        ----------
        output : str or int, optional
            Which output, where there are several; the first by default.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        place = 0 if output is None else find_output(output, self.outputs)
        found = np.full((len(self.features), len(self.features)), np.nan)
        np.fill_diagonal(found, self.importance[:, place])
        for pair in self.pairs[place :: len(self.outputs)]:
            i, j = (self.features.index(name) for name in pair.names)
            found[i, j] = found[j, i] = pair.strength
        return found

    def report(self, path: str | PathLike[str], title: str | None = None) -> Path:
        """Write one HTML page that needs no network: ranking, matrix, the strongest pairs, notes.

        Parameters
        ----------
        path : path-like
            The file, for example "interactions.html".
        title : str, optional
            Heading of the page.

        Returns
        -------
        Path
            The file.
        """
        from rhale.report.pair_page import make_pair_page
        from rhale.report.pair_render import render_pairs

        write_text(path, render_pairs(make_pair_page(self, title)))
        return Path(path)

    def _repr_html_(self) -> str:
        """The ranked table, for notebooks."""
        from rhale.report.pair_notebook import pairs_as_html

        return pairs_as_html(self.ranked(), self.provenance, self.notes)
