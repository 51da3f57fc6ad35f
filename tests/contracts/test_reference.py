"""Every public name stands in the reference, says what it takes and holds, and shows an example."""

import inspect
import re
import sys
from functools import cache, cached_property
from pathlib import Path

import pytest

import rhale
from rhale import errors, models, plots
from rhale.effects.binning import choose
from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.pair_profile import PairProfile

docscrape = pytest.importorskip("numpydoc.docscrape")
validate = pytest.importorskip("numpydoc.validate")

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
MISMATCHES = {"PR01", "PR02", "PR03", "PR07"}  # not documented, not there, other order, no words


def is_ours(cls):
    return inspect.isclass(cls) and cls.__module__.startswith("rhale")


def public_in(module):
    return [getattr(module, name) for name in module.__all__]


def members(cls):
    """Public members by name: who defines each, and what it is; None for a field without a value."""
    found = {}
    for base in reversed([one for one in cls.__mro__ if is_ours(one)]):
        found |= dict.fromkeys(inspect.get_annotations(base), (base, None))
        found |= {name: (base, value) for name, value in vars(base).items()}
    return {name: pair for name, pair in found.items() if not name.startswith("_")}


def unwrapped(value):
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    return getattr(value, "__func__", value)  # of class methods


def mentioned(base, name, value):
    """Classes of ours that the type of a member names."""
    kind = inspect.get_annotations(base).get(name)
    if kind is None:
        kind = getattr(unwrapped(value), "__annotations__", {}).get("return", "")
    # after the type, Annotated[type, kind] says what files hold
    words = re.findall(r"\w+", re.sub(r".*Annotated\[(.*?), .*", r"\1", str(kind)))
    found = [getattr(sys.modules[base.__module__], word, None) for word in words]
    return [one for one in found if is_ours(one)]


@cache
def inner():
    """Records of the method itself, as the reference calls them: what they hold is their own affair."""
    if not REFERENCE.exists():
        return frozenset()
    text = (REFERENCE / "parts.md").read_text(encoding="utf-8")
    return frozenset(
        re.findall(r"^   ~?(rhale[\w.]*)$", text.partition("## Inside")[2], re.MULTILINE)
    )


def is_inner(cls):
    return f"{cls.__module__}.{cls.__name__}" in inner()


@cache
def held_by_users():
    """Classes of the package, and all that can be reached from them by attributes and methods."""
    waiting = [one for one in public_in(rhale) if inspect.isclass(one)] + [PairIndex, PairProfile]
    found = []
    while waiting:
        cls = waiting.pop()
        if cls in found:
            continue
        found.append(cls)
        if not is_inner(cls):
            waiting += [k for n, (b, v) in members(cls).items() for k in mentioned(b, n, v)]
    return found


def is_protocol(cls):
    return getattr(cls, "_is_protocol", False) and cls is not models.Adapter  # which users inherit


def classes():
    every = held_by_users() + public_in(models)
    return [one for one in dict.fromkeys(every) if is_ours(one) and not is_inner(one)]


def functions():
    every = [one for m in (rhale, plots, models) for one in public_in(m)]
    return [one for one in every if inspect.isfunction(one)] + [rhale.style]


def methods(cls):
    found = members(cls).items()
    return [(b, n) for n, (b, v) in found if inspect.isfunction(v) or isinstance(v, classmethod)]


def has_example(documented):
    text = inspect.getdoc(documented) or ""
    return "Examples\n--------\n" in text and ">>>" in text


@cache
def told(cls):
    """Names that the sections of a class and its bases describe."""
    names = set()
    for base in filter(is_ours, cls.__mro__):
        text = docscrape.NumpyDocString(inspect.cleandoc(base.__doc__ or ""))
        for section in ("Parameters", "Attributes"):
            names |= {name.strip() for item in text[section] for name in item.name.split(",")}
    return names


@cache
def listed():
    """Names in the tables of the reference."""
    text = "".join(page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.md")))
    return set(re.findall(r"^   ~?(rhale[\w.]*)$", text, re.MULTILINE))


@pytest.mark.skipif(not REFERENCE.exists(), reason="an installed package comes without pages")
def test_every_public_name_stands_in_the_tables_of_the_reference():
    named = {f"rhale.{name}" for name in rhale.__all__ if name != "models"} | {"rhale.style"}
    for module in (plots, models):
        callables = [name for name in module.__all__ if callable(getattr(module, name))]
        named |= {f"{module.__name__}.{name}" for name in callables}
    assert named - listed() == set()
    inside = {f"{one.__module__}.{one.__name__}" for one in held_by_users()}
    exported = {f"{one.__module__}.{one.__name__}" for one in map(by_name, named) if is_ours(one)}
    assert inside - exported - listed() == set()


def by_name(name):
    module, _, last = name.rpartition(".")
    return getattr(sys.modules[module], last)


@pytest.mark.skipif(not REFERENCE.exists(), reason="an installed package comes without pages")
def test_every_error_stands_in_the_reference():
    every = vars(errors).items()
    kinds = [name for name, one in every if is_ours(one) and issubclass(one, Exception)]
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    assert [name for name in kinds if f".. autoexception:: {name}\n" not in page] == []
    assert [n for n in kinds if not {f"rhale.errors.{n}", f"rhale.{n}"} & listed()] == []


def test_what_users_hold_is_found():
    names = {one.__name__ for one in held_by_users()}
    assert {"Effect", "FeatureComparison", "CurveDifference", "Drift", "Region"} <= names
    assert {"Partners", "RefitPair", "Statistics", "Trace", "Note", "RowPlaces"} <= names
    assert len(classes()) > 50


@pytest.mark.parametrize("function", functions(), ids=lambda one: one.__name__)
def test_every_public_function_has_an_example(function):
    assert has_example(function)


@pytest.mark.parametrize("cls", classes(), ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_every_public_class_and_method_has_an_example(cls):
    if is_protocol(cls):  # a promise: those who keep it show it
        keepers = [one for one in classes() if not is_protocol(one)]
        lacking = [
            name
            for base, name in methods(cls)
            if not any(has_example(getattr(one, name, None)) for one in [base, *keepers])
        ]
    else:
        assert has_example(cls)
        lacking = [name for base, name in methods(cls) if not has_example(getattr(base, name))]
    assert lacking == []


@pytest.mark.parametrize("cls", held_by_users(), ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_every_attribute_is_described(cls):
    lacking = []
    for name, (_, value) in members(cls).items():
        if isinstance(value, property | cached_property) or type(value).__name__ == "default":
            is_told = bool(value.__doc__)
        else:
            is_told = callable(value) or isinstance(value, classmethod) or name in told(cls)
        lacking += [] if is_told else [name]
    assert lacking == []


def mismatches(documented):
    found = validate.validate(f"{documented.__module__}.{documented.__qualname__}")["errors"]
    return [f"{documented.__qualname__}: {text}" for code, text in found if code in MISMATCHES]


@pytest.mark.parametrize("function", functions(), ids=lambda one: one.__name__)
def test_every_parameter_of_a_function_is_described_and_no_other(function):
    assert mismatches(function) == []


@pytest.mark.parametrize("cls", classes(), ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_every_parameter_of_a_method_is_described_and_no_other(cls):
    if not is_protocol(cls):
        own = [getattr(base, name) for base, name in methods(cls)]
        assert [text for method in own for text in mismatches(method)] == []


@pytest.mark.parametrize("name", [*choose.__all__, "Regions", "By"])
def test_every_setting_is_described_and_no_other(name):
    assert mismatches(getattr(rhale, name)) == []
