"""Nothing warns and nothing fails, whatever the numbers and names are."""

import pickle
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

import rhale
from rhale.effects.table import Missing
from rhale.plots import plot_all, plot_compare, plot_effect, plot_profile

X = np.random.default_rng(3).random(500)
NOISE = np.random.default_rng(4).normal(size=500)
LIMITS = np.linspace(0, 1, 11)

CASES = {
    "constant feature": lambda make: make(np.full(5, 3.0), np.arange(5.0), [3, 3]),
    "constant zero": lambda make: make(np.zeros(5), np.zeros(5), [0, 0]),
    "constant, no rows": lambda make: without_rows(make(np.full(5, 3.0), np.ones(5), [3, 3])),
    "one bin": lambda make: make(X, NOISE, [0, 1]),
    "many bins": lambda make: make(X, NOISE, np.linspace(0, 1, 101)),
    "linear bins": lambda make: make(X, X + NOISE, LIMITS, linear=True),
    "empty bins": lambda make: make(X**4, NOISE, LIMITS),
    "first and last bin empty": lambda make: make(X, NOISE, np.linspace(-1, 2, 10)),
    "x near 1e9": lambda make: make(1.7e9 + 1e-3 * X, NOISE, 1.7e9 + 1e-3 * LIMITS),
    "large x": lambda make: make(1e9 * X, NOISE, 1e9 * LIMITS),
    "tiny x": lambda make: make(1e-9 * X, NOISE, 1e-9 * LIMITS),
    "large effect": lambda make: make(X, 1e140 * NOISE, LIMITS),
    "tiny effect": lambda make: make(X, 1e-140 * NOISE, LIMITS),
    "no effect": lambda make: make(X, np.zeros(500), LIMITS),
    "no spread": lambda make: make(X, np.full(500, 0.1), LIMITS),
    "rounding for spread": lambda make: make(X, 0.1 + 1e-17 * NOISE, LIMITS),
    "one odd row": lambda make: make(X, 1e9 * (X.argmax() == np.arange(500)), LIMITS),
    "three rows": lambda make: make([0, 0.4, 1], [1, 2, 4], LIMITS),
    "one row": lambda make: make([0.5], [1], [0, 1]),
    "no sample": lambda make: make(X, NOISE, LIMITS, sample=False),
    "long names": lambda make: make(X, NOISE, LIMITS, name="long " * 40, output="name_" * 40),
    "dollars": lambda make: make(X, NOISE, LIMITS, name="$\\frac{", output="_a_ $x^2$ %"),
    "signs": lambda make: make(X, NOISE, LIMITS, name="<b> \U0001f995 日本\n\t&", output="_"),
    "no name": lambda make: make(X, NOISE, LIMITS, name="", output=""),
}


def without_rows(effect):
    unknown = np.full(effect.mean.size, np.nan)
    nothing = np.zeros_like(effect.count)
    return replace(effect, level=unknown, std=unknown, level_error=unknown, count=nothing)


@pytest.mark.parametrize("case", CASES)
def test_an_effect_is_drawn_without_a_warning(case, make_effect, render):
    effect = CASES[case](make_effect)
    assert render(plot_effect(effect, truth=np.square)[0])
    assert render(plot_all([effect])[0])
    assert render(plot_compare({effect.name: effect, "_again": effect}))


HOSTILE = ("<b>x</b>", "$\\frac{", "\U0001f995", "عربي", "", "\n", "n" * 1000, "_", "%s {0}")
SOME = Missing(3, 0.99, -1.0, 0.5, 4.0)
LEVEL_CASES = {
    "two": lambda make: make(("no", "yes"), 1.0),
    "hostile names": lambda make: make(HOSTILE, 1.0, name="$\\frac{", missing=SOME),
    "fifty": lambda make: make([f"level {i}" for i in range(50)], 1.0, noise=1.0),
    "three hundred": lambda make: make([f"level {i}" for i in range(300)], 1.0),
    "one row each": lambda make: make(tuple("abc"), 1.0, rows=1),
    "one level": lambda make: make(("a",), ()),
    "one level, missing": lambda make: make(("a",), (), missing=SOME),
    "twenty numbers": lambda make: make([str(i) for i in range(20)], 1.0, edges=np.arange(20.0)),
    "uneven numbers": lambda make: make(tuple("abc"), 1.0, edges=[0.0, 1.0, 1e6], missing=SOME),
    "large": lambda make: make(tuple("abc"), 1e140, noise=1e140),
    "tiny": lambda make: make(tuple("abc"), 1e-140, noise=1e-140),
    "nothing": lambda make: make(tuple("abc"), 0.0),
    "unknown": lambda make: make(("a", "b"), 1.0, missing=Missing(0, 0.0, np.nan, np.nan, 0.0)),
    "all missing": lambda make: make(("a", "b"), 1.0, missing=Missing(9, 1.0, 1.0, np.nan, 1.0)),
}


@pytest.mark.parametrize("case", LEVEL_CASES)
def test_an_effect_of_levels_is_drawn_without_a_warning(case, make_levels, render):
    effect = LEVEL_CASES[case](make_levels)
    assert render(plot_effect(effect, kind="both")[0])
    assert render(plot_all([effect])[0])
    assert render(plot_compare({effect.name: effect, "_again": effect}))


@pytest.mark.parametrize("method", ["pdp", "ice", "mplot"])
@pytest.mark.parametrize("n_points", [1, 2, 30])
def test_a_profile_is_drawn_without_a_warning(method, n_points, make_profile, render):
    profile = make_profile(method, n_points=n_points)
    assert render(plot_profile(profile))
    assert render(plot_profile(profile, center=None))
    assert render(plot_all([profile])[0])
    assert render(plot_compare({"profile": profile}))


def test_a_name_is_shown_letter_by_letter(make_effect):
    effect = make_effect(X, NOISE, LIMITS, name="$a_b$", output="_y_$2$")
    top, bottom = plot_effect(effect)
    (panel,) = plot_all([effect])
    texts = [bottom.xaxis.label, bottom.yaxis.label, top.yaxis.label, panel._left_title]
    assert not any(text.get_parse_math() or text.get_usetex() for text in texts)
    assert "$a_b$" in bottom.get_xlabel()
    assert "_y_$2$" in top.get_ylabel()


def test_no_default_of_matplotlib_changes(effect, make_profile, render):
    before = dict(mpl.rcParams)
    for ax in (plot_effect(effect)[0], plot_all([effect])[0], plot_profile(make_profile())):
        render(ax)
    assert dict(mpl.rcParams) == before


def test_pyplot_knows_the_figure_whether_or_not_it_was_imported_before(effect, monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    top, _ = plot_effect(effect)
    import matplotlib.pyplot as plt

    assert plt.gcf() is top.figure
    plt.close("all")


def test_pyplot_lets_go_of_a_figure_that_is_closed(effect):
    plt = pytest.importorskip("matplotlib.pyplot")
    before = plt.get_fignums()
    ax = plot_compare({"age": effect})
    try:
        assert plt.gcf() is ax.figure
    finally:
        plt.close(ax.figure)
    assert plt.get_fignums() == before


def test_given_axes_need_no_figure_of_pyplot(effect):
    plt = pytest.importorskip("matplotlib.pyplot")
    before = plt.get_fignums()
    plot_effect(effect, ax=mpl.figure.Figure().subplots(2, 1))
    assert plt.get_fignums() == before


def test_a_figure_can_be_pickled(effect, make_levels, render):
    missing, levels = replace(effect, missing=SOME), make_levels(HOSTILE, 1.0)
    plots = (plot_effect(effect)[0], plot_all([missing])[0], plot_effect(levels)[0])
    for ax in plots:
        copy = pickle.loads(pickle.dumps(ax.figure))  # noqa: S301 - our own bytes
        assert render(copy.axes[0])


def test_a_constant_next_to_zero_is_drawn():
    table = np.column_stack([np.full(50, 1e-320), np.arange(50.0)])
    axes = rhale.explain(lambda rows: rows[:, 1], table, bins=3).plot("x0")
    np.ravel(axes)[0].get_figure().canvas.draw()
