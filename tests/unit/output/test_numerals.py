import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.output.number_format import (
    UNKNOWN_DASH,
    decimals_of,
    write_between,
    write_decimals,
    write_number,
    write_share,
    write_with_error,
    write_with_unit,
)

FINITE = st.floats(-1e307, 1e307, allow_subnormal=False)
ERRORS = st.floats(0, 1e307, exclude_min=True, allow_subnormal=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (0.109, "0.109"),
        (-12.3456, "-12.35"),
        (2019.0, "2019"),
        (9999.96, "10,000"),
        (97466.3, "97,466"),
        (-1234567.8, "-1,234,568"),
        (1.2e-7, "1.2e-7"),
        (9.99996e-5, "1e-4"),
        (2.5e7, "2.5e7"),
        (5e-324, "4.941e-324"),
        (math.inf, "inf"),
        (math.nan, UNKNOWN_DASH),
    ],
)
def test_numbers_are_written_as_people_do(value, text):
    assert write_number(value) == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (97466.3, 781.2, "97,470 ± 780"),
        (97466.3, 1234.0, "97,500 ± 1,200"),
        (0.109, 0.002, "0.1090 ± 0.0020"),
        (-1.25, 0.996, "-1.2 ± 1.0"),
        (0.0003, 0.1, "0.00 ± 0.10"),
        (0.0, 0.1, "0.00 ± 0.10"),
        (0.3123456, 1.04e-7, "0.31235 ± 1e-7"),
        (123456.7, 3.0, "123,457 ± 3"),
        (37.68, 0.0, "37.68 ± 0"),
        (37.68, math.nan, "37.68"),
        (math.nan, 1.0, UNKNOWN_DASH),
        (3.14159e-9, 4e-11, "(3.142 ± 0.040)e-9"),
        (3.14159e-9, 4e-15, "3.1416e-9 ± 4e-15"),
        (5e-324, 5e-324, "(4.9 ± 4.9)e-324"),
        (2.5e9, 1.3e8, "(2.50 ± 0.13)e9"),
    ],
)
def test_an_error_says_how_many_digits_a_number_has(value, error, text):
    assert write_with_error(value, error) == text


@given(FINITE, st.integers(1, 8))
def test_a_written_number_is_off_by_half_of_its_last_digit_at_most(value, digits):
    found = float(write_number(value, digits).replace(",", ""))
    assert found == pytest.approx(value, rel=0.5 * 10.0 ** (1 - digits) * (1 + 1e-9), abs=0)


@given(FINITE, ERRORS)
def test_a_number_with_its_error_is_within_a_twentieth_of_the_error_or_has_five_digits(
    value, error
):
    first, sign, last = write_with_error(value, error).replace(",", "").partition(" ± ")
    last, _, power = last.partition(")e")
    scale = f"e{power}" if power else ""
    number, off = float(first.strip("(") + scale), float(last + scale)
    assert sign
    assert off == pytest.approx(error, rel=0.0501, abs=0)
    assert number == pytest.approx(value, rel=0.501e-4, abs=0.0501 * error)


@given(FINITE)
def test_zero_has_no_sign(value):
    shown = write_decimals(value, 3)
    assert shown.startswith("-") == (float(shown.replace(",", "")) < 0)


def test_digits_are_counted_after_rounding():
    assert decimals_of(9.96, 2) == 0
    assert write_decimals(9.96, decimals_of(9.96, 2)) == "10"


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (97466.3, 95935.1, 98997.5, "97,500 [95,900, 99,000]"),
        (97466.3, 96703.1, 98229.5, "97,470 [96,700, 98,230]"),
        (0.25, 0.2, 0.31, "0.250 [0.200, 0.310]"),
        (0.25, math.nan, math.nan, "0.25"),
        (0.25, 0.25, 0.25, "0.25 [0.25, 0.25]"),
        (2e-9, 1e-9, 3e-9, "2e-9 [1e-9, 3e-9]"),
    ],
)
def test_an_interval_says_how_many_digits_a_number_has(value, low, high, text):
    assert write_between(value, low, high) == text


@given(st.floats(1e-12, 0.2))
def test_a_share_that_is_not_zero_is_never_written_as_zero(share):
    told = write_share(share).removeprefix("< ").removesuffix(" %")
    assert float(told) > 0
    assert write_share(-share).lstrip("> ").startswith("-")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (0.00096, "< 0.1 %"), (0.0096, "0.96 %"), (0.0994, "9.9 %"), (0.0996, "10 %")],
)
def test_small_shares_have_two_digits_and_large_ones_whole_per_cent(share, text):
    assert write_share(share) == text


@pytest.mark.parametrize(
    ("unit", "text"),
    [("$", "$343,700 ± 3,700"), ("€/m²", "€343,700 ± 3,700/m²"), ("kg", "343,700 ± 3,700\u00a0kg")],
)
def test_a_currency_stands_before_its_number_and_other_units_behind(unit, text):
    assert write_with_unit("343,700 ± 3,700", unit) == text
    assert write_with_unit("\u22125", "$") == "\u2212$5"
