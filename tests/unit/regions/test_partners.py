import pickle
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
import pytest

from rhale.regions.partners import Partner, PartnerMatrix, Partners, partners_of_regions
from rhale.regions.result import Partner as RegionPartner
from rhale.regions.result import RegionTree

NAN = float("nan")


def sent(record):
    return pickle.loads(pickle.dumps(record))  # noqa: S301 - our own bytes


class Spreading:
    name, output, typical_spread = "x0", "y", 2.0


MATRIX = PartnerMatrix(
    names=("x0", "x1", "x2", "x3"),
    share=np.array([[NAN, 0.96, 0.81, -0.01], [0.5, NAN, NAN, NAN]]),
    standard_error=np.full((2, 4), 0.01),
    p_value=np.array([[NAN, 0.0, 1e-9, 0.6], [0.5, NAN, NAN, NAN]]),
    own_share=np.array([[NAN, 0.96, 0.0081, NAN], np.full(4, NAN)]),
    proxy_of=np.array([[-1, -1, 1, -1], [-1, -1, -1, -1]]),
    size=np.array([[NAN, 2.0, 1.5, 0.1], [1.0, NAN, NAN, NAN]]),
    unexplained=np.array([0.04, NAN]),
    rows=np.array([2_000, 0]),
)


def test_a_matrix_for_later_is_measured_once_when_a_number_is_read():
    measured = []

    def measure():
        measured.append(1)
        return MATRIX

    later = PartnerMatrix.later(measure)
    assert later is not None
    assert not measured
    assert later.names == MATRIX.names
    np.testing.assert_array_equal(later.share, MATRIX.share)
    assert len(measured) == 1
    assert set(vars(later)) == set(vars(MATRIX))
    with pytest.raises(AttributeError, match="shares"):
        _ = later.shares


@pytest.mark.parametrize("carry", [sent, copy, deepcopy])
def test_a_matrix_for_later_compares_and_travels_as_any_other(carry):
    assert PartnerMatrix.later(lambda: MATRIX) == MATRIX
    assert carry(PartnerMatrix.later(lambda: MATRIX)) == MATRIX
    assert replace(PartnerMatrix.later(lambda: MATRIX), names=MATRIX.names) == MATRIX


@pytest.fixture
def told():
    return MATRIX.tell(0, Spreading(), "polars")


def test_partners_come_with_the_largest_share_first(told):
    assert [p.feature for p in told] == ["x1", "x2", "x3"]
    assert len(told) == 3
    assert told[0] == told["x1"]
    assert told["x1"].part == pytest.approx(2 * np.sqrt(0.96))
    assert told["x2"].is_proxy_of == "x1"
    assert told["x1"].is_proxy_of is None
    assert told["x3"].share == 0
    assert (told.unexplained, told.rows) == (0.04, 2_000)


def test_who_is_no_partner_is_named(told):
    with pytest.raises(KeyError, match=r"'x11' is not a partner of 'x0'.*did you mean 'x1'"):
        told["x11"]


def test_it_prints_as_a_table_with_a_sentence(told):
    text = str(told).splitlines()
    assert text[0] == "partners of x0, 2,000 rows"
    assert text[1].split() == ["feature", "share", "part", "p"]
    assert text[2].split() == ["x1", "96", "±", "1", "%", "1.96", "<", "0.0001"]
    assert text[3].endswith("correlated with x1")
    assert text[4] == "and 1 more that is not significant"
    assert text[5] == (
        "x1 accounts for 96 % of the spread of x0; x2 only because it is correlated with x1; "
        "4 % is unexplained (interactions of three or more features, or steps of the model)"
    )
    assert repr(told) == str(told)


def test_a_third_partner_is_told_briefly():
    parts = tuple(Partner(name, share, 0.01, 0.0, 1.0) for name, share in (("a", 0.6), ("b", 0.3)))
    told = Partners("x", "y", parts, unexplained=0.1)
    assert told.sentence.startswith("a accounts for 60 % of the spread of x; b for 30 %; 10 % ")


def test_partners_of_a_spread_that_is_none_say_what_differs():
    class Alike(Spreading):
        typical_spread = 0.0

    told = "but only the slopes differ between rows, not the curves"
    assert told in MATRIX.tell(0, Alike(), "polars").sentence
    assert told not in MATRIX.tell(0, Spreading(), "polars").sentence


def test_nobody_alone_is_a_sentence():
    none = tuple(Partner(name, 0.004, 0.01, 0.4, 0.1) for name in "ab")
    told = Partners("x", "y", none, unexplained=0.98, rows=9)
    assert str(told) == (
        "partners of x, 9 rows\nno single feature accounts for the spread of x; "
        "98 % is unexplained (interactions of three or more features, or steps of the model)"
    )


def test_rows_that_do_not_differ_have_no_partners():
    told = replace(MATRIX, share=np.full((2, 4), NAN)).tell(1, Spreading())
    assert len(told) == 0
    assert np.isnan(told.unexplained)
    assert str(told).endswith(
        "the effect of x0 does not differ between rows, or there are too few rows to tell"
    )
    assert told.columns()["partner"] == []


def test_frames_are_of_the_kind_that_is_asked_for(told):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    assert isinstance(told.to_frame(), pl.DataFrame)
    frame = told.to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == [
        *("partner", "share", "standard_error", "p_value", "part", "is_proxy_of")
    ]
    assert list(frame["partner"]) == ["x1", "x2", "x3"]


def test_sizes_of_proxies_are_lowered():
    np.testing.assert_allclose(MATRIX.lowered_size[0, 1:], [2.0, 1.5 * 0.1, 0.1])


def test_matrices_compare_by_value_and_never_change():
    same = replace(MATRIX, share=MATRIX.share.copy())
    assert same == MATRIX
    assert replace(MATRIX, rows=MATRIX.rows + 1) != MATRIX
    with pytest.raises(ValueError, match="read-only"):
        same.share[0, 0] = 1.0


def test_regions_know_partners_where_nothing_else_does():
    parts = (RegionPartner("x1", 0.64, 0.02), RegionPartner("x2", -0.01, 0.02))
    tree = RegionTree("x0", "y", "none", "", (), partners=parts, unexplained=0.3)
    told = partners_of_regions(Spreading(), tree)
    assert [(p.feature, p.share) for p in told] == [("x1", 0.64), ("x2", 0.0)]
    assert told[0].part == pytest.approx(1.6)
    assert told[0].counts
    assert not told[1].counts
    assert told.unexplained == 0.3
