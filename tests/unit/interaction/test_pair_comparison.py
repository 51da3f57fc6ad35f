import numpy as np
import pytest
from tests.unit.interaction.test_pair_plan import survey

from rhale.effects.local.queries import BatchedModel
from rhale.interaction.h_statistic import WholeRows
from rhale.interaction.plan import (
    MAX_LEAF_ROWS,
    MAX_PREDICTED_ROWS,
    compute_pair_strengths,
    count_strength_queries,
    count_whole_rows,
    every_pair,
)
from rhale.models import meet, wrap

ROWS = np.random.default_rng(0).normal(size=(60, 3))


def setting(model, rows=ROWS):
    features, chunk, _ = survey(rows)
    asked = []

    def predict(z):
        asked.append(len(z))
        return model(z)

    asker = BatchedModel(meet(wrap(predict), chunk)[0], ("x0", "x1", "x2"), 10_000)
    asked.clear()
    n = len(rows)
    return asker, WholeRows(np.arange(n, dtype=np.uint64), np.ones(n), chunk), features, asked


@pytest.mark.parametrize("method", ["h", "greenwell"])
def test_pairs_that_do_not_interact_have_nothing(method):
    asker, rows, features, asked = setting(lambda z: z[:, 0] * z[:, 1] + z[:, 2])
    found, pairs, _ = compute_pair_strengths(asker, rows, features, every_pair(3), method)
    assert [p.names for p in pairs] == [("x0", "x1"), ("x0", "x2"), ("x1", "x2")]
    assert pairs[0].strength > 0.2
    assert [p.strength for p in pairs[1:]] == [0.0, 0.0]
    assert found.variance[0] == pytest.approx(np.var(ROWS[:, 0] * ROWS[:, 1] + ROWS[:, 2]))
    assert (
        found.n_asked == sum(asked) == count_strength_queries(features, every_pair(3), 60, method)
    )


def test_levels_count_all_of_theirs():
    rows = np.column_stack([ROWS[:, 0], np.arange(60) % 3, ROWS[:, 2]])
    asker, whole, features, asked = setting(lambda z: z[:, 0] * z[:, 1], rows)
    compute_pair_strengths(asker, whole, features, every_pair(3), "greenwell")
    assert sum(asked) == count_strength_queries(features, every_pair(3), 60, "greenwell")


def test_more_rows_where_leaves_are_counted():
    from sklearn.ensemble import HistGradientBoostingRegressor

    features, chunk, _ = survey(ROWS)
    trees = HistGradientBoostingRegressor(max_iter=2).fit(ROWS, ROWS[:, 0])
    walked = BatchedModel(meet(wrap(trees), chunk)[0], ("x0", "x1", "x2"), 10_000)
    asker, *_ = setting(lambda z: z[:, 0])
    assert count_whole_rows(walked, chunk, features, "h") == MAX_LEAF_ROWS
    assert count_whole_rows(walked, chunk, features, "greenwell") == MAX_PREDICTED_ROWS
    assert count_whole_rows(asker, chunk, features, "h") == MAX_PREDICTED_ROWS
