"""A saved explanation is refused, or it can be used: nothing raises later because of its file."""

import io
import json
import random
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

pytest.importorskip("pandas")
from tests.properties.damage import HUGE, damaged, explanations

import rhale
from rhale.effects.level_effect import LevelEffect
from rhale.errors import BadFileError, RhaleError
from rhale.regions.wording import short_rules

KINDS = ("outputs", "right", "ale", "own", "frame", "ice", "frame pdp", "frame ice", "frame mplot",
         "regions", "format_1", "format_2", "format_3")  # fmt: skip
SAMPLES = Path(__file__).parents[1] / "unit" / "samples"
CASES = 30  # of each kind


@cache
def saved():
    """Contents of real files, by the kind of explanation."""
    contents = {n: json.loads((SAMPLES / f"{n}.json").read_text()) for n in KINDS[-3:]}
    with tempfile.TemporaryDirectory() as folder:
        for name, fx in explanations().items():
            fx.save(Path(folder) / "effects.json")
            contents[name] = json.loads((Path(folder) / "effects.json").read_text())
    return contents


def load(content, path):
    """An explanation, or None if the file is refused in one short sentence."""
    path.write_text(json.dumps(content).replace(f'"{HUGE}"', HUGE), encoding="utf-8")
    try:
        return rhale.load(path)
    except BadFileError as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300
    return None


def use(fx, path):
    """Everything that people do with numbers."""
    assert str(fx) == repr(fx)
    assert fx._repr_html_()
    assert len(fx.to_frame("pandas")) >= len(fx)
    assert len(fx.summary("pandas")) == len(fx)
    assert fx.explained_variance is not None
    assert fx.explained_with_regions is not None
    with suppress(RhaleError):  # partners that nobody asked for
        told = fx.partners(0, 0)
        assert str(told)
        assert len(told.to_frame("pandas")) == len(told)
    with suppress(RhaleError):  # regions that nobody asked for
        assert len(fx.to_frame("pandas", regions=True)) >= len(fx)
        assert fx.splits_frame("pandas").shape[1] == 13  # labels are the last two
    assert len(rhale.compare(fx, fx)) == len(fx)
    for effect in fx.values():
        use_effect(effect)
        if effect.regions is not None:
            use_regions(effect.regions)
    with suppress(RhaleError):  # bins that cannot change
        fx.rebin(3)
    fx.save(path)
    assert rhale.load(path).effects == fx.effects


def use_effect(effect):
    assert repr(effect)
    sizes = effect.importance, effect.importance_error, effect.typical_spread, effect.heterogeneity
    assert all(isinstance(size, float) for size in sizes)
    x = effect.grid if isinstance(effect, rhale.Profile) else effect.edges
    for center in ("mean", "start", "uniform"):
        if isinstance(effect, LevelEffect):
            x = [*effect.levels, *effect.pooled]
        assert len(effect.curve(x, center=center)) == len(effect.ci(x, center=center)[0])
    assert len(effect.spread(x)) == len(x)


def use_regions(tree):
    assert repr(tree)
    assert all(isinstance(rule, str) for rule in short_rules(tree, 20))
    for region in (*tree, *tree.thirds):
        use_effect(region.effect)
    with suppress(RhaleError):  # a column that is not there
        assert set(tree.locate(np.zeros((5, 3)))) <= {-1, *range(len(tree))}


def draw(fx, path):
    """Pictures and the page."""
    for axes in [fx.plot(), *map(fx.plot, fx.features)]:
        figure = np.ravel(np.asarray(axes, dtype=object))[0].get_figure(root=True)
        figure.savefig(io.BytesIO(), dpi=20)
        plt.close(figure)
    fx.compare({"the same": fx}, fx.features[0], output=0)
    plt.close("all")
    fx.report(path.with_suffix(".html"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_file_can_be_used(kind, tmp_path):
    fx = load(saved()[kind], tmp_path / "effects.json")
    use(fx, tmp_path / "effects.json")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_or_can_be_used(kind, tmp_path):
    rng, loaded = random.Random(kind), 0  # noqa: S311 - seeded
    for _ in range(CASES):
        fx = load(damaged(saved()[kind], rng), tmp_path / "effects.json")
        if fx is not None:
            loaded += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # huge numbers overflow
                use(fx, tmp_path / "effects.json")
    assert 0 < loaded < CASES


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_loaded_from_a_damaged_file_can_be_drawn(kind, tmp_path):
    pytest.importorskip("vl_convert")
    mpl.use("agg")
    rng, fx = random.Random(f"draw {kind}"), None  # noqa: S311 - seeded
    while fx is None:
        fx = load(damaged(saved()[kind], rng), tmp_path / "effects.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Matplotlib, too
        draw(fx, tmp_path / "effects.json")


BOMBS = {
    "text": ("U500000000", [1]),
    "matrices": ("(11000,11000)f8", [1]),
    "records": ("V2000000000", [1]),
    "shape": ("float64", [2**27]),
    "no numbers": ("float64", [0, 2**60]),
}


LIMITED = """
import resource, sys
from pathlib import Path
import rhale
from rhale.errors import BadFileError
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 2**28,) * 2)
try:
    rhale.load(sys.argv[1])
except BadFileError:
    print("refused")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what a process has is told by Linux")
@pytest.mark.parametrize("bomb", BOMBS)
def test_no_memory_is_taken_before_lengths_and_types_are_known(bomb, tmp_path):
    """256 MiB more than the modules take; each of these would ask for a gigabyte or more."""
    content, path = json.loads(json.dumps(saved()["right"])), tmp_path / "bomb.json"
    name, shape = BOMBS[bomb]
    content["effects"][0]["edges"] = {"array": [0.0], "type": name, "shape": shape}
    path.write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "-c", LIMITED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.stdout.strip() == "refused", done.stderr
