import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.data import open_table
from rhale.data.array import ArrayTable
from rhale.errors import BadTableError
from rhale.features import survey
from rhale.features.survey import SurveyTask, check_column, check_exact, check_range
from rhale.stats.sampling import hash_rows

X = np.random.default_rng(0).normal(size=(500, 2))
X[:, 1] = np.rint(3 * X[:, 1])
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, 500)
NAMES = ("a", "b")


def look(rows, weights=None, sizes=(50, 20), seed=0):
    table = open_table(rows, weights)
    return SurveyTask([0, 1], NAMES, sizes, seed)(table.chunk(0, table.n_rows))


def sorted_rows(values):
    return sorted(np.asarray(values).tolist())


def test_a_survey_knows_ranges_and_whole_numbers():
    found = look(X, WEIGHTS)
    assert found.n_rows == 500
    assert found.low.tolist() == X.min(axis=0).tolist()
    assert found.high.tolist() == X.max(axis=0).tolist()
    assert found.whole.tolist() == [False, True]
    assert found.weight == pytest.approx(WEIGHTS.sum())
    assert found.weight_squares == pytest.approx((WEIGHTS**2).sum())


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_weight_of_a_column_is_that_of_its_rows_with_a_value(weights):
    rows, known = X.copy(), np.arange(500) % 3 > 0
    rows[~known, 1] = np.nan
    found, weight = look(rows, weights), np.ones(500) if weights is None else weights
    assert found.n_known.tolist() == [500, known.sum()]
    np.testing.assert_allclose(found.known_weight, [weight.sum(), weight[known].sum()])
    squares = [np.sum(weight**2), np.sum(weight[known] ** 2)]
    np.testing.assert_allclose(found.known_squares, squares)


def test_the_survey_of_pieces_is_the_survey_of_the_whole():
    table = open_table(X, WEIGHTS)
    pieces = [
        SurveyTask([0, 1], NAMES, (50, 20), 0)(table.chunk(a, b)) for a, b in ((0, 90), (90, 500))
    ]
    whole, merged = look(X, WEIGHTS), pieces[0] + pieces[1]
    assert merged.n_rows == whole.n_rows
    for other in (merged, pieces[1] + pieces[0]):
        assert (other.low.tolist(), other.high.tolist()) == (
            whole.low.tolist(),
            whole.high.tolist(),
        )
    assert merged.whole.tolist() == whole.whole.tolist()
    assert sorted_rows(merged.sample.values) == sorted_rows(whole.sample.values)
    assert sorted_rows(merged.probe.chunk.rows) == sorted_rows(whole.probe.chunk.rows)
    assert merged.weight == pytest.approx(whole.weight, rel=1e-14)


def test_the_sample_depends_on_the_seed_and_not_on_the_order_of_the_rows():
    order = np.random.default_rng(2).permutation(500)
    assert sorted_rows(look(X[order]).sample.values) == sorted_rows(look(X).sample.values)
    assert sorted_rows(look(X, seed=1).sample.values) != sorted_rows(look(X).sample.values)
    assert len(look(X).sample.values) == 50
    assert look(X).probe.chunk.n_rows == 20


def test_an_axis_within_limits_knows_the_rows_inside_only():
    axis = look(X, sizes=(500, 20)).axis(0, (-1.0, 1.0))
    inside = np.sort(X[np.abs(X[:, 0]) <= 1, 0])
    assert (axis.low, axis.high) == (-1.0, 1.0)
    assert axis.values.tolist() == inside.tolist()
    assert look(X).axis(0).low == X[:, 0].min()


def test_an_axis_counts_repeated_values_by_weight():
    axis = look(X, WEIGHTS, sizes=(500, 20)).axis(1)
    for value, weight in zip(axis.values, axis.weight, strict=True):
        assert weight == pytest.approx(WEIGHTS[X[:, 1] == value].sum())


@pytest.mark.parametrize(
    ("value", "kind", "advice"),
    [
        (np.inf, "infinite values", "replace them"),
        (1e200, "values beyond 1e+150", "rescale"),
    ],
)
def test_a_bad_value_is_named_with_feature_row_and_advice(value, kind, advice):
    rows = X.copy()
    rows[123, 0] = value
    table = open_table(rows)
    with pytest.raises(BadTableError) as caught:
        SurveyTask([0, 1], NAMES, (50, 20), 0)(table.chunk(100, 200))
    for part in ("'a'", kind, "row 123", advice, "features="):
        assert part in str(caught.value)


def test_a_bad_value_keeps_its_row_number_when_rows_of_weight_zero_are_left_out():
    rows, weights = X.copy(), np.ones(500)
    rows[123, 0], weights[:100] = np.inf, 0.0
    with pytest.raises(BadTableError, match="row 123"):
        look(rows, weights)


def test_columns_that_are_not_explained_may_have_gaps():
    rows = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "gap": np.where(X[:, 0] > 0, np.nan, 1)})
    assert look(rows).n_rows == 500


@pytest.mark.parametrize(
    ("high", "change"),
    [(1e-51, "multiply"), (1e-200, "multiply"), (1e-320, "multiply"), (2e50, "divide"), (1e149, "divide")],
)  # fmt: skip
def test_a_range_whose_powers_are_no_numbers_is_refused_with_what_to_do(high, change):
    with pytest.raises(BadTableError) as caught:
        check_range("a", 0.0, high)
    for part in ("'a' goes from 0 to ", f"{change} the column by a power of ten", "features="):
        assert part in str(caught.value)


@given(st.floats(-300, 300), st.floats(-1, 1))
def test_the_sixth_power_of_every_range_that_passes_is_an_ordinary_number(power, shift):
    width = 10.0**power
    low = shift * width
    try:
        check_range("a", low, low + width)
    except BadTableError:
        assert not 2e-50 < width < 5e49
    else:
        assert np.finfo(float).tiny < width**6 < np.finfo(float).max


@pytest.mark.parametrize(
    ("low", "high"), [(2**53, 2**53 + 2), (-(2**60) - 1499, -(2**60)), (2**60, 2**60 + 1499)]
)
def test_whole_numbers_that_floats_confuse_are_refused_with_what_to_do(low, high):
    with pytest.raises(BadTableError, match=r"'a' has whole numbers beyond 2\*\*53 .* offset"):
        check_exact("a", float(low), float(high))
    check_exact("a", -(2.0**53), 2.0**53)


@given(st.integers(54, 62), st.integers(0, 62), st.integers(0, 2**32 - 1))
def test_whole_numbers_that_pass_hardly_ever_fall_together(size, width, seed):
    """1,000 numbers out of 2^20 places or more: about one pair in two tables is lost."""
    values = 2**size + np.random.default_rng(seed).integers(0, 2**width, 1_000, endpoint=True)
    values = np.unique(np.append(values, [2**size, 2**size + 2**width]).clip(max=2**63 - 1))
    places = values.astype(float)
    try:
        check_exact("a", places.min(), places.max())
    except BadTableError:
        assert width < size - 53 + 21
    else:
        assert np.unique(places).size >= values.size - 8


def test_good_columns_pass():
    assert check_column(np.array([-1e150, 0, 1e150]), "a", np.arange(3)) is None


def in_turn(parts, size):
    """Survey parts of one column, each knowing what was found before."""
    task = SurveyTask([0], ["x"], (size, 2), 0)
    found = task(ArrayTable(parts[0]).chunk(0, len(parts[0])))
    for part in parts[1:]:
        task = task.after(found)
        found = found + task(ArrayTable(part).chunk(0, len(part)))
    return found


def test_a_repeated_row_counts_again_although_the_sample_is_full():
    rows = np.arange(8.0)[:, None]
    found = in_turn([rows, rows, rows], size=5)
    np.testing.assert_array_equal(found.sample.weight, [3.0] * 5)  # the last kept key included


def test_a_sample_is_not_complete_if_a_later_row_was_not_even_looked_at():
    rows = np.arange(9.0)[:, None]
    rows = rows[np.argsort(hash_rows(rows))]  # the first ones are those that are kept
    assert in_turn([rows[:5]], size=5).sample.is_complete
    found = in_turn([rows[:5], rows[5:]], size=5).sample
    assert (found.is_complete, found.seen) == (False, 9)


def test_values_are_counted_until_some_chunk_has_many(monkeypatch):
    few, many = np.arange(60.0)[:, None] % 7, np.arange(100.0)[:, None]
    found = in_turn([few, few], size=5).census[0].found
    assert found == {v: (18, 18.0) if v < 4 else (16, 16.0) for v in range(7)}
    for parts in ([few, many], [many, few], [many, many]):
        census = in_turn(parts, size=5).census[0]
        assert (census.found, census.is_many) == ({}, True)

    counted, count = [], survey.count_values
    monkeypatch.setattr(
        survey, "count_values", lambda *given: counted.append(None) or count(*given)
    )
    in_turn([few, many, few, many], size=5)
    assert len(counted) == 2


def test_a_bad_value_is_refused_where_values_are_not_counted_any_more():
    many = np.arange(100.0)[:, None]
    bad = np.where(many == 3, np.inf, many)
    with pytest.raises(BadTableError, match="first in row 3: inf"):
        in_turn([many, bad], size=5)


@pytest.mark.parametrize("kind", [object, "category"])
def test_a_text_that_is_no_name_of_a_category_is_refused(kind):
    rows = pd.DataFrame({"x": [0.0, 1.0], "t": pd.Series(["a", "b" * 2**16], dtype=kind)})
    assert look(rows).n_rows == 2
    rows = pd.DataFrame({"x": [0.0, 1.0], "t": pd.Series(["a", "b" * 65_537], dtype=kind)})
    with pytest.raises(BadTableError, match=r"^column 'b' holds a text of 65,537 letters; .* 65,5"):
        look(rows)
