"""Parts send about their share of the sample; whatever their sizes, the rows that count are the same."""

import pickle

import numpy as np
import pytest

import rhale
from rhale.execution import open_parts
from rhale.features.feature import SURVEY_ROWS

N_ROWS = 30_000
ROWS = np.random.default_rng(4).normal(size=(N_ROWS, 8)).astype(np.float32)
EVEN = [N_ROWS // 60] * 60
ONE_LARGE_ONE = [100] * 60 + [N_ROWS - 6_000]  # sends a few thousand rows: not enough for a sample
HALF_AT_THE_END = [N_ROWS // 120] * 60 + [N_ROWS // 2]  # enough, but not those with small keys


class Drawn:
    """Parts of random rows, made when they are asked for."""

    def __init__(self, n_parts, make):
        self.n_parts, self.make = n_parts, make

    def __len__(self):
        return self.n_parts

    def __getitem__(self, index):
        return self.make(np.random.default_rng(index))


class Parts:
    """An engine in this process, which counts passes and what comes back in each."""

    name, no_resume = "parts", ""

    def __init__(self):
        self.sent = []

    def map_parts(self, part_task, source, first):
        self.sent.append([])
        for index in range(first, len(source)):
            summary = part_task(index, [source[index]])
            self.sent[-1].append(len(pickle.dumps(summary)))
            yield summary


def model(rows):
    return np.sin(rows[:, 0]) + rows[:, 1] * rows[:, 2]


def slopes(rows):
    found = np.zeros(rows.shape)
    found[:, 0] = np.cos(rows[:, 0])
    found[:, 1], found[:, 2] = rows[:, 2], rows[:, 1]
    return found


def explain(data, **asked):
    bins = rhale.Quantile(20)  # of the sampled rows
    return rhale.explain(model, data, gradient=slopes, features=[0, 1], bins=bins, **asked)


def in_parts(sizes, **asked):
    engine = Parts()
    parts = np.split(ROWS, np.cumsum(sizes)[:-1])
    return explain(open_parts(ROWS[:0], parts, engine), **asked), engine.sent


@pytest.mark.parametrize(
    ("sizes", "n_passes"), [(EVEN, 2), (ONE_LARGE_ONE, 3), (HALF_AT_THE_END, 3)]
)
def test_parts_of_any_size_give_the_rows_of_the_table_in_memory(sizes, n_passes):
    found, sent = in_parts(sizes)
    assert len(sent) == n_passes  # one more where too few rows came back
    whole = explain(ROWS)
    np.testing.assert_array_equal(found.sample_x, whole.sample_x)
    for one, other in zip(found.values(), whole.values(), strict=True):
        np.testing.assert_array_equal(one.edges, other.edges)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-11)


def test_an_interrupted_second_look_goes_on(tmp_path):
    whole, _ = in_parts(ONE_LARGE_ONE)
    calls = []

    def stop(done, total):  # noqa: ARG001
        calls.append(done)
        if len(calls) == len(ONE_LARGE_ONE) + 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_parts(ONE_LARGE_ONE, checkpoint=tmp_path, progress=stop)
    again, sent = in_parts(ONE_LARGE_ONE, checkpoint=tmp_path)
    assert [len(parts) for parts in sent] == [len(ONE_LARGE_ONE) - 30, len(ONE_LARGE_ONE)]
    assert again.effects == whole.effects


def test_parts_of_a_large_table_send_less_than_two_hundred_kilobytes():
    """The first ones fill the sample; those behind know how many came before."""
    parts = Drawn(50, lambda rng: rng.normal(size=(SURVEY_ROWS + 1, 8)).astype(np.float32))
    engine = Parts()
    table = open_parts(ROWS[:0], parts, engine)
    rhale.explain(model, table, gradient=slopes, bins=rhale.Fixed(5))
    first_pass, second_pass = engine.sent
    assert min(first_pass[:4]) > 80 * SURVEY_ROWS  # all of the sample: key, weight and values
    assert max(first_pass[40:]) < 200_000
    assert max(second_pass) < 200_000


@pytest.mark.parametrize(
    ("make", "n_passes"),
    [
        (lambda rng: ROWS[rng.integers(0, N_ROWS, N_ROWS)], 2),
        (lambda rng: ROWS[rng.integers(0, N_ROWS, N_ROWS // 4)], 2),
        (lambda rng: rng.permutation(ROWS), 3),  # copies: no part sees that rows repeat
    ],
)
def test_rows_that_repeat_are_sampled_as_in_memory(make, n_passes):
    engine, parts = Parts(), Drawn(30, make)
    found = explain(open_parts(ROWS[:0], parts, engine))
    whole = explain(np.concatenate([parts[index] for index in range(30)]))
    assert len(engine.sent) == n_passes
    np.testing.assert_array_equal(found.sample_x, whole.sample_x)
    np.testing.assert_array_equal(found.sample_weight, whole.sample_weight)
    np.testing.assert_array_equal(found["x0"].edges, whole["x0"].edges)
