"""Boosted trees asked as a black box: against predicting the same rows as often."""

import numpy as np
from measuring import race, seconds
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import rhale

N_ROWS, N_FEATURES = 10_000, 30


def test_trees_cost_little_more_than_their_predictions(benchmark, ledger):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (N_ROWS, N_FEATURES))
    y = 3 * x[:, 0] + np.sin(4 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.1 * rng.normal(size=N_ROWS)

    with threadpool_limits(1):  # the same for both sides, and steadier than two
        model = HistGradientBoostingRegressor(random_state=0).fit(x, y)
        asked = rhale.models.wrap(model, walk=False)
        found = race(benchmark, lambda: rhale.explain(asked, x), lambda: model.predict(x), rounds=3)

    fx, n_predictions = found.our_answer, 4 * N_FEATURES + 1
    assert fx.ranked()[0].name == "x0"
    slope = fx["x0"].curve(0.8) - fx["x0"].curve(-0.8)
    assert abs(slope / 1.6 - 3) < 0.15
    assert fx.provenance["rows_asked"] <= (n_predictions + 4) * N_ROWS
    ledger.add(
        "boosted trees as a black box, against one `predict`",
        f"30 features, {N_ROWS:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.0f} predicts",
        "<= 150",
        met=found.cost <= 150,
    )
    ledger.add(
        "boosted trees as a black box, against as many predictions",
        f"30 features, {N_ROWS:,} rows",
        seconds(found.ours),
        seconds(found.other * n_predictions),
        f"{found.cost / n_predictions:.2f}",
    )
