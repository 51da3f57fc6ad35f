"""Pairs of features: what all of them cost in predictions or gradients, beside other programs."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from bench_callable import AT_MOST_ASIDE
from measuring import Counted, race_of_processor, seconds

import rhale
from rhale.models import wrap

N_FEATURES, N_TREES = 30, 100
N_PAIRS = N_FEATURES * (N_FEATURES - 1) // 2
N_SLOPES = 20  # features of networks
SIZE = f"{N_FEATURES} features, {N_TREES} trees of 31 leaves"


@cache
def table(n_rows, n_features=N_FEATURES):
    return np.random.default_rng(0).uniform(-1, 1, (n_rows, n_features))


def interacting(x):
    return 3 * x[:, 0] * (x[:, 4] > 0.2) + np.sin(4 * x[:, 1]) + x[:, 2] * x[:, 3]


@cache
def trees(n_rows=100_000):
    """On one thread, as the walk is."""
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    pytest.importorskip("treelite")
    x, noise = table(n_rows), 0.1 * np.random.default_rng(1).normal(size=n_rows)
    model = lightgbm.LGBMRegressor(n_estimators=N_TREES, n_jobs=1, verbose=-1)
    return model.fit(x, interacting(x) + noise)


@pytest.mark.parametrize("n_rows", [10_000, 100_000])
def test_all_pairs_of_trees_cost_a_few_predictions(ledger, n_rows):
    x, model = table(n_rows), trees()
    rhale.interactions(model, x[:2_000], n_jobs=1)  # compiled, if it was not

    found = race_of_processor(
        lambda: rhale.interactions(model, x, n_jobs=1), lambda: model.predict(x), rounds=5
    )

    walked, names = found.our_answer, [pair.names for pair in found.our_answer.ranked()[:3]]
    asked = rhale.interactions(wrap(model, walk=False), x, pairs=names, n_jobs=1)
    assert len(walked) == N_PAIRS
    assert set(names[:2]) == {("x0", "x4"), ("x2", "x3")}
    for pair in asked.values():
        same = walked[pair.names]
        assert (same.way, pair.way) == ("walk", "corners")
        np.testing.assert_allclose(same.heights, pair.heights, rtol=0, atol=1e-9)
        assert same.strength == pytest.approx(pair.strength, abs=1e-9)
        assert same.strength_error == pytest.approx(pair.strength_error, abs=1e-9)
    ledger.add(
        f"interactions of LightGBM, all {N_PAIRS} pairs, against one `predict`",
        f"{SIZE}, {n_rows:,} rows",
        seconds(found.ours),
        f"{seconds(found.other)}; as a black box {4 * N_PAIRS:,} times this",
        f"{found.cost:.2g} predicts",
        "<= 5" if n_rows >= 100_000 else "",
        met=found.cost <= 5 if n_rows >= 100_000 else None,
    )


def h_squares(predict, x, first, second):
    """Mean squares of F_jk - F_j - F_k and of F_jk at the rows, every row meeting every other."""

    def dependence(columns):
        made = np.tile(x, (len(x), 1))
        made[:, columns] = np.repeat(x[:, columns], len(x), axis=0)
        mean = predict(made).reshape(len(x), len(x)).mean(axis=1)
        return mean - mean.mean()

    both = dependence([first, second])
    left = both - dependence([first]) - dependence([second])
    return np.mean(left**2), np.mean(both**2)


def test_h_of_all_pairs_costs_some_predictions(ledger):
    x, model, n_few = table(10_000), trees(), 300
    few = rhale.interactions(model, x[:n_few], method="h", n_jobs=1)

    found = race_of_processor(
        lambda: rhale.interactions(model, x, method="h", n_jobs=1),
        lambda: model.predict(x),
        rounds=5,
    )

    assert found.our_answer.provenance["sample_rows"] == 2_000
    assert few.provenance["sample_rows"] == n_few
    for first, second in ((0, 4), (2, 3), (1, 4)):
        left, both = h_squares(model.predict, x[:n_few], first, second)
        pair = few[f"x{first}", f"x{second}"]
        assert pair.strength == pytest.approx(np.sqrt(left), abs=1e-9)
        assert pair.h2 == pytest.approx(left / both, abs=1e-9)
    brute = 2_000**2 * (2 * N_FEATURES + N_PAIRS) / len(x)
    ledger.add(
        f"H of all {N_PAIRS} pairs on 2,000 rows, against one `predict` of 10,000",
        f"{SIZE}, 10,000 rows",
        seconds(found.ours),
        f"{seconds(found.other)}; asked row by row {brute:,.0f} times this",
        f"{found.cost:.2g} predicts",
        "<= 12",
        met=found.cost <= 12,
    )


def mixing_network(widths):
    """Untrained, and steep enough to mix its inputs."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers = []
    for n_in, n_out in pairwise(widths):
        layers += [torch.nn.Linear(n_in, n_out), torch.nn.SiLU()]
        with torch.no_grad():
            layers[-2].weight *= 3
    return torch.nn.Sequential(*layers[:-1]).eval()


@pytest.mark.parametrize(
    ("widths", "rounds"),
    [((N_SLOPES, 32, 32, 1), 5), ((N_SLOPES, 256, 128, 36, 1), 3)],
    ids=["small", "middling"],
)
def test_all_pairs_of_a_network_cost_two_gradients_a_feature(ledger, widths, rounds):
    torch = pytest.importorskip("torch")
    from bench_torch import plain_pass

    model, threads = mixing_network(widths), torch.get_num_threads()
    rows = table(20_000, N_SLOPES).astype(np.float32)
    torch.set_num_threads(1)
    rhale.interactions(model, rows[:5_000], n_jobs=1)  # compiled, if it was not
    found = race_of_processor(
        lambda: rhale.interactions(model, rows, n_jobs=1),
        lambda: plain_pass(model, rows, 2**12),
        rounds,
    )
    names = [pair.names for pair in found.our_answer.ranked()[:3]]
    asked = rhale.interactions(wrap(predict_alone(model)), rows, pairs=names, n_jobs=1)
    torch.set_num_threads(threads)

    for pair in asked.values():  # slopes of a row instead of its cell: alike where cells are narrow
        same = found.our_answer[pair.names]
        assert (same.way, pair.way) == ("gradient", "corners")
        assert same.strength == pytest.approx(pair.strength, rel=0.03)
    by_feature = found.cost / N_SLOPES
    ledger.add(
        "interactions of a torch network, all pairs, against forward + backward",
        f"{N_SLOPES} features, {'-'.join(map(str, widths))}, {len(rows):,} rows",
        seconds(found.ours),
        f"{seconds(found.other)}, with plain batches of 4,096",
        f"{by_feature:.2f} a feature",
        "<= 2.3",
        met=by_feature <= 2.3,
    )


def predict_alone(model):
    """The same network, of which nothing but predictions is known."""
    torch = pytest.importorskip("torch")

    def predict(rows):
        with torch.no_grad():
            return model(torch.as_tensor(np.asarray(rows, dtype=np.float32))).numpy()[:, 0]

    return predict


def test_a_function_is_asked_four_times_a_row_and_pair(ledger):
    n_rows, n_features = 20_000, 6
    x, model = table(n_rows, n_features), Counted(interacting)

    ix = rhale.interactions(model, x, pairs="all")

    n_asked = n_rows * (4 * len(ix) + 1)
    assert ix.provenance["rows_asked"] == model.n_rows
    assert ix["x2", "x3"].strength == pytest.approx(1 / 3, rel=0.02)  # of two uniform features
    assert ix["x0", "x1"].strength == pytest.approx(0, abs=1e-9)
    assert model.n_rows >= n_asked
    ledger.add(
        "rows evaluated by interactions, pairs='all'",
        f"{n_features} features, {len(ix)} pairs, {n_rows:,} rows",
        model.asked,
        f"{n_rows * len(ix):,} rows x pairs, and {n_rows:,} rows",
        f"{(model.n_rows - n_rows) / (n_rows * len(ix)):.3f}",
        "4",
        met=model.n_rows - n_asked <= AT_MOST_ASIDE,
    )


@pytest.mark.parametrize("n_rows", [10_000, 100_000])
def test_partners_cost_little_beyond_an_explanation(ledger, n_rows):
    x, model = table(n_rows), trees()
    rhale.explain(model, x[:2_000], n_jobs=1)

    found = race_of_processor(
        lambda: rhale.explain(model, x, n_jobs=1),
        lambda: rhale.explain(model, x, partners=False, n_jobs=1),
        rounds=5,
    )

    for told, effect in zip(found.our_answer, found.other_answer, strict=True):
        assert told.importance == effect.importance
    assert first_partner(found.our_answer, "x0") == "x4"
    assert first_partner(found.our_answer, "x2") == "x3"
    each = (found.ours - found.other) / (n_rows * N_FEATURES * (N_FEATURES - 1))
    ledger.add(
        "explain of LightGBM with partners, against partners=False",
        f"{SIZE}, {n_rows:,} rows",
        f"{seconds(found.ours)}: {1e9 * each:.2g} ns a row and ordered pair",
        seconds(found.other),
        f"{found.cost:.2f}",
        "<= 1.3, <= 8 ns",
        met=found.cost <= 1.3 and each <= 8e-9,
    )


def first_partner(explanation, name):
    return explanation.partners(name)[0].feature


def test_a_surface_with_its_errors_costs_some_eigenvalues(ledger):
    x = table(100_000)[:, :6]
    pair = rhale.interactions(interacting, x, pairs=[("x2", "x3")])["x2", "x3"]
    matrix = np.cov(table(2_000, 400).T)

    def read():
        anew = replace(pair)  # without what was found before
        return anew.heights, anew.standard_error, anew.strength_ci(), anew.p_value

    found = race_of_processor(read, lambda: np.linalg.eigh(matrix), rounds=9)

    heights, _, (low, high), p_value = found.our_answer
    first, second = pair.edges
    np.testing.assert_allclose(heights, np.multiply.outer(first, second), atol=0.02)
    assert low < 1 / 3 < high
    assert p_value < 1e-6
    ledger.add(
        "one surface with errors, interval and p, against eigenvalues of 400 x 400",
        f"{first.size - 1} x {second.size - 1} cells",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2g}",
        "<= 60 ms",
        met=found.ours <= 0.060,
    )


def py_ale(model, frame):
    """Surface of the first two columns by PyALE, at the limits of its bins."""
    ale = pytest.importorskip("PyALE").ale
    names = list(frame.columns[:2])
    return ale(frame, model, names, grid_size=20, include_CI=False, plot=False)


def read_as_in_r(model, frame, limits):
    names = tuple(frame.columns[:2])
    cells = tuple(rhale.Edges(some, closed="right") for some in limits)
    return rhale.interactions(model, frame, pairs=[names], cells=cells, reading="cells")[names]


def product_of_two(rows):
    rows = np.asarray(rows)
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


def test_one_pair_against_py_ale(ledger):
    frame = pd.DataFrame(table(20_000, 3), columns=["a", "b", "c"])
    theirs = py_ale(Counted(product_of_two), frame)
    limits, model, other = (theirs.index, theirs.columns), product_of_two, Counted(product_of_two)

    found = race_of_processor(
        lambda: read_as_in_r(model, frame, limits), lambda: py_ale(other, frame), rounds=3
    )

    np.testing.assert_allclose(found.our_answer.heights, theirs, atol=1e-9)
    tied = frame.assign(a=np.round(7 * frame["a"]) / 7)  # fewer bins than b has
    wrong = py_ale(Counted(product_of_two), tied)
    right = read_as_in_r(product_of_two, tied, (wrong.index, wrong.columns)).heights
    truth = np.multiply.outer(wrong.index, wrong.columns)
    assert np.max(np.abs(right - truth)) < 0.1
    ledger.add(
        "surface of one pair, against PyALE",
        "3 features, 20,000 rows, 20 x 20 cells",
        seconds(found.ours),
        f"{seconds(found.other)}; where a column has ties, off by {np.max(np.abs(right - wrong)):.2g}",
        f"{found.speedup:.3g} times as fast",
    )


def test_all_pairs_against_shap(ledger):
    shap = pytest.importorskip("shap")
    x, model, n_few = table(10_000), trees(), 100  # which take shap longer than all rows take us
    explainer = shap.TreeExplainer(model)

    found = race_of_processor(
        lambda: rhale.interactions(model, x, n_jobs=1),
        lambda: explainer.shap_interaction_values(x[:n_few]),
        rounds=2,
    )

    names = [f"x{i}" for i in range(N_FEATURES)]
    theirs = rhale.Interactions.from_shap(found.other_answer, names)
    ours = found.our_answer
    assert [p.names for p in theirs.ranked()[:2]] == [p.names for p in ours.ranked()[:2]]
    speedup = found.speedup * len(x) / n_few
    ledger.add(
        "interactions of LightGBM, all pairs, against SHAP interaction values",
        f"{SIZE}, 10,000 rows",
        seconds(found.ours),
        f"{seconds(found.other * len(x) / n_few)}: {seconds(found.other)} for {n_few}, times {len(x) // n_few}",
        f"{speedup:.3g} times as fast",
    )
