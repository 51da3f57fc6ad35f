import tracemalloc
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import rhale
from rhale.data import open_table
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import ModelCells, Unbinned, bin_cells
from rhale.effects.binning.moments import measure_moments
from rhale.effects.local.measure import (
    Conclusion,
    MeasuredChunk,
    MeasureTask,
    PartResult,
    SampleParts,
    SubsetQuery,
    chances,
    with_bins,
)
from rhale.effects.local.queries import STACKED_ROWS

N, D = 1500, 3
X = np.random.default_rng(5).normal(size=(N, D))
FIRST = 32 + 16  # rows of the first question and of its repetition
PROBE = N // 20  # rows that tell smooth from stepped
MOVED = 14_000  # answers about rows that are moved along a feature, at most
CHECKED = 32  # rows at both sides of which a gradient is compared with predictions


def smooth(rows):
    return np.tanh(rows[:, 0]) + rows[:, 0] * rows[:, 1]


def stepped(rows):
    return np.floor(6 * rows).sum(axis=1) + np.floor(rows[:, 0]) * np.floor(rows[:, 1])


def slopes(rows):
    return np.column_stack([1 - np.tanh(rows[:, 0]) ** 2 + rows[:, 1], rows[:, 0], 0 * rows[:, 2]])


class Counter:
    """Counts calls, rows and the largest call of a model."""

    def __init__(self, function):
        self.function, self.calls, self.rows, self.largest = function, 0, 0, 0

    def __call__(self, rows):
        self.calls += 1
        self.rows += len(rows)
        self.largest = max(self.largest, len(rows))
        return self.function(rows)


class CountingModule(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function, self.rows = function, 0

    def forward(self, rows):
        self.rows += len(rows)
        return self.function(rows)


OPTIONS = {
    "rhale": {},
    "rhale, batches": {"batch_size": 170},
    "rhale, a window": {"window": 0.1},
    "rhale, few rows": {"n_rows": 400},
    "rhale, one feature": {"features": 1},
    "rhale, weights": {"weights": np.arange(N) % 3},
    "gradient": {"gradient": slopes},
    "gradient, given": {"gradient": slopes, "local": "gradient"},
    "gradient, not wanted": {"gradient": slopes, "local": "secant"},
    "dale": {"gradient": slopes, "method": "dale"},
    "ale": {"method": "ale"},
    "ale, batches": {"method": "ale", "batch_size": 100},
    "pdp": {"method": "pdp"},
    "pdp, batches": {"method": "pdp", "batch_size": 170},
    "ice": {"method": "ice", "bins": 9},
    "mplot": {"method": "mplot"},
}


@pytest.mark.parametrize("model", [smooth, stepped])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_rows_that_were_asked_are_counted_exactly(model, options):
    counter = Counter(model)
    fx = rhale.explain(counter, X, **options)
    assert fx.provenance["rows_asked"] == counter.rows


@pytest.mark.parametrize(
    "function",
    [
        lambda rows: rows[:, 0] * rows[:, 1],
        lambda rows: rows.sign().sum(dim=1),
        lambda rows: rows.detach()[:, 0],
        lambda rows: rows[:, 0].round() + rows[:, 1],
    ],
    ids=["smooth", "gradient zero", "no gradient", "gradient partly zero"],
)
def test_the_rows_that_a_network_was_asked_are_counted_exactly(function):
    module = CountingModule(function)
    fx = rhale.explain(module, X)
    assert fx.provenance["rows_asked"] == module.rows


@pytest.mark.parametrize("model", [smooth, stepped])
def test_secants_cost_at_most_three_rows_per_row_and_feature_besides_the_sample(model):
    """Every other row by its key has a second window: half of them, and no more than chance is."""
    counter = Counter(model)
    rhale.explain(counter, X)
    half = N / 2 + 3 * np.sqrt(N / 4)
    beside = MOVED * D + N + FIRST + PROBE * (1 + 2 * D)
    assert counter.rows <= (2 * N + 2 * half) * D + beside
    if model is smooth:  # two for each feature of one window; x2, without effect, may need three
        assert counter.rows <= 2 * N * D + 2 * half + beside


def test_ale_costs_two_rows_per_row_and_feature_and_a_bounded_sample():
    rows = np.random.default_rng(0).normal(size=(5000, D))
    counter = Counter(smooth)
    rhale.explain(counter, rows, method="ale")
    assert 2 * 5000 * D <= counter.rows <= 2 * 5000 * D + MOVED * D + 2000 + FIRST


def test_gradients_cost_one_pass():
    counter, derivative = Counter(smooth), Counter(slopes)
    rhale.explain(counter, X, gradient=derivative)
    assert derivative.rows <= N + PROBE
    x2_has_no_effect = 2 * PROBE  # is that so?
    assert counter.rows <= N + PROBE + x2_has_no_effect + 2 * D * CHECKED + FIRST + MOVED * D


@pytest.mark.parametrize("method", ["pdp", "ice"])
def test_profiles_ask_in_large_stacked_batches_and_never_once_per_point(method):
    counter = Counter(stepped)
    fx = rhale.explain(counter, X, method=method)
    n_points = sum(profile.grid.size for profile in fx.values())
    assert n_points > 100
    assert counter.rows == FIRST + N + N * n_points
    assert counter.calls <= 2 + 1 + D * (np.ceil(51 * N / STACKED_ROWS) + 1)
    assert 0.9 * STACKED_ROWS < counter.largest <= STACKED_ROWS


@pytest.mark.parametrize("method", ["rhale", "ale"])
def test_secants_of_all_features_are_asked_together(method):
    counter = Counter(stepped)
    rhale.explain(counter, X, method=method)
    assert counter.calls <= 8  # one of them about rows that are moved to places near
    assert counter.largest >= 2 * N * D


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "mplot"])
def test_no_call_is_larger_than_the_batch_that_was_asked_for(method):
    counter = Counter(stepped)
    rhale.explain(counter, X, method=method, batch_size=200)
    assert counter.largest <= 200


def test_slopes_beside_steps_are_asked_for_in_batches_and_added_up_in_larger_chunks(monkeypatch):
    rows, seen = np.column_stack([X[:, :2], np.arange(N) % 3]), []
    predict, gradient, measure = Counter(smooth), Counter(slopes), MeasureTask.__call__

    def count(task, chunk):
        seen.append(chunk.n_rows)
        return measure(task, chunk)

    monkeypatch.setattr(MeasureTask, "__call__", count)
    rhale.explain(predict, rows, gradient=gradient, batch_size=60)
    assert predict.largest == gradient.largest == 60
    assert seen == [960, 540]  # sixteen batches, and the rest


def test_threads_change_no_bit_where_chunks_hold_several_batches():
    one, two = (
        rhale.explain(smooth, X, gradient=slopes, batch_size=60, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert one.effects == two.effects


def test_the_sample_is_bounded_and_does_not_depend_on_batches():
    rows = np.random.default_rng(0).normal(size=(5000, D))
    whole, pieces = (rhale.explain(smooth, rows, batch_size=size) for size in (None, 111))
    assert len(whole.sample_x) == 2000
    assert {tuple(r) for r in whole.sample_x} == {tuple(r) for r in pieces.sample_x}
    assert {tuple(r) for r in whole.sample_x} <= {tuple(r) for r in rows}
    assert whole.predictions[:, 0] == pytest.approx(smooth(whole.sample_x), rel=1e-12)


def test_answers_about_the_features_do_not_pile_up_in_memory():
    """The columns of 24 more features and their cells may, the 4 x 4 answers about each number not.

    Partners look at a bounded number of rows, whatever the table, and are left out here.
    """
    rows, peaks = np.random.default_rng(0).normal(size=(20_000, 32)), []
    for n_features in (8, 32):
        tracemalloc.start()
        rhale.explain(
            lambda r: np.floor(r[:, :4]), rows, features=range(n_features), partners=False
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    columns = 8 * 20_000 * 24
    cells = 8 * 600 * 24 * 4 * 3 * 3  # limits of 20,000 rows; outputs, series, moments of a series
    search = 8 * 600 * 2000  # runs of the cells of some axes, whatever the number of features
    moved = 2 * 8 * 2000 * 24 * 4 * 6  # increments that are kept, and laid side by side
    assert peaks[1] - peaks[0] < 8 * columns + cells + search + moved


def test_steps_beside_gradients_do_not_ask_about_the_rows_again():
    rows, seen = X.copy(), []
    rows[:, 2] = np.arange(N) % 5

    def model(rows):
        seen.append(len(rows))
        return rows[:, 0] + rows[:, 2]

    fx = rhale.explain(model, rows, gradient=lambda r: np.tile([1.0, 0.0, 1.0], (len(r), 1)))
    assert fx.provenance["kinds"]["x2"] == "steps"
    flat = 2 * PROBE  # x1 is flat: its windows are probed
    checked = 2 * 2 * CHECKED  # x0 and x1: steps have no gradient
    moved = (7 + 7 + 5) * N  # an eighth of 24 places on both sides; all five levels
    assert sum(seen) == FIRST + PROBE + flat + checked + N + 2 * N + moved
    assert fx.provenance["rows_asked"] == sum(seen)


# --- some of the rows ----------------------------------------------------------------------------


def test_values_of_rows_that_do_not_count_are_as_if_they_had_none():
    x = np.array([1.0, 2.0, np.nan])
    rows = MeasuredChunk(None, np.arange(3, dtype=np.uint64), np.arange(3))
    assert rows.count_only(x) is x
    some = replace(rows, counted=np.array([True, False, True]))
    np.testing.assert_array_equal(some.count_only(x), [1.0, np.nan, np.nan])
    np.testing.assert_array_equal(x, [1.0, 2.0, np.nan])


def test_sampled_rows_are_taken_up_to_a_key_and_searched_where_they_weigh():
    key = np.array([2, 5, 9], dtype=np.uint64)
    whole = SampleParts(
        np.arange(3.0)[:, None], (np.arange(3.0)[:, None],), np.array([1.0, 0.0, 2.0]), key
    )
    assert whole.up_to(np.uint64(5)).key.tolist() == [2, 5]
    assert whole.up_to(np.uint64(4)).predictions.tolist() == [[0.0]]
    found = whole.searched(np.uint64(9))
    assert found.key.tolist() == [2, 9]
    assert found.kept[0].tolist() == found.predictions.tolist() == [[0.0], [2.0]]
    assert whole.searched(np.uint64(8)).weight.tolist() == [1.0]


@dataclass(frozen=True)
class JumpAsker:
    """Answers with what it was asked, and remembers the walks."""

    walks: list

    def ask_jumps(self, chunk, questions, counted):  # noqa: ARG002
        self.walks.append([question.column for question in questions])
        return [question.what for question in questions]


def test_a_column_that_is_asked_about_again_is_walked_again():
    asker = JumpAsker([])
    questions = [
        SimpleNamespace(column=column, what=place)
        for place, column in enumerate([0, 1, 0, 0, 2, 1])
    ]
    chunk = open_table(X).chunk(0, 4)
    rows = MeasuredChunk(chunk, np.arange(4, dtype=np.uint64), np.arange(0))
    replies = MeasureTask(asker, (), np.uint64(0), 0, 4.0).ask_jumps(rows, questions)
    assert replies == list(range(6))  # in the order of the questions
    assert asker.walks == [[0, 1, 2], [0, 1], [0]]


def test_chances_fill_the_unit_interval_and_never_reach_one():
    largest = np.iinfo(np.uint64).max
    found = chances(np.array([0, 2**63, largest], dtype=np.uint64))
    assert found[:2].tolist() == [0.0, 0.5]
    assert found[2] < 1.0


def test_rows_that_are_alike_are_taken_once_up_to_a_key():
    rows = MeasuredChunk(None, np.array([7, 3, 7, 1, 9, 3], np.uint64), np.array([0, 1, 2, 4, 5]))
    some, among = rows.distinct_up_to(np.uint64(8))
    assert some.tolist() == [0, 1]  # as they stand in the chunk
    assert among.tolist() == [0, 1, 0, -1, 1]
    assert rows.distinct_up_to(np.uint64(8))[0] is some  # so that questions are put together
    assert rows.distinct_up_to(np.uint64(0))[0].size == 0


def test_every_other_row_is_half_of_them_by_keys_that_tell_neither_groups_nor_halves():
    key = np.arange(256, dtype=np.uint64)
    other = MeasuredChunk(None, key, np.arange(0)).every_other
    assert other.size == 128
    for bits in (1, 31):  # as many of each half, and of each group
        counts = np.bincount((key[other] & np.uint64(bits)).astype(int))
        assert (counts == 128 / (bits + 1)).all()


def test_what_is_asked_about_the_same_rows_is_asked_together():
    calls = []

    class Asker:
        outputs = ("y",)

        def changes_at_once(self, *_):
            return 3

        def ask(self, chunk, changes):
            calls.append((chunk.n_rows, len(changes)))
            return np.array([values for _, values in changes])[:, :, None]

    some, others = np.array([0, 2]), np.array([1, 2, 3])
    asides = [
        SubsetQuery(rows, [(0, np.full(rows.size, 10.0 * k + j)) for j in range(n)])
        for k, (rows, n) in enumerate([(some, 2), (others, 1), (some, 2), (np.empty(0, int), 2)])
    ]
    task = MeasureTask(Asker(), (), np.uint64(0), 0)
    found = task.ask_subsets(open_table(X).chunk(0, 4), asides)
    assert calls == [(2, 3), (2, 1), (3, 1)]
    assert [answers[:, :, 0].tolist() for answers in found] == [
        [[0.0, 0.0], [1.0, 1.0]],
        [[10.0, 10.0, 10.0]],
        [[20.0, 20.0], [21.0, 21.0]],
        [[], []],
    ]


def test_rows_are_kept_up_to_the_largest_of_three_keys():
    assert MeasureTask(None, (), np.uint64(5), 0, moved_key=np.uint64(9)).kept_key == 9
    assert MeasureTask(None, (), np.uint64(5), 0).kept_key == 5
    assert MeasureTask(None, (), np.uint64(5), 0, 1.0, np.uint64(9)).kept_key == 9
    assert MeasureTask(None, (), np.uint64(5), 0, 1.0, np.uint64(3)).kept_key == 5


class Together(rhale.models.Adapter):
    """A function whose slopes come with its answers."""

    kind = "function"
    is_differentiable = True

    def predict(self, rows):
        return rows[:, 0] * rows[:, 1]

    def gradient(self, rows, outputs):
        assert list(outputs) == [0]
        return self.predict(rows), rows[:, None, ::-1]


def test_a_function_with_a_gradient_is_asked_about_sampled_rows_alone():
    """Slopes of all rows, answers of those that a result keeps or moves; the numbers are the same."""
    x, asked = np.random.default_rng(0).normal(size=(30_000, 2)), []

    def product(rows):
        asked.append(len(rows))
        return rows[:, 0] * rows[:, 1]

    found = rhale.explain(product, x, gradient=lambda rows: rows[:, ::-1])
    assert 2_000 + 2 * MOVED <= sum(asked) < 3_000 + 2 * MOVED
    for one, other in zip(found.values(), rhale.explain(Together(), x).values(), strict=True):
        assert one == other
    assert found.provenance["explained_variance"]["y0"] == pytest.approx(0.0, abs=0.05)


def test_answers_that_a_measure_needs_are_asked_for_all_the_same():
    """Steps between levels are differences of predictions, of all rows."""
    rng, asked = np.random.default_rng(0), []
    x = np.column_stack([rng.normal(size=5_000), rng.integers(0, 3, 5_000)])

    def sum_of_both(rows):
        asked.append(len(rows))
        return rows.sum(axis=1)

    found = rhale.explain(sum_of_both, x, gradient=np.ones_like)
    assert sum(asked) >= 5_000 + 2 * 5_000
    np.testing.assert_allclose(found["x1"].mean, 1.0)


def test_bins_of_parts_are_chosen_together_and_each_is_put_where_it_waits():
    rng = np.random.default_rng(0)
    edges, x = np.linspace(0, 1, 9), rng.uniform(0, 1, (4, 300))
    cells = [measure_moments(Grid(edges), x[k], (k + x[k])[None]) for k in range(4)]
    waiting = [Unbinned(f"f{k}", "y", [ModelCells(cells[k])], rhale.Fixed(2 + k)) for k in range(4)]
    parts = (
        PartResult(0, 0, 0, waiting[1]),
        PartResult(0, 1, 0, None),
        PartResult(0, 2, 0, "done"),
    )
    made = [
        Conclusion(results=(waiting[0], "as it is"), parts=parts),
        Conclusion(parts=(PartResult(1, 0, 0, waiting[2]),)),
        Conclusion(results=(waiting[3],)),
    ]
    first, second, third = with_bins(made)
    assert (first.results[1], first.parts[1].effect, first.parts[2].effect) == (
        "as it is",
        None,
        "done",
    )
    found = [first.results[0], first.parts[0].effect, second.parts[0].effect, third.results[0]]
    for effect, one in zip(found, waiting, strict=True):
        assert (effect.name, effect.n_parts) == (one.name, one.partition.n_bins)
        assert effect == bin_cells(one.name, "y", one.models[0].cells, one.partition)


@pytest.mark.parametrize("features", [[1], [2, 0], None])
def test_slopes_are_those_of_the_explained_columns(features):
    slopes = np.array([1.0, 20.0, 300.0])
    x = np.random.default_rng(0).normal(size=(500, 3))
    found = rhale.explain(
        lambda rows: rows @ slopes, x, gradient=lambda rows: rows * 0 + slopes, features=features
    )
    for effect in found.values():
        np.testing.assert_allclose(effect.mean, slopes[int(effect.name[1])], rtol=1e-12)
