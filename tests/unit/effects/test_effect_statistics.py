"""Statistics: what is said of an effect in plain numbers, and what is refused as a target."""

from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.effects.statistics import Heights, Size, gather_statistics, read_target, remove_noise
from rhale.errors import BadSettingError

HEIGHTS = Heights(np.array([-2.0, 1.0]), np.array([1.0, 2.0]), -3.0, 4.0)
Y = [0.0, 1.0, 2.0, 3.0, 8.0]  # less its median: -2, -1, 0, 1, 6


def stated(y=None, features=("age",)):
    return gather_statistics(features, "price", "rows", HEIGHTS, Size(1.5, 1.0), y)


def test_numbers_are_those_of_the_heights():
    found = stated(Y)
    assert found.aled == pytest.approx(4 / 3)
    assert found.aled_sd == pytest.approx(np.sqrt(6 / 3))
    assert found.aler == (-3.0, 4.0)
    assert found.naled == pytest.approx(50 / 3)  # of -50 once and 0 twice
    assert found.naled_sd == pytest.approx(50 / np.sqrt(3))
    assert found.naler == pytest.approx((-50, 100 / 3))
    assert (found.importance, found.importance_denoised) == (1.5, 1.0)


def test_without_a_target_there_are_no_percentiles():
    found = stated()
    assert np.isnan([found.naled, found.naled_sd, *found.naler]).all()
    assert found.aled == stated(Y).aled
    assert "NALED" not in str(found)


def test_statistics_compare_by_value_and_stay_as_they_are():
    assert stated() == stated()
    assert stated() != stated(Y)
    with pytest.raises(FrozenInstanceError):
        stated().aled = 0.0


def test_they_print_as_a_few_lines():
    assert repr(stated(Y)).splitlines() == [
        "age on price, read at the rows",
        "  ALED        1.333 (root mean square 1.414)",
        "  ALER        -3 to 4",
        "  NALED       16.7 (root mean square 28.9), in percentiles of the target",
        "  NALER       -50 to 33.3",
        "  importance  1.5, 1 without its noise",
    ]


def test_they_are_rows_of_a_table():
    table = pd.DataFrame([stated(Y).to_dict(), stated(features=("a", "b")).to_dict()])
    assert table["feature"].tolist() == ["age", "a x b"]
    assert table["aler_low"].tolist() == [-3.0, -3.0]
    assert table["naler_high"].isna().tolist() == [False, True]
    assert not any(isinstance(v, tuple) for v in stated().to_dict().values())


def test_noise_is_removed_from_the_square_and_never_more_than_there_is():
    assert remove_noise(5.0, 16.0).denoised == 3.0
    assert remove_noise(1.0, 16.0).denoised == 0.0
    assert np.isnan(remove_noise(1.0, np.nan).denoised)
    assert remove_noise(0.0, np.nan).denoised == 0.0


@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5, 0],
        (1, 2.5, 0),
        np.array([1, 2.5, 0], dtype=np.float32),
        pd.Series([1, 2.5, 0], index=[7, 8, 9]),
        pd.array([1, 2.5, 0], dtype="Float64"),
        np.array([1, 2.5, 0], dtype=object),
    ],
    ids=lambda y: type(y).__name__,
)
def test_any_column_of_numbers_is_a_target(y):
    assert read_target(y).tolist() == [1.0, 2.5, 0.0]


def test_truth_values_are_a_target():
    assert read_target(np.array([True, False])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        ([], "shape"),
        (3.0, "shape"),
        ([[1.0, 2.0]], "shape"),
        (["1", "2"], "str"),
        ([1.0, "2"], "str"),
        ([b"1"], "bytes"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "a date and no number"),
        ([1 + 2j], "complex"),
        ([1.0, object()], "an? object and no number"),
        (np.array([1.0, "2"], dtype=object), "holds '2', a str"),
        (np.array([1, pd.NA], dtype=object), "1 of 2"),
        ([1.0, np.nan, np.inf], "2 of 3"),
        ([1.0, None], "1 of 2"),
        (pd.array([1, None], dtype="Int64"), "1 of 2"),
    ],
)
def test_other_targets_are_refused(y, complaint):
    with pytest.raises(BadSettingError, match=complaint):
        read_target(y)


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp"])
def test_results_that_were_saved_have_the_same_statistics(method, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y", "z"], 60)})
    predict = lambda t: t["a"].to_numpy() ** 2 * (1 + (t["b"] == "y").to_numpy())
    fx = rhale.explain(predict, rows, method=method)
    fx.save(tmp_path / "fx.json")
    again, y = rhale.load(tmp_path / "fx.json"), predict(rows)
    for name in ("a", "b"):
        assert again[name].statistics(y) == fx[name].statistics(y)
