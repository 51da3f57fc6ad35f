"""The scripts behind docs/accuracy.md, on a few problems: what the page claims must stay true."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rhale

ROOT = Path(__file__).parents[2]
JUDGE = ROOT.parent / "shared" / "judge" / "accuracy.py"


def script(name):
    for folder in ("paper", "accuracy"):
        if str(ROOT / folder) not in sys.path:
            sys.path.insert(0, str(ROOT / folder))  # they find each other as they do when run
    return importlib.import_module(name)


def test_adaptive_bins_make_half_the_error_of_the_text():
    """On 2,000 other problems: .45, .39 and .45; 150 problems leave a standard error of .04."""
    problems = script("random_problems")
    found = problems.compare((11,), 150, {"usual": rhale.Adaptive(), "text": problems.TEXT})
    assert np.all(problems.geometric_mean(found["usual"]) < [0.58, 0.52, 0.58])
    np.testing.assert_array_equal(found["text"], np.ones((150, 3)))


def test_adaptive_bins_are_near_the_best_equal_ones_chosen_with_the_truth():
    """The page has .71, .91 and 1.47 for 1,000 rows; every seventh problem of another seed here."""
    oracle = script("oracle")
    found = oracle.compare(1000, (7,), 7, rhale.Adaptive())[0]
    assert np.all(oracle.geometric_mean(found) < [1.0, 1.2, 2.2])


def test_a_function_of_one_feature_has_hardly_any_spread():
    """At most .03 of its importance by 1,000 evenly drawn rows; outermost rows of others are few."""
    additive = script("additive")
    for slope in additive.SLOPES.values():
        assert additive.spread_share(additive.draw_x(1000, 7)[0], slope) < 0.03


def test_counting_by_width_cuts_a_constant_effect_where_the_density_changes():
    """The reward of a cut grows with the rows, so with many of them it is always taken."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    d = 1 + rng.normal(size=x.size)
    assert rhale.effect(x, d).mean.size == 1
    for weight in ("width", "geometric"):
        assert rhale.effect(x, d, bins=rhale.Adaptive(weight=weight)).mean.size > 1


def test_the_curve_follows_fits_where_they_are_right_and_cells_where_they_are_not():
    """Over 12 seeds the page has at most 1.2 of the better one; 6 seeds here."""
    curves = script("curves")
    for name in ("constant, normal x", "exp x, normal x, noise 0.3 exp x"):
        errors = [curves.errors(*curves.draw(name, 3000, seed)) for seed in range(6)]
        fits, cells, ours = np.mean(errors, axis=0)
        assert ours < 1.3 * min(fits, cells)


def test_intervals_cover_as_often_as_they_say():
    """150 runs: 95 % within three standard errors of a share."""
    intervals = script("intervals")
    shape = intervals.SHAPES["parabola, normal, fan"]
    share = intervals.cover(shape, 200, shape.bins, runs=150)[0].mean()
    assert abs(share - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 150)


@pytest.mark.skipif(not JUDGE.exists(), reason="the judge stands beside the checkout only")
def test_the_judge_agrees():
    """Another program's random problems and its own text method."""
    command = [sys.executable, str(JUDGE), "--problems", "120", "--seed", "9"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    last = run.stdout.splitlines()[-1]
    ratios = [float(v) for v in re.findall(r"i_\w+ ([\d.]+)", last)]
    assert len(ratios) == 3
    assert np.all(np.array(ratios) < [0.6, 0.56, 0.62])
