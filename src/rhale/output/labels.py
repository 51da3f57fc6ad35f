"""Captions: names and units of features and outputs for people, apart from their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rhale.errors import BadFileError
from rhale.stats.arrays import as_read_only

CAPTIONS_KEY = "captions"  # in the provenance of what is explained, and the field of a result
NOT_WRITTEN = {"is_written": False}  # of a field that files do not hold
Held = TypeVar("Held")


@dataclass(frozen=True)
class Captions:
    """Names and units for people; what is not named is called by its key.

    Attributes
    ----------
    features, outputs : mapping of str to str
        What people read, by the key: the name of a column, the label of an output.
    units : mapping of str to str
        Units of features and outputs, by the key.

    Examples
    --------
    >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "prediction"}, {"bmi": "kg/m²"})
    >>> captions.axis("bmi"), captions.output("y0"), captions.feature("age")
    ('Body mass index (kg/m²)', 'prediction', 'age')
    """

    features: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("features", "outputs", "units"):
            object.__setattr__(self, name, as_read_only(getattr(self, name)))

    def feature(self, name: str) -> str:
        """What people read for a feature.

        Parameters
        ----------
        name : str
            Key of the feature.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.feature("bmi"), captions.feature("age")
        ('Body mass index', 'age')
        """
        return self.features.get(name, name)

    def output(self, name: str) -> str:
        """What people read for an output.

        Parameters
        ----------
        name : str
            Key of the output.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.output("y0")
        'price'
        """
        return self.outputs.get(name, name)

    def unit(self, name: str) -> str:
        """Unit of a feature or an output; nothing where it has none.

        Parameters
        ----------
        name : str
            Key of a feature or an output.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.unit("bmi"), captions.unit("age")
        ('kg/m²', '')
        """
        return self.units.get(name, "")

    def axis(self, name: str) -> str:
        """Label of the axis of a feature: what people read, and its unit.

        Parameters
        ----------
        name : str
            Key of the feature.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.axis("bmi")
        'Body mass index (kg/m²)'
        """
        return self._with_unit(self.feature(name), name)

    def value_axis(self, name: str) -> str:
        """The same for an output.

        Parameters
        ----------
        name : str
            Key of the output.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.value_axis("y0")
        'price ($)'
        """
        return self._with_unit(self.output(name), name)

    def _with_unit(self, words: str, name: str) -> str:
        unit = self.unit(name)
        return f"{words} ({unit})" if unit else words

    def feature_key(self, asked: Any) -> Any:
        """The key of a feature that is given by its caption; anything else stays as it is.

        Parameters
        ----------
        asked : str or int
            What the user called it.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.feature_key("Body mass index"), captions.feature_key(3)
        ('bmi', 3)
        """
        return key_of(asked, self.features)

    def output_key(self, asked: Any) -> Any:
        """The same for an output.

        Parameters
        ----------
        asked : str or int
            What the user called it.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.output_key("price")
        'y0'
        """
        return key_of(asked, self.outputs)

    def plain(self) -> dict[str, dict[str, str]]:
        """Plain values, which files hold.

        Examples
        --------
        >>> captions = Captions({"bmi": "Body mass index"}, {"y0": "price"}, {"bmi": "kg/m²", "y0": "$"})
        >>> captions.plain()["outputs"]
        {'y0': 'price'}
        """
        return {name: dict(mapping) for name, mapping in vars(self).items() if mapping}


NO_CAPTIONS = Captions()


def key_of(asked: Any, words: Mapping[str, str]) -> Any:
    """Find the key of a caption that only one has; keys and all else stay as they are.

    Examples
    --------
    >>> key_of("Age", {"x0": "Age"}), key_of("x0", {"x0": "Age"}), key_of(0, {"x0": "Age"})
    ('x0', 'x0', 0)
    """
    found = [key for key, word in words.items() if word == asked and isinstance(asked, str)]
    return found[0] if len(found) == 1 and asked not in words else asked


def choose_output_names(outputs: Sequence[str], captions: Captions, asked: Any) -> tuple[str, ...]:
    """Call outputs by the names that the user gave them, where that tells every one apart.

    `asked` is the source of `output_names=`, None where it was not used. A text is the name of the
    target; of several outputs it names none of them.

    Examples
    --------
    >>> captions = Captions(outputs={"0": "fair", "1": "good"})
    >>> choose_output_names(["0", "1"], captions, "['fair', 'good']"), choose_output_names(["0", "1"], captions, None)
    (('fair', 'good'), ('0', '1'))
    """
    names = tuple(map(captions.output, outputs))
    is_target = str(asked).startswith(("'", '"')) and len(outputs) > 1
    taken = [
        name for name, own in zip(names, outputs, strict=True) if name in outputs and name != own
    ]
    if asked is None or is_target or taken or len(set(names)) < len(names):
        return tuple(outputs)
    return names


def captions_of(provenance: Mapping[str, Any]) -> Captions:
    """Read the captions of an explanation; they may come from a file that somebody made up."""
    found = provenance.get(CAPTIONS_KEY, {})
    is_known = isinstance(found, Mapping) and set(found) <= set(vars(NO_CAPTIONS))
    parts = list(found.values()) if is_known else []
    is_known = is_known and all(isinstance(part, Mapping) for part in parts)
    words = [word for part in parts for pair in part.items() for word in pair] if is_known else []
    if not is_known or not all(isinstance(word, str) for word in words):
        msg = (
            "captions are not texts by feature, output and unit; save the explanation again, "
            "or leave them out"
        )
        raise BadFileError(msg)
    return Captions(**found) if found else NO_CAPTIONS


def caption(results: Sequence[Held], captions: Captions) -> tuple[Held, ...]:
    """Give results, and those of their regions, the captions of what they belong to."""
    return tuple(_caption(result, captions) for result in results)


def _caption(result: Any, captions: Captions) -> Any:
    """Do the same for one result, which stays as it is where it has them."""
    if result.captions == captions:
        return result
    tree = getattr(result, "regions", None)  # pairs have none
    if tree is None:
        return replace(result, captions=captions)
    parts = {
        name: tuple(replace(p, effect=_caption(p.effect, captions)) for p in getattr(tree, name))
        for name in ("regions", "thirds")
    }
    return replace(result, captions=captions, regions=replace(tree, **parts))
