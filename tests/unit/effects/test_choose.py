"""Which local effects are taken, over which windows, and what the notes say about it."""

import numpy as np
import pytest
import torch

import problems
import rhale
from rhale.errors import BadSettingError

N = 1000
X = np.random.default_rng(8).uniform(-1, 1, size=(N, 2))


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, rows):
        return self.function(rows)


def signs(rows):
    return rows.sign().sum(dim=1)


def stairs(rows):
    return (rows[:, 0] * 10).round() / 10


# --- Gradients that say nothing --------------------------------------------------------------


@pytest.mark.parametrize("function", [signs, stairs])
def test_a_gradient_that_is_zero_everywhere_gives_way_to_secants_with_a_note(function):
    fx = rhale.explain(Module(function), X)
    note = fx["x0"].notes[0]
    assert note.startswith("the gradient is zero everywhere although predictions differ: effects")
    assert note.endswith(
        "over the nearest 10 % of rows, because predictions seem to change in steps"
    )
    assert fx.provenance["local_effects"]["x0"] == note


def test_secants_find_the_slope_of_a_staircase():
    effect = rhale.explain(Module(stairs), X, features=0)[0]
    assert effect.curve(0.8) - effect.curve(-0.8) == pytest.approx(1.6, rel=0.05)
    assert effect.heterogeneity < 0.15


def test_a_gradient_that_was_asked_for_stays_even_if_it_is_zero():
    fx = rhale.explain(Module(signs), X, local="gradient")
    assert fx["x0"].importance == 0.0
    assert rhale.explain(Module(signs), X, method="dale")["x0"].importance == 0.0


def test_a_model_without_any_effect_keeps_its_gradient():
    fx = rhale.explain(Module(lambda rows: 0 * rows[:, 0] + 2), X)
    assert fx.provenance["local_effects"]["x0"] == "effects measured by the gradient"
    assert fx["x0"].notes == ()


def test_a_gradient_that_is_zero_for_one_feature_only_is_kept_and_noted():
    fx = rhale.explain(Module(lambda rows: rows[:, 0] + (rows[:, 1] > 0) * 5.0), X)
    assert fx["x0"].mean == pytest.approx(np.ones(fx["x0"].mean.size))
    assert fx["x0"].notes == ()
    doubt, note = fx["x1"].notes
    assert doubt.kind == "audit"
    assert "zero although predictions change with this feature" in note
    assert "local='secant'" in note


def test_a_module_that_cuts_its_graph_is_explained_by_secants_and_says_why():
    fx = rhale.explain(Module(lambda rows: rows.detach()[:, 0] * 3), X)
    assert fx["x0"].notes[0].startswith("no gradient (the module's output does not depend")
    assert fx["x0"].mean == pytest.approx(np.full(fx["x0"].mean.size, 3.0), rel=1e-4)


# --- Smooth black boxes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem",
    [problems.sine_product(), problems.study_2(), problems.additive()],
    ids=lambda p: p.name,
)
def test_a_smooth_black_box_is_explained_as_by_its_gradient(problem):
    rows = problem.draw(2000, seed=3)
    bins = rhale.Fixed(10)
    by_secants = rhale.explain(problem.predict, rows, bins=bins)
    by_slopes = rhale.explain(problem.predict, rows, gradient=problem.gradient, bins=bins)
    for found, expected in zip(by_secants.values(), by_slopes.values(), strict=True):
        assert (
            found.notes[0] == "effects measured by finite differences over the nearest 1 % of rows"
        )
        size = np.abs(expected.sample.local_effects).max()
        dense = expected.count >= 40
        assert found.mean[dense] == pytest.approx(expected.mean[dense], abs=0.01 * size)
        assert found.std[dense] == pytest.approx(expected.std[dense], abs=0.02 * size)
        z = np.quantile(found.sample.x, np.linspace(0.02, 0.98, 30))
        reach = np.ptp(expected.curve(z))
        assert found.curve(z) == pytest.approx(expected.curve(z), abs=0.02 * reach)


# --- Windows ---------------------------------------------------------------------------------


def stepped(rows):
    return np.floor(rows[:, 0] * 10) / 10


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({}, "effects measured by finite differences over the nearest 10 % of rows"),
        ({"window": 0.2}, "effects measured by finite differences over the nearest 20 % of rows"),
    ],
)
def test_windows_given_by_hand_are_taken_and_noted(options, note):
    effect = rhale.explain(stepped, X, features=0, **options)[0]
    assert note in effect.notes[0]


@pytest.mark.parametrize(("n_rows", "share"), [(100, 15), (300, 15), (360, 12.5), (900, 10)])
def test_of_few_rows_a_window_takes_a_larger_share(n_rows, share):
    effect = rhale.explain(stepped, X[:n_rows], features=0)[0]
    assert f"over the nearest {share} % of rows" in effect.notes[0]


def test_the_window_of_a_secant_holds_the_share_that_was_asked_for():
    asked = []

    def model(rows):
        asked.append(rows.copy())
        return stepped(rows)

    rhale.explain(model, X, features=0, window=0.2, batch_size=10**6)
    every = X[np.argsort(X[:, 1])]
    own = next(rows for rows in asked if len(rows) == 2 * N)
    wide = next(rows for rows in asked if 0.8 * N < len(rows) < 1.2 * N and len(rows) != N)
    for rows, share in ((own, 0.2), (wide, 0.3)):  # of all rows, and of every other one
        low, high = rows[:, 0].reshape(2, -1)
        x = every[np.searchsorted(every[:, 1], rows[: low.size, 1]), 0]
        column = X[:, 0]
        below = np.array(
            [np.sum((column >= a) & (column < at)) for a, at in zip(low, x, strict=True)]
        )
        above = np.array(
            [np.sum((column <= b) & (column > at)) for b, at in zip(high, x, strict=True)]
        )
        free = np.abs(x) < 1 - 1.2 * share  # further out windows are bounded by the range
        denser = np.maximum(below, above)[free]
        assert denser == pytest.approx(np.full(denser.size, share * N / 2), abs=4)
        assert (x - low)[free] == pytest.approx((high - x)[free], rel=1e-9)
        assert low.min() >= X[:, 0].min()
        assert high.max() <= X[:, 0].max()


def test_windows_of_whole_numbers_end_at_whole_numbers():
    seen = []

    def model(rows):
        seen.append(np.unique(rows[:, 0]))
        return rows[:, 0] ** 2

    rows = np.random.default_rng(0).integers(0, 400, size=(N, 2)).astype(float)
    rhale.explain(model, rows, features=0)
    values = np.unique(np.concatenate(seen))
    assert np.array_equal(values, np.rint(values))


@pytest.mark.parametrize("method", ["ale", "pdp"])
def test_limits_of_whole_numbers_are_whole_numbers(method):
    rows = np.random.default_rng(0).integers(0, 7, size=(N, 2)).astype(float)
    fx = rhale.explain(lambda r: r[:, 0] ** 2, rows, features=0, method=method, bins=4)
    places = fx[0].edges if method == "ale" else fx[0].grid
    assert np.array_equal(places, np.rint(places))


# --- Bins ------------------------------------------------------------------------------------


def test_bins_of_another_explanation_are_taken_over():
    first = rhale.explain(stepped, X, bins=rhale.Edges([-1, 0.1, 1]))
    second = rhale.explain(lambda rows: rows[:, 0], X, bins=first)
    assert second["x0"].edges.tolist() == [-1, 0.1, 1]


def test_ale_with_different_bins_for_its_outputs_is_refused():
    def line_and_tent(rows):
        return np.column_stack([rows[:, 0], np.abs(rows[:, 0])])

    def slopes(rows):
        first = np.column_stack([np.ones(len(rows)), np.sign(rows[:, 0])])
        return np.stack([first, 0 * first], axis=2)

    several = rhale.explain(line_and_tent, X, gradient=slopes)
    assert several["x0", "y0"].mean.size == 1 < several["x0", "y1"].mean.size
    with pytest.raises(BadSettingError, match="same bins of 'x0' for all outputs"):
        rhale.explain(line_and_tent, X, method="ale", bins=several)


def test_quantile_limits_from_a_sample_say_so():
    rows = np.random.default_rng(0).normal(size=(30_000, 1))
    fx = rhale.explain(lambda r: r[:, 0], rows, method="ale", bins=rhale.Quantile(4))
    assert "the quantile limits come from a sample with 20,000 distinct values" in fx[0].notes
    assert fx[0].edges[1:-1] == pytest.approx(np.quantile(rows, [0.25, 0.5, 0.75]), abs=0.05)
    assert fx[0].edges[[0, -1]].tolist() == [rows.min(), rows.max()]
    assert fx[0].count.sum() == 30_000


# --- Bins that are chosen later --------------------------------------------------------------


def test_postponed_bins_are_one_bin_in_the_same_cells():
    from rhale.effects.local.choose import choose_measures, postpone_bins
    from rhale.features.feature import FirstPass
    from rhale.pipeline import open_run
    from rhale.settings import Settings

    def model(rows):
        return rows[:, 0] ** 2 + rows[:, 1]

    for method in ("rhale", "dale", "ale"):
        asked = Settings(
            method=method, gradient=lambda rows: np.c_[2 * rows[:, 0], rows[:, 1] ** 0]
        )
        with open_run(model, X, asked) as run:
            first = FirstPass.plan(run.table, run.asked)
            columns = first.resolve_columns(run.survey(first.task))
            asker = run.probe_model(columns)
            choice = choose_measures(columns, asker, run.asked)
            later = run.measure(asker, columns, postpone_bins(choice).measures)
            now = run.measure(asker, columns, choice.measures)
        assert all(np.array_equal(later.cells[f].mean, now.cells[f].mean) for f in now.cells)
        n_bins = [effect.edges.size - 1 for effect in later.results]
        assert n_bins == ([20, 20] if method == "ale" else [1, 1])
