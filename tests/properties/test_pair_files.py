"""Saved interactions come back exactly; damaged ones are refused, or can be used."""

import json
import random
import tempfile
import warnings
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pandas")
from tests.pairs_by_hand import as_profile, make_interactions
from tests.properties.damage import HUGE, VALUES, damaged

import rhale
from rhale.errors import BadFileError, BadSettingError
from rhale.interaction.pair_effect import PairIndex
from rhale.output.text import Note

CITY = {"city": ("Rome", "<b>", "\ud800")}
NAMES = ["größe", "a\nb", "city"]
KINDS = (
    "numbers",
    "levels",
    "outputs",
    "weights",
    "profiles",
    "h",
)  # the last has no packed arrays
CASES = 25  # of each kind


def reopened(ix):
    with tempfile.TemporaryDirectory() as folder:
        ix.save(Path(folder) / "ix.json")
        return rhale.load(Path(folder) / "ix.json")


def make(seed, *, n_rows=40, n_cells=3, n_outputs=1, labels=CITY, kind="number"):
    """A function of three features, all three together."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.normal(size=(n_rows, 2)), rng.integers(0, 3, n_rows)])
    a, b, c = rng.normal(size=3)
    models = {
        f"y{k}": lambda r, k=k: np.sin(a * r[:, 0] + k) * (b + r[:, 1]) * (c + r[:, 2])
        for k in range(n_outputs)
    }
    kinds = {NAMES[0]: kind}
    return make_interactions(models, rows, NAMES, labels=labels, n_cells=n_cells, kinds=kinds)


def as_index(pair, method, h2):
    return PairIndex(pair.names, pair.output, method, pair.strength, pair.variance, h2, 3, ("a",))


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(5, 60),
    st.integers(1, 7),
    st.integers(1, 3),
    st.sampled_from([CITY, {}]),
    st.sampled_from(["number", "date", "duration"]),
)
def test_saving_and_loading_is_the_identity(seed, n_rows, n_cells, n_outputs, labels, kind):
    ix = make(seed, n_rows=n_rows, n_cells=n_cells, n_outputs=n_outputs, labels=labels, kind=kind)
    first = replace(
        ix.pairs[0], notes=(Note("gap", "no rows"), "a text"), n_left_out=4, smooth=True,
        way="walk", reading="cells",
    )  # fmt: skip
    ix = replace(ix, pairs=(first, *ix.pairs[1:]), notes=("of all",))
    again = reopened(ix)
    assert again == ix
    assert str(again) == str(ix)
    profiles = replace(ix, pairs=tuple(map(as_profile, ix.values())))
    assert reopened(profiles) == profiles
    assert [note.kind for note in again.pairs[0].notes] == ["gap", ""]
    for a, b in zip(again.values(), ix.values(), strict=True):
        assert a.count.dtype == b.count.dtype
        for name in ("weight", "places", "mean", "products"):
            assert getattr(a.moments, name).tobytes() == getattr(b.moments, name).tobytes()


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["h", "greenwell", "shap"]),
    st.one_of(st.just(float("nan")), st.floats(0, 2)),
)
@settings(max_examples=10, deadline=None)
def test_numbers_without_a_surface_come_back(seed, method, h2):
    ix = make(seed)
    ix = replace(
        ix,
        pairs=tuple(as_index(pair, method, h2) for pair in ix.values()),
        importance=np.full((3, 1), np.nan),
    )
    assert reopened(ix) == ix


@cache
def saved():
    """Contents of real files, by kind."""
    made = {
        "numbers": make(1, labels={}, kind="date"),
        "levels": make(2),
        "outputs": make(3, n_outputs=2, n_cells=2),
        "weights": make(4, n_rows=9),
    }
    heavy = [
        replace(p.moments, weight=1.5 * p.moments.weight, weight_squares=2 * p.moments.weight)
        for p in made["weights"].values()
    ]
    pairs = tuple(
        replace(p, moments=m) for p, m in zip(made["weights"].values(), heavy, strict=True)
    )
    made["weights"] = replace(made["weights"], pairs=pairs)
    made["profiles"] = replace(
        made["levels"], pairs=tuple(map(as_profile, made["levels"].values()))
    )
    made["h"] = replace(
        made["levels"], pairs=tuple(as_index(p, "h", 0.5) for p in made["levels"].values())
    )
    contents = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, ix in made.items():
            ix.save(Path(folder) / "ix.json")
            contents[name] = json.loads((Path(folder) / "ix.json").read_text(encoding="utf-8"))
    return contents


def packed(node):
    """All arrays that are written as base64."""
    if isinstance(node, dict) and isinstance(node.get("base64"), str):
        return [node]
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [array for value in inside for array in packed(value)]


def damage_packed(content, rng):
    """Change numbers of one array, or its shape."""
    content = json.loads(json.dumps(content))
    array = rng.choice(packed(content))
    numbers = np.frombuffer(b64decode(array["base64"]), "<f8").copy()
    floats = [v for v in VALUES if isinstance(v, float)] + [np.nan, np.inf]
    if numbers.size and rng.random() < 0.8:
        some = slice(None) if rng.random() < 0.3 else rng.randrange(numbers.size)
        numbers[some] = rng.choice(floats)
    elif rng.random() < 0.5:
        numbers = numbers[:-1]
    else:
        array["shape"] = array["shape"][::-1]
    array["base64"] = b64encode(numbers.tobytes()).decode()
    return content


def load(content, path):
    """Interactions, or None if the file is refused in one short sentence."""
    path.write_text(json.dumps(content).replace(f'"{HUGE}"', HUGE), encoding="utf-8")
    try:
        return rhale.load(path)
    except BadFileError as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300
    return None


def use(ix, path):
    """Everything that people do with numbers."""
    assert str(ix) == repr(ix)
    assert len(ix.to_frame("pandas")) == len(ix) == len(ix.ranked())
    assert ix.matrix(0).shape == (len(ix.features),) * 2
    assert ix.explained is not None
    with suppress(BadSettingError):  # of a method without cells
        assert len(ix.cells_to_frame("pandas")) == sum(pair.n_cells for pair in ix.values())
    for pair in ix.values():
        assert ix[(*pair.names, pair.output)] == pair
        assert repr(pair)
        assert all(isinstance(n, float) for n in (pair.strength, pair.strength_error, pair.p_value))
        if pair.method in ("ale", "pdp"):
            use_pair(pair)
    ix.save(path)
    assert rhale.load(path) == ix


def use_pair(pair):
    shape = tuple(nodes.size for nodes in pair.edges)
    first, second = pair.edges[0][:, None], pair.edges[1]
    for found in (pair.surface(first, second), pair.effect_at(first, second), pair.heights):
        assert found.shape == shape
    assert pair.standard_error.shape == shape
    assert pair.transposed().transposed() == pair
    if pair.method == "ale":
        assert len(pair.strength_ci()) == 2
        assert pair.mean.shape == pair.std.shape


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_file_can_be_used(kind, tmp_path):
    use(load(saved()[kind], tmp_path / "ix.json"), tmp_path / "ix.json")


WAYS = [(kind, damaged) for kind in KINDS] + [(kind, damage_packed) for kind in KINDS[:-1]]


@pytest.mark.parametrize(("kind", "change"), WAYS)
def test_a_damaged_file_is_refused_or_can_be_used(kind, change, tmp_path):
    rng, loaded = random.Random(kind), 0  # noqa: S311 - seeded
    for _ in range(CASES):
        ix = load(change(saved()[kind], rng), tmp_path / "ix.json")
        if ix is not None:
            loaded += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # huge numbers overflow
                use(ix, tmp_path / "ix.json")
    assert 0 < loaded < CASES
