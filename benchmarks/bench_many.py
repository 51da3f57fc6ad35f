"""Many features and many outputs: what one more costs beyond its local effects, and wide tables."""

from time import process_time

import numpy as np
import pytest
from known_curves import Sines, check_rise
from measuring import race_of_processor, seconds

import rhale
from rhale.stats import jit

N_MORE = 20  # features or outputs; then twice as many
ONE_MORE = {100_000: 6e-3, 300: 4e-3}  # seconds for one more effect, by rows
OUTPUT_FEATURES = 3
WIDE, WIDE_ROWS, WIDE_SECONDS = 2_000, 300, 10
OUTPUTS, OUTPUT_ROWS, OUTPUT_SECONDS = 500, 1_000, 6
TREE_FEATURES, TREE_ROWS, N_TREES, MOST_WALKS = 300, 100_000, 200, 2.5
FITTED_ROWS = 20_000  # that the trees are trained on: all rows take a minute


def use(way, monkeypatch):
    """Work by NumPy alone, or by compiled loops as a process does that has worked for a while."""
    if way == "compiled loops":
        pytest.importorskip("numba")
        jit.load_loops()
    monkeypatch.setattr(jit, "PAYS_FROM", 0 if way == "compiled loops" else np.inf)


def models(what, n):
    return Sines(n) if what == "feature" else Sines(OUTPUT_FEATURES, n)


@pytest.mark.parametrize("way", ["NumPy alone", "compiled loops"])
@pytest.mark.parametrize("n_rows", ONE_MORE)
@pytest.mark.parametrize("what", ["feature", "output"])
def test_one_more_costs_a_few_milliseconds(ledger, monkeypatch, what, n_rows, way):
    use(way, monkeypatch)
    few, many = models(what, N_MORE), models(what, 2 * N_MORE)
    some, all_rows = few.rows(n_rows), many.rows(n_rows)
    rounds = 3 if n_rows > 10_000 else 5
    many.check(many.explain(all_rows), all_rows)  # and warm

    whole = race_of_processor(lambda: many.explain(all_rows), lambda: few.explain(some), rounds)
    asked = race_of_processor(lambda: many.ask(all_rows), lambda: few.ask(some), rounds)

    more = N_MORE if what == "feature" else N_MORE * OUTPUT_FEATURES
    extra, answered = (whole.ours - whole.other) / more, (asked.ours - asked.other) / more
    rest = f" of {OUTPUT_FEATURES} features" if what == "output" else ""
    ledger.add(
        f"one more {what}, an effect: cost beyond local effects, {way}",
        f"{N_MORE} and {2 * N_MORE} {what}s{rest}, {n_rows:,} rows",
        f"{seconds(extra)} of explain",
        f"{seconds(answered)} of answers and slopes",
        seconds(extra - answered),
        f"<= {seconds(ONE_MORE[n_rows])}",
        met=extra - answered <= ONE_MORE[n_rows],
    )


@pytest.mark.parametrize(
    ("model", "n_rows", "most"),
    [
        pytest.param(Sines(WIDE), WIDE_ROWS, WIDE_SECONDS, id="columns"),
        pytest.param(Sines(OUTPUT_FEATURES, OUTPUTS), OUTPUT_ROWS, OUTPUT_SECONDS, id="outputs"),
    ],
)
def test_a_wide_explanation_takes_seconds(ledger, model, n_rows, most):
    rows = model.rows(n_rows)

    found = race_of_processor(lambda: model.explain(rows), lambda: model.ask(rows), rounds=1)

    model.check(found.our_answer, rows)
    ledger.add(
        "explain of many columns" if model.n_outputs == 1 else "explain of many outputs",
        f"{model.n_features:,} features, {model.n_outputs} outputs, {n_rows:,} rows",
        seconds(found.ours),
        f"{seconds(found.other)} of answers and slopes",
        f"{seconds(found.ours / (model.n_features * model.n_outputs))} an effect",
        f"<= {most} s",
        met=found.ours <= most,
    )


def watched(monkeypatch):
    """Add up the time inside the walk of jumps, of all calls from now on."""
    from rhale.models.trees import jump_walk

    walk_jumps, times = jump_walk.walk_jumps, []

    def timed(*asked):
        start = process_time()
        answer = walk_jumps(*asked)
        times.append(process_time() - start)
        return answer

    monkeypatch.setattr(jump_walk, "walk_jumps", timed)
    return times


def test_many_features_of_trees_cost_little_beyond_the_walk(ledger, monkeypatch):
    from bench_trees import answers, table

    lightgbm = pytest.importorskip("lightgbm")
    x = table(TREE_ROWS, TREE_FEATURES)
    model = lightgbm.LGBMRegressor(n_estimators=N_TREES, verbose=-1, n_jobs=1)
    model.fit(x[:FITTED_ROWS], answers(x[:FITTED_ROWS]))
    rhale.explain(model, x[:1_000], features=[0], n_jobs=1)  # compiled, if it was not
    times, runs = watched(monkeypatch), []

    for _ in range(2):
        times.clear()
        start = process_time()
        fx = rhale.explain(model, x, n_jobs=1)
        runs.append((process_time() - start, sum(times)))

    assert fx.provenance["answers_walked"] > 0
    check_rise(fx[0], model.predict, x)
    whole, walk = min(runs, key=lambda run: run[0] / run[1])
    ledger.add(
        "LightGBM with many features, against the walk in it",
        f"{TREE_FEATURES} features, {N_TREES} trees of {FITTED_ROWS:,} rows, {TREE_ROWS:,} rows",
        seconds(whole),
        seconds(walk),
        f"{whole / walk:.2f}",
        f"<= {MOST_WALKS}",
        met=whole <= MOST_WALKS * walk,
    )
