import numpy as np
from tests.compared_by_hand import straight, with_everything

from rhale.comparison.table import comparison_rows, name_axis, name_peak, place_rows_of


def test_a_row_tells_what_the_difference_does():
    cx = straight()
    rows, found = comparison_rows(cx.ranked()), cx["x1"].against()
    assert rows["size"][0] == found.size
    assert rows["p_value"][0] == found.p_value
    assert rows["largest"][0] == found.peak.difference
    assert rows["rows_apart"] == [0, 0]
    assert {len(column) for column in rows.values()} == {2}


def test_places_are_written_as_what_they_are():
    cx = with_everything()
    day, city = cx["day"].results[0], cx["city"].results[0]
    assert name_axis(day, np.array([19_723.0])) == ["2024-01-01"]
    assert name_axis(city, city.axis) == list(city.labels)
    assert name_peak(cx["city"].differences[0]) == "Oslo"
    assert name_peak(cx["one"].differences[0]) == ""


def test_places_of_all_features_stand_below_one_another():
    rows = place_rows_of(with_everything().ranked())
    assert set(rows["feature"]) == {"x", "city", "day"}  # one value has no places
    assert {len(column) for column in rows.values()} == {len(rows["x"])}
