"""Saved refits come back exactly; damaged ones are refused, or can be used."""

import io
import json
import random
import tempfile
import tracemalloc
import warnings
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pandas")
from tests.properties.damage import HUGE, VALUES, damaged
from tests.refits_by_hand import make_frame, make_refits, of_frame, refits_of_every_kind, two

import rhale
from rhale.errors import BadFileError, BadSettingError
from rhale.output.storage.arrays import write_array
from rhale.stability.result import Failure

KINDS = ("outputs", "frame", "regions", "search", "ale", "pdp", "ice", "mplot", "sample")
SAMPLE = Path(__file__).parents[1] / "unit" / "samples" / "format_9_refits.json"
CASES = 16  # of each kind


def reopened(rx):
    with tempfile.TemporaryDirectory() as folder:
        rx.save(Path(folder) / "rx.json")
        return rhale.load(Path(folder) / "rx.json")


@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["rhale", "ale", "pdp", "ice", "mplot"]),
    st.lists(st.floats(0.1, 1e3), min_size=3, max_size=4),
)
def test_saving_and_loading_is_the_identity(seed, method, factors):
    rng = np.random.default_rng(seed)
    frame, n_rows = make_frame(rng), 60
    train = [rng.choice(n_rows, 30) for _ in factors]
    rx = make_refits(of_frame, frame, factors=factors, train=train, method=method)
    rx = replace(rx, failures=(Failure(9, "größe \ud800"),), notes=(*rx.notes, "a text"))
    again = reopened(rx)
    assert again == rx
    assert str(again) == str(rx)
    for a, b in zip(again.explanations, rx.explanations, strict=True):
        assert a.predictions.tobytes() == b.predictions.tobytes()


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([None, True, "by"]))
def test_outputs_pairs_regions_and_jumps_come_back(seed, regions):
    table = np.random.default_rng(seed).normal(size=(60, 3)).round(1)
    asked = rhale.By("x2", cuts=[0.0]) if regions == "by" else regions
    rx = make_refits(lambda r: two(np.sign(r) + r), table, regions=asked, pairs=[("x0", "x1")])
    again = reopened(rx)
    assert again == rx
    assert [p.p_value for p in again.pairs] == [p.p_value for p in rx.pairs]


@cache
def saved():
    """Contents of real files, by kind."""
    contents = {"sample": json.loads(SAMPLE.read_text(encoding="utf-8"))}
    with tempfile.TemporaryDirectory() as folder:
        for name, rx in refits_of_every_kind().items():
            rx.save(Path(folder) / "rx.json")
            contents[name] = json.loads((Path(folder) / "rx.json").read_text(encoding="utf-8"))
    return contents


def damage_array(content, rng):
    """Change numbers of one array, its type or its shape; or take another array."""
    content = json.loads(json.dumps(content))
    array = rng.choice(content["arrays"])
    numbers = np.frombuffer(b64decode(array["base64"]), array["as"]).copy()
    values = [v for v in VALUES if isinstance(v, float)] + [np.nan, np.inf]
    if numbers.size and numbers.dtype.kind == "i":
        numbers[rng.randrange(numbers.size)] = rng.choice([-1, 0, 1, 100])
    elif numbers.size and rng.random() < 0.8:
        some = slice(None) if rng.random() < 0.3 else rng.randrange(numbers.size)
        with np.errstate(over="ignore"):
            numbers[some] = rng.choice(values)
    elif rng.random() < 0.5:
        numbers = numbers[:-1]
    else:
        array.update(rng.choice(content["arrays"]))
        return content
    array["base64"] = b64encode(numbers.tobytes()).decode()
    return content


def without_arrays(content, rng):
    """Damage all but the arrays, which are most of a file."""
    arrays = content["arrays"]
    rest = damaged({k: v for k, v in content.items() if k != "arrays"}, rng)
    return {**rest, "arrays": arrays}


def load(content, path):
    """Refits, or None if the file is refused in one short sentence."""
    path.write_text(json.dumps(content).replace(f'"{HUGE}"', HUGE), encoding="utf-8")
    try:
        return rhale.load(path)
    except BadFileError as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300
    return None


def use(rx, path):
    """Everything that people do with numbers."""
    assert str(rx) == repr(rx)
    assert len(rx.replication(backend="pandas")) == len(rx)
    assert len(rx.to_frame("pandas")) >= len(rx)
    assert rx._repr_html_()
    with suppress(BadSettingError):  # regions that nobody searched
        assert rx.regions(backend="pandas").shape[1] > 5
    if rx.pairs:
        assert len(rx.replication(pairs=True, backend="pandas")) == len(rx.pairs)
        assert all(map(repr, rx.pairs))
    for effect in rx.values():
        assert repr(effect)
        x = effect.axis if effect.parts == "bins" else list(effect.labels) or effect.axis
        assert effect.curves(x).shape == (rx.n_trainings, len(x))
        assert len(effect.ci(x)[0]) == len(effect.between(x)) == len(effect.spread(x)) == len(x)
        assert len(effect.importance_ci()) == 2
        assert isinstance(effect.notes, tuple)
        assert len(effect.table()["x"]) >= 1
        assert effect.missing is None or repr(effect.missing)
        for part in effect.regions.values():
            assert repr(part)
    for fx in rx.explanations:
        assert str(fx)
    rx.save(path)
    assert rhale.load(path) == rx


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_file_can_be_used(kind, tmp_path):
    use(load(saved()[kind], tmp_path / "rx.json"), tmp_path / "rx.json")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_or_can_be_used(kind, tmp_path):
    rng, loaded = random.Random(f"refits {kind}"), 0  # noqa: S311 - seeded
    for case in range(CASES):
        change = (damage_array, without_arrays)[case % 2]
        rx = load(change(saved()[kind], rng), tmp_path / "rx.json")
        if rx is not None:
            loaded += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # huge numbers overflow
                use(rx, tmp_path / "rx.json")
    assert 0 < loaded < CASES


def draw(rx, path):
    """Pictures and the page."""
    for axes in (rx.plot(output=0), *(rx.plot(feature, output=0) for feature in rx.features)):
        figure = np.ravel(np.asarray(axes, dtype=object))[0].get_figure(root=True)
        figure.savefig(io.BytesIO(), dpi=20)
        plt.close(figure)
    rx.report(path.with_suffix(".html"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_loaded_from_a_damaged_file_can_be_drawn(kind, tmp_path):
    pytest.importorskip("vl_convert")
    mpl.use("agg")
    rng, rx = random.Random(f"draw {kind}"), None  # noqa: S311 - seeded
    while rx is None:
        rx = load(damage_array(saved()[kind], rng), tmp_path / "rx.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Matplotlib, too
        draw(rx, tmp_path / "rx.json")


def name_often(content):
    """One long array in every place where it may be, in a hundred trainings."""
    arrays, n_bins, n_trainings = content["arrays"], 5_000, 100

    def put(array):
        arrays.append(write_array(array))
        return {"pooled": len(arrays) - 1}

    rng = np.random.default_rng(0)
    limits, sizes = put(np.sort(rng.normal(size=n_bins + 1))), put(rng.uniform(1, 2, n_bins))
    places, counts = put(rng.normal(size=n_bins)), put(np.ones(n_bins, dtype=np.int64))
    long = {"edges": limits, "count": counts}
    long |= dict.fromkeys(("rows", "weight", "std_x", "std", "std_plain"), sizes)
    long |= dict.fromkeys(("level_error", "slope_error"), sizes)
    long |= dict.fromkeys(("mean_x", "low_x", "high_x", "level", "slope"), places)
    long |= dict.fromkeys(("fit_covariance", "cells", "spread_edges", "spread_std", "stairs"))
    for effect in content["explanations"][0]["effects"]:
        effect.update(long)
    content["explanations"] = content["explanations"][:1] * n_trainings
    overlap = {"shared": put(np.eye(n_trainings)), "n_train": put(np.full(n_trainings, 30))}
    content["overlap"].update(overlap)


HEAVY = {
    "as it is": lambda content: None,  # noqa: ARG005
    "one array named often": name_often,
    "arrays without numbers": lambda c: c["arrays"].extend([write_array(np.zeros(0))] * 10_000),
    "bytes for whole numbers": lambda c: c["arrays"].append(write_array(np.zeros(10**6, int))),
    "failures": lambda c: c.update(failures=[[1, ""]] * 10**5),
    "lists": lambda c: c.update(notes=[[]] * 10**5),
}


@pytest.mark.parametrize("what", HEAVY)
def test_loading_takes_less_than_thirty_times_the_file(what, tmp_path):
    content = json.loads(json.dumps(saved()["ale"] if what == "as it is" else saved()["regions"]))
    HEAVY[what](content)
    path = tmp_path / "rx.json"
    path.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
    tracemalloc.start()
    try:
        with suppress(BadFileError):
            rhale.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30 * path.stat().st_size
