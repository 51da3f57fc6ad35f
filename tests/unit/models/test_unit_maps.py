import numpy as np
import pytest

from rhale.errors import BadSettingError
from rhale.models.conversions import (
    KNOWN_INVERSES,
    UnitMap,
    complete_unit_map,
    compute_column_scale,
    find_line,
    make_whole,
)

DOUBLE = np.finfo(np.float64).eps
SINGLE = np.finfo(np.float32).eps
VALUES = np.linspace(0.1, 0.9, 33)[:, None]


def settle_double(found, values=VALUES):
    return complete_unit_map(found, values, np.full(values.shape[1], DOUBLE))


@pytest.mark.parametrize("function", KNOWN_INVERSES, ids=lambda f: f.__name__)
def test_known_functions_come_back_and_have_the_derivative_of_differences(function):
    back, derivative = KNOWN_INVERSES[function]
    known = UnitMap("'a'", function, back, derivative)
    by_differences = UnitMap("'a'", function, back, scale=0.5)
    np.testing.assert_allclose(known.model(known.people(VALUES)), VALUES, rtol=1e-12)
    np.testing.assert_allclose(by_differences.slope(VALUES), known.slope(VALUES), rtol=1e-9)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_differences_follow_the_size_of_the_numbers(size):
    values = size * np.array([[0.0], [0.5], [-2.0]])
    found = UnitMap("'a'", lambda z: np.sinh(z / size), scale=size)
    np.testing.assert_allclose(found.slope(values), np.cosh(values / size) / size, rtol=1e-9)


def test_missing_values_stay_missing_and_no_function_sees_them():
    def strict(z):
        assert np.isfinite(z).all()
        return 2 * z

    values = np.array([[1.0], [np.nan]])
    np.testing.assert_array_equal(UnitMap("'a'", strict).people(values), [[2.0], [np.nan]])


def test_a_straight_line_gets_a_way_back_and_an_exact_slope():
    made, people = settle_double(UnitMap("'a'", lambda z: 15.5 * z + 40.25))
    np.testing.assert_allclose(people, 15.5 * VALUES + 40.25)
    np.testing.assert_allclose(made.model(people), VALUES, rtol=1e-12)
    np.testing.assert_allclose(made.slope(VALUES), 15.5, rtol=1e-12)


def test_lines_of_a_constant_column_and_of_gaps_alone_are_found():
    values = np.array([[2.0, np.nan], [2.0, np.nan]])
    made, people = settle_double(UnitMap("s", lambda z: 3 * z + 1.5, is_block=True), values)
    np.testing.assert_array_equal(people, [[7.5, np.nan]] * 2)
    np.testing.assert_allclose(made.model(people), values)


def test_a_curve_through_two_values_is_no_line():
    assert (
        find_line(UnitMap("'a'", np.exp), np.array([[0.0], [1.0]]), np.e ** np.eye(2)[1:].T) is None
    )


def test_a_line_far_from_zero_is_one_still():
    made, _ = settle_double(UnitMap("'a'", lambda z: z + 1e9))
    np.testing.assert_allclose(made.slope(VALUES), 1.0, rtol=1e-6)


@pytest.mark.parametrize("precision", [DOUBLE, SINGLE])
def test_years_that_were_standardised_are_years_again(precision):
    years = np.arange(1950, 2020, dtype=np.float64)[:, None]
    dtype = np.float64 if precision == DOUBLE else np.float32
    z = ((years - 1983.7) / 19.3).astype(dtype).astype(np.float64)
    made, people = complete_unit_map(
        UnitMap("'a'", lambda z: 19.3 * z + 1983.7), z, np.array([precision])
    )
    np.testing.assert_array_equal(people, years)
    np.testing.assert_allclose(made.model(people), z, atol=1e-5)


def test_numbers_that_are_not_whole_stay_as_they_are():
    people = np.array([[1.0, 1e9], [2.25, 1e9 + 1]])
    np.testing.assert_array_equal(make_whole(people, np.array([DOUBLE, SINGLE])), people)


def test_a_function_without_a_way_back_is_refused():
    with pytest.raises(BadSettingError, match=r"'a' is a function whose inverse is not known"):
        settle_double(UnitMap("'a'", lambda z: z**3))


def test_functions_that_do_not_undo_each_other_are_refused():
    with pytest.raises(
        BadSettingError, match=r"'a' is not undone by its inverse: 0\.1 becomes 1\.10517"
    ):
        settle_double(UnitMap("'a'", np.exp, np.exp))


def test_what_turns_numbers_into_none_is_refused_with_the_direction():
    with pytest.raises(BadSettingError, match=r"turns -1 into nan; it maps the model's units"):
        settle_double(UnitMap("'a'", np.log, np.exp), np.array([[1.0], [-1.0]]))


def test_maps_that_rise_and_fall_are_refused():
    """Each comes back where it is asked, but they are no axis."""
    table = {0.0: 0.0, 1.0: 2.0, 2.0: 1.0}
    back = {held: key for key, held in table.items()}

    def look(in_):
        return lambda z: np.array([in_.get(v, v) for v in z.tolist()])

    with pytest.raises(BadSettingError, match="'a' rises in places and falls in others"):
        settle_double(UnitMap("'a'", look(table), look(back)), np.array([[0.0], [1.0], [2.0]]))


def test_functions_that_fail_or_give_other_shapes_are_refused():
    with pytest.raises(BadSettingError, match=r"'a' failed: ZeroDivisionError"):
        settle_double(UnitMap("'a'", lambda _: 1 / 0))
    with pytest.raises(
        BadSettingError, match=r"'a' gave an array of shape \(\) for one of \(33,\)"
    ):
        settle_double(UnitMap("'a'", np.sum))


def test_the_size_of_nothing_is_one():
    np.testing.assert_array_equal(
        compute_column_scale(np.array([[0.0, np.nan, 3.0]])), [1.0, 1.0, 3.0]
    )
