"""Cells as text, and what the script of the page makes of them, against Python's numbers."""

import base64
import json
import shutil
import subprocess
from dataclasses import asdict, replace
from importlib.resources import files

import numpy as np
import pytest

import rhale
from rhale.kernels.adaptive import Adaptive
from rhale.kernels.axis import Axis
from rhale.kernels.moments import measure
from rhale.report.bin_cells import write_cells, write_choice
from rhale.report.chart_numbers import bins_of
from rhale.results.fit import fine_grid
from rhale.results.plain_bins import (
    OtherBins,
    PlainCells,
    find_other_bins,
    fit_plain,
    offer_plain,
    plain_search,
)

SCRIPT = files("rhale.report").joinpath("templates", "bins.js").read_text(encoding="utf-8")
ASK = """
const answer = JSON.parse(require("fs").readFileSync(0, "utf8")).map((choice) => {
  const cells = readCells(choice);
  return searchBins(cells, choice.level).map((one) => ({ ...one, shape: shapeBins(cells, choice, one.bins) }));
});
console.log(JSON.stringify(answer));
"""
EFFECTS = {
    "waves": lambda x: np.sin(3 * x),
    "one slope": lambda x: 0 * x + 1_000.0,
    "a jump": lambda x: np.where(x > np.median(x), 1.0, -2.0),
    "a line": lambda x: 2 * x,
}
AXES = {
    "bell": lambda rng, n: rng.normal(size=n),
    "long tail": lambda rng, n: rng.lognormal(sigma=1.5, size=n),
    "far from zero": lambda rng, n: rng.uniform(20_000, 20_001, n),
    "gap": lambda rng, n: np.concatenate([rng.random(n // 3), rng.uniform(4, 6, n - n // 3)]),
    "whole numbers": lambda rng, n: rng.integers(0, 200, n).astype(float),
}


def cells_of(x, effects, weight=None):
    """Fine cells of one feature, as `explain` makes them."""
    values, place = np.unique(x, return_inverse=True)
    weights = np.ones(x.size) if weight is None else weight
    axis = Axis(x.min(), x.max(), values, np.bincount(place, weights), x.size)
    grid = fine_grid(axis, Adaptive().candidates(axis), "left")
    return measure(grid, x, effects, weight).series(0)


def problem(axis, shape, *, seed, noise, weighted):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([80, 400, 2_000]))
    x = AXES[axis](rng, n_rows)
    # rows differ more on the right
    effects = EFFECTS[shape](x) + noise * rng.normal(size=n_rows) * (1 + (x > x.mean()))
    weight = rng.uniform(0.2, 3.0, n_rows) if weighted else None
    return offer_plain(cells_of(x, effects, weight))


ROWS = [(0.0, False), (0.3, False), (1.0, True)]  # noise, and whether rows have weights
PROBLEMS = [
    (axis, shape, *ROWS[(i + j) % 3])
    for i, axis in enumerate(AXES)
    for j, shape in enumerate(EFFECTS)
]


@pytest.fixture(scope="module")
def plains():
    return [
        problem(axis, shape, seed=seed, noise=noise, weighted=weighted)
        for seed, (axis, shape, noise, weighted) in enumerate(PROBLEMS)
    ]


def in_node(choices):
    """What the script of the page finds."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node to run the script in; a browser runs it in tests/end_to_end")
    done = subprocess.run(  # noqa: S603 - our own script
        [node, "-e", SCRIPT + ASK],
        input=json.dumps(choices),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def positions(plains):
    """What the script finds in each of the problems: bins and what is drawn of them."""
    return in_node([asdict(write_cells(fit_plain("x", "y", one, 2.0), one)) for one in plains])


@pytest.fixture(scope="module")
def found(plains, positions):
    """All of these one by one, with the cells."""
    return [(one, each) for one, many in zip(plains, positions, strict=True) for each in many]


def fitted(plain, position):
    return fit_plain("x", "y", plain, position["price"])


def close(one, other, scale, digits):
    np.testing.assert_allclose(
        np.array(one, dtype=float) / scale, other / scale, atol=10.0**-digits
    )


def test_the_script_finds_the_bins_of_python(found):
    assert len(found) > 100
    for plain, position in found:
        cuts = plain_search(plain.moments, position["price"])(plain.moments)
        bins = position["bins"]
        assert [*(one["first"] for one in bins), bins[-1]["last"]] == cuts.limits.tolist()
        assert [one["linear"] for one in bins] == cuts.linear.tolist()


def test_every_number_of_bins_comes_once_from_the_fewest_on(plains, positions):
    for plain, many in zip(plains, positions, strict=True):
        numbers = [len(position["bins"]) for position in many]
        assert numbers == sorted(set(numbers))
        assert numbers[0] == fit_plain("x", "y", plain, 2.0**30).n_parts


def test_its_bins_have_pythons_numbers(found):
    for plain, position in found:
        effect, bins = fitted(plain, position), position["shape"]["bins"]
        size = np.abs(effect.mean).max()
        close(bins["left"], effect.edges[:-1], np.ptp(effect.edges), 6)
        close(bins["right"], effect.edges[1:], np.ptp(effect.edges), 6)
        assert bins["count"] == effect.count.tolist()
        close(bins["mean"], effect.mean, size, 5)
        close(bins["std"], effect.std, max(effect.std.max(), 1e-3 * size), 3)
        error = effect.standard_error
        close(bins["error"], error, max(error.max(), 1e-3 * size), 3)


def test_its_curve_has_pythons_numbers(found):
    for plain, position in found:
        effect, shape = fitted(plain, position), position["shape"]
        x = np.array(shape["x"])
        curve, (low, high) = effect.curve(x), effect.ci(x)
        scale = max(np.ptp(curve), 1e-300)
        close(shape["y"], curve, scale, 5)
        assert "spread" not in shape  # which does not depend on bins
        close(shape["low"], low, scale, 4)
        close(shape["high"], high, scale, 4)


def test_a_model_with_steps_sends_finished_bins_and_no_cells():
    rows = np.random.default_rng(0).normal(size=(900, 2))
    fx = rhale.explain(lambda r: np.floor(3 * r[:, 0]) * (1 + 0.5 * r[:, 1]), rows)
    other = find_other_bins(fx.effects, fx.cells, fx.outputs)[0]
    choice = write_choice(fx["x0"], other)
    assert other.cells is None
    assert choice.cells == ""
    assert choice.finished == tuple(map(bins_of, other.finished))
    assert len(choice.finished) > 2


def test_units_of_the_axis_are_those_of_the_page(plains):
    plain = plains[PROBLEMS.index(("long tail", "waves", 0.3, False))]
    effect = fit_plain("x", "y", plain, 2.0)
    for kind in ("number", "date", "duration"):
        own = replace(effect, kind=kind)
        (many,) = in_node([asdict(write_cells(own, plain))])
        (bins,) = (p["shape"]["bins"] for p in many if len(p["bins"]) == effect.n_parts)
        expected = bins_of(own)
        for name in ("left", "right", "mean", "slope", "std", "error"):
            numbers = np.array(getattr(expected, name), dtype=float)
            close(bins[name], numbers, np.abs(numbers).max(), 3)


def test_four_bytes_keep_seven_digits(plains):
    for plain in plains:
        choice, moments = write_cells(fit_plain("x", "y", plain, 2.0), plain), plain.moments
        numbers = np.frombuffer(base64.b64decode(choice.cells), dtype="<f4").astype(float)
        table = numbers.reshape(12 if choice.weighted else 10, -1)
        close(
            choice.start + choice.range * table[0].cumsum(), moments.grid.edges[1:], choice.range, 6
        )
        assert table[1].tolist() == moments.count.tolist()
        filled = moments.weight > 0
        mean = choice.effect * (choice.level + table[6])
        close(mean[filled], moments.mean[0][filled], np.abs(moments.mean[0]).max(), 7)
        close(choice.effect * table[9], np.sqrt(plain.noise), choice.effect, 7)


def test_what_stays_has_no_choice(fx):
    assert write_choice(fx.effects[0], None) is None
    assert write_choice(fx.effects[0], OtherBins()) is None


def test_numbers_that_four_bytes_cannot_hold_give_no_choice(plains):
    effect, (moments, noise, sides) = fit_plain("x", "y", plains[0], 2.0), plains[0]
    huge = replace(moments, sxd=moments.sxd * 1e60)  # as a damaged file may have it
    assert write_cells(effect, PlainCells(huge, noise, sides)) is None


def test_a_page_of_fifty_features_stays_below_two_megabytes(tmp_path):
    for name in ("jinja2", "altair", "vl_convert"):
        pytest.importorskip(name)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1_000, 50))
    rows[:, ::2] = np.exp(rows[:, ::2])  # long tails
    fx = rhale.explain(
        lambda r: np.sin(r).sum(axis=1) + r[:, 1] * np.tanh(r[:, :-1]).sum(axis=1), rows
    )
    assert all(other is not None for other in find_other_bins(fx.effects, fx.cells, fx.outputs))
    assert fx.report(tmp_path / "fifty.html").stat().st_size < 2_000_000
