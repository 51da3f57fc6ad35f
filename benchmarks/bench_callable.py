"""Models without derivatives: how many rows are evaluated, in how many calls."""

import numpy as np
import pytest
from measuring import Counted

import rhale

N_ROWS, N_FEATURES = 20_000, 5
AT_MOST_ASIDE = 6_000  # rows for first questions and the kept sample: bounded, whatever the table


def smooth(x):
    return np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + x[:, 3] + x[:, 4] ** 2


def stepped(x):
    return np.floor(8 * x).sum(axis=1) / 8


@pytest.mark.parametrize(
    ("method", "function", "target"),
    [("rhale", smooth, 5), ("rhale", stepped, 5), ("ale", smooth, 2), ("ale", stepped, 2)],
)
def test_rows_evaluated_per_row_and_feature(ledger, method, function, target):
    x = np.random.default_rng(0).uniform(-1, 1, (N_ROWS, N_FEATURES))
    model = Counted(function)

    fx = rhale.explain(model, x, method=method)

    assert fx.provenance["rows_asked"] == model.n_rows
    assert fx["x3"].curve(0.8) - fx["x3"].curve(-0.8) == pytest.approx(1.6, rel=0.05)
    assert model.n_calls < 60
    ledger.add(
        f"rows evaluated, method={method!r}, {function.__name__} function",
        f"5 features, {N_ROWS:,} rows",
        model.asked,
        f"{N_ROWS * N_FEATURES:,} rows x features",
        f"{model.n_rows / (N_ROWS * N_FEATURES):.2f}",
        f"<= {target}",
        met=model.n_rows <= target * N_ROWS * N_FEATURES + AT_MOST_ASIDE,
    )


def test_profiles_stack_the_points_of_the_grid(ledger):
    x = np.random.default_rng(0).uniform(-1, 1, (1_000, N_FEATURES))
    model, points = Counted(smooth), np.linspace(-0.9, 0.9, 50)

    fx = rhale.explain(model, x, method="pdp", bins=rhale.Edges(points))

    assert fx["x3"].mean[-1] - fx["x3"].mean[0] == pytest.approx(1.8)
    ledger.add(
        "calls of the model, method='pdp'",
        "5 features, 50 points, 1,000 rows",
        model.asked,
        f"{50 * N_FEATURES} grid values",
        f"{model.n_calls / (50 * N_FEATURES):.2f}",
        "stacked",
        met=model.n_calls < 50,
    )
