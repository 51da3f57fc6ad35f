"""The tables people have: names, dates, gaps, odd columns; one suite over the frame libraries."""

import datetime as dt
import itertools
import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rhale
from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError

N = 120
RNG = np.random.default_rng(8)
A = RNG.normal(size=N)
CITY = [("Bern", "Paris", "Rome")[k] for k in RNG.integers(0, 3, N)]
WORTH = {"Bern": 1.0, "Paris": 3.0, "Rome": 6.0}
FEW = RNG.integers(0, 5, N)
TRUTH = RNG.random(N) < 0.4
GAPS = RNG.random(N) < 0.2
DAYS = [dt.date(1969, 6, 1) + dt.timedelta(days=int(d)) for d in RNG.integers(0, 400, N)]
TIMES = [dt.datetime(d.year, d.month, d.day, 7, 30) for d in DAYS]
SPANS = [dt.timedelta(seconds=int(s)) for s in RNG.integers(-500, 5000, N)]
METHODS = ["rhale", "ale", "pdp", "ice", "mplot"]
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}

each_library = pytest.mark.parametrize("library", MAKERS)
each_method = pytest.mark.parametrize("method", METHODS)


def make(library, **columns):
    return MAKERS[library](columns)


def listed(rows, name):
    """Values of a column; every library's missing value is None."""
    if isinstance(rows, pd.DataFrame):
        empty = rows[name].isna().tolist()
        return [None if e else v for e, v in zip(empty, rows[name].tolist(), strict=True)]
    return rows[name].to_pylist() if isinstance(rows, pa.Table) else rows[name].to_list()


def numbers(rows, name):
    return np.array([np.nan if v is None else float(v) for v in listed(rows, name)])


def worth(rows, name="city"):
    return np.array([WORTH.get(v, 0.0) for v in listed(rows, name)])


def schema(rows):
    """Kind, names and exact types."""
    if isinstance(rows, pa.Table):
        return pa.Table, rows.schema.names, rows.schema.types
    return type(rows), list(rows.columns), list(rows.dtypes)


def with_gaps(values, gaps=GAPS):
    return [None if g else v for g, v in zip(gaps, values, strict=True)]


def sizes(table, name="f"):
    """How often each value of a column occurs."""
    found = {}
    for value in listed(table, name):
        found[value] = found.get(value, 0) + 1
    return found


def by_hand(values, order, answer, weights=None):
    """Steps between levels by brute force; answer(i, level) is the prediction of a row moved."""
    w = np.ones(len(values)) if weights is None else weights
    curve = [0.0]
    for low, high in itertools.pairwise(order):
        rows = [i for i, v in enumerate(values) if v in (low, high)]
        change = [answer(i, high) - answer(i, low) for i in rows]
        curve.append(curve[-1] + np.average(change, weights=w[rows]))
    mass = [sum(w[i] for i, v in enumerate(values) if v == level) for level in order]
    return np.array(curve) - np.average(curve, weights=mass)


# --- every type, every library, every method ---------------------------------------------------


def all_types(library):
    """A table with a column of every type, each with gaps, and a number for each row."""
    cents = [Decimal(int(100 * a)) / 100 for a in A]
    if library == "pandas":
        naive = pd.Series(with_gaps(TIMES), dtype="datetime64[ns]")
        return pd.DataFrame(
            {
                "id": np.arange(N) + 0.5,
                "float": np.where(GAPS, np.nan, A),
                "single": A.astype("float32"),
                "int": FEW,
                "small": FEW.astype("int8"),
                "nullable": pd.array(with_gaps(FEW.tolist()), dtype="Int64"),
                "big": 2**52 + 2 * np.arange(N) + 1,
                "bool": TRUTH,
                "maybe": pd.array(with_gaps(TRUTH.tolist()), dtype="boolean"),
                "text": pd.array(with_gaps(CITY), dtype="str"),
                "object": pd.Series([np.nan if g else c for g, c in zip(GAPS, CITY, strict=True)], dtype=object),
                "mixed": pd.Series(with_gaps([("x", 1, 1.0, True)[i % 4] for i in range(N)]), dtype=object),
                "category": pd.Categorical(with_gaps(CITY), categories=["Rome", "Oslo", "Paris", "Bern"]),
                "ordered": pd.Categorical(FEW, categories=[4, 3, 2, 1, 0], ordered=True),
                "time": naive,
                "zone": naive.dt.tz_localize("Europe/Zurich"),
                "seconds": pd.Series(TIMES, dtype="datetime64[s]"),
                "span": pd.Series(with_gaps(SPANS), dtype="timedelta64[ns]"),
                "arrow": pd.array(with_gaps(A.tolist()), dtype="double[pyarrow]"),
                "arrow text": pd.array(with_gaps(CITY), dtype="string[pyarrow]"),
                "arrow day": pd.array(with_gaps(DAYS), dtype=pd.ArrowDtype(pa.date32())),
                "list": pd.Series([[i] for i in range(N)]),
            }
        )  # fmt: skip
    if library == "polars":
        return pl.DataFrame(
            {
                "id": np.arange(N) + 0.5,
                "float": pl.Series([math.nan if i % 9 == 0 else v for i, v in enumerate(with_gaps(A.tolist()))]),
                "single": pl.Series(A, dtype=pl.Float32),
                "int": with_gaps(FEW.tolist()),
                "small": pl.Series(FEW, dtype=pl.UInt8),
                "big": (2**52 + 2 * np.arange(N) + 1).tolist(),
                "bool": with_gaps(TRUTH.tolist()),
                "text": with_gaps(CITY),
                "category": pl.Series(with_gaps(CITY), dtype=pl.Categorical),
                "enum": pl.Series(with_gaps(CITY), dtype=pl.Enum(["Rome", "Oslo", "Paris", "Bern"])),
                "day": with_gaps(DAYS),
                "time": pl.Series(with_gaps(TIMES), dtype=pl.Datetime("ns")),
                "zone": pl.Series(TIMES, dtype=pl.Datetime("ms", "Asia/Tokyo")),
                "span": with_gaps(SPANS),
                "price": pl.Series(with_gaps(cents), dtype=pl.Decimal(20, 2)),
                "list": [[i] for i in range(N)],
                "clock": [dt.time(i % 24) for i in range(N)],
            }
        )  # fmt: skip
    return pa.table(
        {
            "id": np.arange(N) + 0.5,
            "float": with_gaps(A.tolist()),
            "single": pa.array(A.astype("float32")),
            "int": with_gaps(FEW.tolist()),
            "small": pa.array(FEW, pa.uint8()),
            "big": pa.array((2**52 + 2 * np.arange(N) + 1).tolist()),
            "bool": with_gaps(TRUTH.tolist()),
            "text": with_gaps(CITY),
            "dictionary": pa.array(with_gaps(CITY)).dictionary_encode().cast(
                pa.dictionary(pa.int8(), pa.string())
            ),
            "day": with_gaps(DAYS),
            "time": pa.array(with_gaps(TIMES), pa.timestamp("s")),
            "zone": pa.array(TIMES, pa.timestamp("ns", "America/New_York")),
            "span": pa.array(with_gaps(SPANS), pa.duration("ms")),
            "price": pa.array(with_gaps(cents), pa.decimal128(20, 2)),
            "list": [[i] for i in range(N)],
        }
    )  # fmt: skip


NOT_EXPLAINED = {"id", "list", "clock"}


def is_nothing(value):
    return value is None or value is pd.NA or value != value  # noqa: PLR0124


def exact(value):
    """A value that equals another one only if a model could not tell them apart."""
    return type(value), "nothing" if is_nothing(value) else value


def as_they_are(rows):
    """All values of a table, by column, missing ones as their library has them."""
    names = list(rows.schema.names if isinstance(rows, pa.Table) else rows.columns)
    read = {
        pd.DataFrame: lambda c: rows[c].astype(object).tolist(),
        pl.DataFrame: lambda c: rows[c].to_list(),
        pa.Table: lambda c: rows[c].to_pylist(),
    }[type(rows)]
    return {c: [exact(v) if c != "list" else str(v) for v in read(c)] for c in names}


@each_library
@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "mplot"])
def test_every_row_asked_about_is_a_row_of_the_table_but_for_one_column(library, method):
    table = all_types(library)
    own, changed = as_they_are(table), set()

    def model(rows):
        assert schema(rows) == schema(table)
        asked = as_they_are(rows)
        for i, (_, number) in enumerate(asked["id"]):
            differ = {c for c in own if asked[c][i] != own[c][int(number)]}
            assert len(differ) <= 1
            changed.update(differ)
        return numbers(rows, "id")

    names = [c for c in own if c not in NOT_EXPLAINED]
    bins = None if method == "rhale" else {c: 3 for c in names if c not in {"int", "small", "bool"}}
    fx = rhale.explain(model, table, features=names, method=method, batch_size=1000, bins=bins)
    assert set(fx.features) == set(names)
    assert changed == (set() if method == "mplot" else set(names))


@each_library
def test_removed_values_are_missing_and_the_types_stay(library):
    table, emptied = all_types(library), set()

    def model(rows):
        assert schema(rows) == schema(table)
        for name in schema(rows)[1]:
            if name not in NOT_EXPLAINED and all(map(is_nothing, listed(rows, name)[: N // 2])):
                emptied.add(name)
        return numbers(rows, "id")

    names = [c for c in schema(table)[1] if c not in NOT_EXPLAINED]
    fx = rhale.explain(model, table, features=names)
    gappy = {c for c in names if any(map(is_nothing, listed(table, c)))}
    assert emptied == gappy
    assert {e.name for e in fx.values() if e.missing is not None} == gappy


@each_library
def test_the_kinds_of_all_columns_are_on_record(library):
    table = all_types(library)
    names = [c for c in schema(table)[1] if c not in NOT_EXPLAINED]
    kinds = rhale.explain(lambda r: numbers(r, "id"), table, features=names).provenance["kinds"]
    assert kinds["float"] == kinds["single"] == "number"
    assert kinds["int"] == kinds["small"] == kinds["bool"] == "steps"
    assert kinds["text"] == "categories"
    assert kinds["time"] == kinds["zone"] == "date"
    assert kinds["span"] == "duration"


# --- the same numbers everywhere ---------------------------------------------------------------


def close(found, expected):
    return found == pytest.approx(np.asarray(expected), rel=1e-10, abs=1e-10, nan_ok=True)


def assert_same(found, expected):
    """The same numbers of two effects or profiles, whatever library the rows came from."""
    assert type(found) is type(expected)
    for name in ("edges", "grid", "mean", "std", "count", "rows", "level_weight", "correlation"):
        if hasattr(expected, name):
            assert close(getattr(found, name), getattr(expected, name)), name
    if hasattr(expected, "levels"):
        assert found.levels == expected.levels
    assert (found.missing is None) == (expected.missing is None)
    if expected.missing is not None:
        assert close(
            [found.missing.mean, found.missing.std], [expected.missing.mean, expected.missing.std]
        )
        assert found.missing.count == expected.missing.count


@each_method
def test_the_same_numbers_from_every_library_and_from_an_array(method):
    gappy = np.where(GAPS, np.nan, A)
    columns = {"x0": A, "x1": FEW.astype(float), "x2": gappy}

    def of(x0, x1, x2):
        return np.sin(x0) * (1 + x1) + x1**2 + np.nan_to_num(x2, nan=4.0) * x0

    expected = rhale.explain(
        lambda r: of(*r.T), np.column_stack(list(columns.values())), method=method
    )
    for library in MAKERS:
        found = rhale.explain(
            lambda r: of(*(numbers(r, c) for c in columns)), make(library, **columns), method=method
        )
        for one, other in zip(found.values(), expected.values(), strict=True):
            assert_same(one, other)


@each_method
def test_the_same_numbers_of_names_and_dates_from_every_library(method):
    columns = {"city": with_gaps(CITY), "when": with_gaps(TIMES), "a": A, "few": FEW}

    def model(rows):
        hour = [0.0 if t is None else t.timetuple().tm_yday / 100 for t in listed(rows, "when")]
        return worth(rows) * (1 + numbers(rows, "a")) + np.array(hour) * numbers(rows, "few")

    first, *others = [rhale.explain(model, make(k, **columns), method=method) for k in MAKERS]
    assert first.provenance["kinds"] == {
        "city": "categories",
        "when": "date",
        "a": "number",
        "few": "steps",
    }
    for other in others:
        for one, two in zip(first.values(), other.values(), strict=True):
            assert_same(two, one)


@each_library
def test_levels_have_the_numbers_of_brute_force(library):
    table = make(library, a=A, city=CITY)
    fx = rhale.explain(lambda r: worth(r) * (1 + numbers(r, "a") ** 2), table)
    effect = fx["city"]
    expected = by_hand(CITY, effect.levels, lambda i, level: WORTH[level] * (1 + A[i] ** 2))
    assert effect.curve() == pytest.approx(expected, rel=1e-10)
    assert dict(zip(effect.levels, effect.level_count.tolist(), strict=True)) == sizes(
        table, "city"
    )


@each_library
def test_weighted_levels_have_the_numbers_of_brute_force(library):
    weights = RNG.uniform(0, 3, N)
    fx = rhale.explain(
        lambda r: worth(r) * (1 + numbers(r, "a") ** 2),
        make(library, a=A, city=CITY),
        weights=weights,
    )
    effect = fx["city"]
    answer = lambda i, level: WORTH[level] * (1 + A[i] ** 2)
    assert effect.curve() == pytest.approx(by_hand(CITY, effect.levels, answer, weights), rel=1e-10)
    assert effect.level_weight.sum() == pytest.approx(weights.sum(), rel=1e-12)


@each_library
def test_whole_numbers_and_truth_have_the_numbers_of_brute_force(library):
    fx = rhale.explain(
        lambda r: numbers(r, "few") ** 2 * numbers(r, "a") + 3 * numbers(r, "truth"),
        make(library, a=A, few=FEW, truth=TRUTH),
    )
    expected = by_hand(FEW.tolist(), range(5), lambda i, v: v**2 * A[i])
    assert fx["few"].curve(range(5)) == pytest.approx(expected, rel=1e-10)
    assert fx["truth"].levels == ("False", "True")
    assert fx["truth"].step == pytest.approx([3.0], rel=1e-12)
    assert fx["truth"].std == pytest.approx([0.0], abs=1e-12)


# --- missing values ----------------------------------------------------------------------------


@each_library
def test_the_missing_point_is_the_mean_change_when_the_value_is_removed(library):
    table = make(library, a=A, city=with_gaps(CITY))
    effect = rhale.explain(lambda r: worth(r) * (1 + numbers(r, "a") ** 2), table)["city"]
    change = [-WORTH[c] * (1 + a**2) for c, a, g in zip(CITY, A, GAPS, strict=True) if not g]
    assert effect.missing.mean == pytest.approx(np.mean(change), rel=1e-12)
    assert effect.missing.std == pytest.approx(np.std(change, ddof=1), rel=1e-12)
    assert effect.missing.count == GAPS.sum()
    assert effect.missing.share == pytest.approx(GAPS.mean())
    assert effect.level_count.sum() == N - GAPS.sum()
    assert any(f"{GAPS.sum()} of {N} rows" in note and "no value" in note for note in effect.notes)


@each_library
@pytest.mark.parametrize("name", ["a", "city", "few", "when"])
@pytest.mark.parametrize("method", ["rhale", "ale", "mplot"])
def test_rows_without_a_value_are_no_part_of_the_curve(library, name, method):
    columns = {"a": A.tolist(), "city": CITY, "few": FEW.tolist(), "when": TIMES}
    kept = {
        c: [v for v, g in zip(values, GAPS, strict=True) if not g] for c, values in columns.items()
    }
    columns[name] = with_gaps(columns[name])

    def model(rows):
        hour = [0.0 if t is None else t.timetuple().tm_yday / 100 for t in listed(rows, "when")]
        x = np.nan_to_num(numbers(rows, "a")) + np.nan_to_num(numbers(rows, "few"))
        return worth(rows) * (1 + x**2) + np.array(hour) * x

    found, expected = (
        rhale.explain(model, make(library, **c), features=name, method=method)[name]
        for c in (columns, kept)
    )
    assert_same(replace(found, missing=None), replace(expected, missing=None))


@each_library
@pytest.mark.parametrize("name", ["a", "city", "few", "when"])
def test_a_model_that_takes_no_missing_values_gets_none(library, name):
    """The rows that have none are the model's business; nothing is removed from the others."""
    columns = {"a": A.tolist(), "city": CITY, "few": FEW.tolist(), "when": TIMES}
    columns[name] = with_gaps(columns[name])
    table, n_asked = make(library, **columns), []

    def model(rows):
        empty = sum(v is None for v in listed(rows, name))
        n_asked.append(empty == len(listed(rows, name)))
        return np.full(len(listed(rows, name)), np.nan if n_asked[-1] else 1.0)

    effect = rhale.explain(model, table)[name]
    assert effect.missing is None
    assert n_asked.count(True) == 1
    assert any(
        "the model fails where this value is removed from other rows (" in note
        for note in effect.notes
    )


@each_library
@each_method
def test_a_column_of_missing_values_only_is_refused_by_name(library, method):
    empty = np.full(N, np.nan) if library == "pandas" else pa.nulls(N, pa.string())
    if library == "polars":
        empty = pl.Series([None] * N, dtype=pl.Int64)
    with pytest.raises(
        BadTableError, match=rf"'gone' has no value in any of {N} rows; leave it out"
    ):
        rhale.explain(lambda r: numbers(r, "a"), make(library, a=A, gone=empty), method=method)


@each_library
def test_a_feature_with_a_single_value_left_says_so(library):
    city = [None] * (N - 1) + ["Bern"]
    effect = rhale.explain(lambda r: worth(r), make(library, a=A, city=city))["city"]
    assert effect.levels == ("Bern",)
    assert "always 'Bern'" in effect.notes[0]


# --- odd levels --------------------------------------------------------------------------------


@each_library
@each_method
def test_one_level_has_a_flat_curve(library, method):
    effect = rhale.explain(
        lambda r: numbers(r, "a"), make(library, a=A, f=["x"] * N), method=method
    )["f"]
    assert effect.levels == ("x",)
    assert effect.curve("x") == pytest.approx(0.0, abs=1e-12)


@each_library
def test_two_levels_have_one_step(library):
    two = ["yes" if t else "no" for t in TRUTH]
    effect = rhale.explain(
        lambda r: np.array([4.0 if v == "yes" else 1.0 for v in listed(r, "f")]),
        make(library, a=A, f=two),
    )["f"]
    assert abs(effect.step[0]) == pytest.approx(3.0)
    assert effect.curve("yes") - effect.curve("no") == pytest.approx(3.0)


def declared(library, values, levels, *, ordered=False):
    """A column whose type names its levels."""
    if library == "pandas":
        return pd.Categorical(values, categories=levels, ordered=ordered)
    if library == "polars":
        return pl.Series(values, dtype=pl.Enum(levels))
    codes = pa.array([None if v is None else levels.index(v) for v in values], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=ordered)


@each_library
@each_method
def test_levels_that_no_row_has_are_ignored(library, method):
    column = declared(library, CITY, ["Oslo", "Rome", "Bern", "Paris", "Riga"])
    effect = rhale.explain(worth, make(library, a=A, city=column), method=method)["city"]
    assert sorted(effect.levels) == ["Bern", "Paris", "Rome"]


@each_library
def test_a_declared_order_is_kept(library):
    column = declared(library, CITY, ["Oslo", "Rome", "Bern", "Paris"], ordered=True)
    effect = rhale.explain(worth, make(library, a=A, city=column))["city"]
    assert effect.levels == ("Rome", "Bern", "Paris")
    assert effect.step == pytest.approx([1.0 - 6.0, 3.0 - 1.0])
    assert effect.notes == ()


@each_library
def test_a_level_that_nearly_all_rows_have_leaves_the_others_their_steps(library):
    values = ["much" if i % 20 else ("b", "c")[i // 20 % 2] for i in range(400)]
    worths = {"much": 1.0, "b": 5.0, "c": 9.0}
    table = make(library, a=RNG.normal(size=400), f=values)
    effect = rhale.explain(lambda r: np.array([worths[v] for v in listed(r, "f")]), table)["f"]
    assert effect.curve("c") - effect.curve("b") == pytest.approx(4.0)
    assert effect.curve("much") == pytest.approx(1.0 - np.mean([worths[v] for v in values]))


@each_library
def test_300_levels_are_fifty_and_the_others(library):
    values = [f"v{i % 300 if i < 1500 else i % 40}" for i in range(2000)]
    table = make(library, a=RNG.normal(size=2000), f=values)
    effect = rhale.explain(lambda r: numbers(r, "a"), table)["f"]
    assert len(effect.levels) == 51
    assert "other (250 levels)" in effect.levels
    assert len(effect.pooled) == 250
    assert effect.level_count.sum() == 2000
    assert any("250 rare levels are pooled" in note for note in effect.notes)
    assert effect.curve("v299") == effect.curve("other (250 levels)")


@each_library
@each_method
def test_an_identifier_is_one_pool_of_levels(library, method):
    table = make(library, a=A, id=[f"row {i}" for i in range(N)])
    effect = rhale.explain(lambda r: numbers(r, "a"), table, method=method)["id"]
    assert effect.levels == (f"other ({N} levels)",)


@each_library
def test_an_identifier_is_not_called_constant(library):
    table = make(library, a=A, id=[f"row {i}" for i in range(N)])
    notes = rhale.explain(lambda r: numbers(r, "a"), table)["id"].notes
    assert not any("constant" in note for note in notes)


@each_library
def test_rare_levels_are_asked_about_as_often_as_they_are(library):
    """A row moved to the pool becomes one of its levels, so that the pool's mean is right."""
    values = ["rare"] + ["seldom"] * 3 + ["common"] * 2000
    worths = {"rare": 8.0, "seldom": 4.0, "common": 0.0}
    table = make(library, a=RNG.normal(size=2004), f=values)
    effect = rhale.explain(lambda r: np.array([worths[v] for v in listed(r, "f")]), table)["f"]
    assert effect.curve("rare") - effect.curve("common") == pytest.approx(5.0, abs=0.15)


def test_mixed_types_in_one_column_are_told_apart():
    values = [("1", 1, 1.0, True, None)[i % 5] for i in range(N)]
    worths = {"str": 1.0, "int": 2.0, "float": 4.0, "bool": 8.0, "NoneType": 0.0}
    table = pd.DataFrame({"a": A, "f": pd.Series(values, dtype=object)})
    effect = rhale.explain(lambda r: np.array([worths[type(v).__name__] for v in r["f"]]), table)[
        "f"
    ]
    assert set(effect.levels) == {"1 (str)", "1 (int)", "1.0", "True"}
    assert effect.curve("True") - effect.curve("1.0") == pytest.approx(4.0)
    assert effect.missing.count == N // 5


@pytest.mark.parametrize("batch_size", [None, 50])
def test_types_that_change_late_in_a_column_are_told_apart(batch_size):
    values = ["s"] * 150 + [1, True] * 10
    table = pd.DataFrame({"a": RNG.normal(size=170), "f": pd.Series(values, dtype=object)})
    effect = rhale.explain(lambda r: r["a"], table, batch_size=batch_size)["f"]
    assert sorted(effect.levels) == ["1", "True", "s"]


@pytest.mark.parametrize("dtype", ["category", "object"])
def test_numbers_as_categories_reach_the_model_as_numbers(dtype):
    table = pd.DataFrame({"a": A, "zip": pd.Series(10 * (FEW + 1)).astype(dtype)})

    def model(rows):
        assert all(type(v) is int for v in rows["zip"])
        return rows["zip"].astype(float) * 2

    effect = rhale.explain(model, table)["zip"]
    assert set(effect.levels) == {"10", "20", "30", "40", "50"}
    assert effect.curve(50) - effect.curve(10) == pytest.approx(80.0)


def test_intervals_are_levels_in_their_own_order():
    table = pd.DataFrame({"a": A, "f": pd.cut(A, 3, labels=None)})
    effect = rhale.explain(lambda r: r["f"].cat.codes.to_numpy(dtype=float), table)["f"]
    assert effect.levels == tuple(str(c) for c in table["f"].cat.categories)
    assert effect.step == pytest.approx([1.0, 1.0])


# --- odd columns -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index",
    [
        np.arange(N)[::-1],
        np.arange(N) % 7,
        [f"r{i}" for i in range(N)],
        pd.date_range("2020", periods=N),
    ],
    ids=["reversed", "repeated", "text", "dates"],
)
@pytest.mark.parametrize("method", ["rhale", "pdp"])
def test_the_index_does_not_matter(index, method):
    columns = {"a": A, "city": with_gaps(CITY), "when": TIMES, "few": FEW}
    settings = {"method": method, "batch_size": 80, "bins": {"a": 4, "when": 4}}
    model = lambda r: worth(r) * (1 + r["a"].to_numpy()) + r["few"].to_numpy()
    found = rhale.explain(model, pd.DataFrame(columns, index=index), **settings)
    expected = rhale.explain(model, pd.DataFrame(columns), **settings)
    for one, other in zip(found.values(), expected.values(), strict=True):
        assert_same(one, other)


ODD = ["a column", "a.b", "price in €", "🙂", "<b>bold</b>", "", " ", "x\ny", "ünïcode", "None"]


@each_library
def test_columns_may_be_called_anything(library):
    table = MAKERS[library]({name: A if i % 2 else CITY for i, name in enumerate(ODD)})
    fx = rhale.explain(lambda r: numbers(r, "a.b") * 2 + worth(r, "a column"), table)
    assert fx.features == tuple(ODD)
    assert fx["a.b"].mean == pytest.approx(np.full(fx["a.b"].mean.size, 2.0))
    assert fx["a column"].curve("Rome") - fx["a column"].curve("Bern") == pytest.approx(5.0)
    assert fx["🙂"].importance == 0.0 or np.isfinite(fx["🙂"].importance)


@each_library
def test_a_feature_called_x0_is_the_one_called_so(library):
    fx = rhale.explain(lambda r: 5 * numbers(r, "x0"), make(library, other=CITY, x0=A, x1=FEW))
    assert fx["x0"].mean == pytest.approx(np.full(fx["x0"].mean.size, 5.0))
    assert fx["x0"].name == "x0"
    assert fx[0].name == "other"


def test_columns_called_by_numbers_are_found_by_name_before_position():
    table = pd.DataFrame({1: CITY, 0: A})
    fx = rhale.explain(lambda r: worth(r, 1) + 2 * r[0].to_numpy(), table)
    assert fx.features == ("1", "0")
    assert fx[0].name == "0"
    assert fx["1"].curve("Rome") - fx["1"].curve("Bern") == pytest.approx(5.0)


@each_library
@pytest.mark.parametrize("name", ["inf", "-inf"])
def test_infinite_values_are_refused_with_column_and_row(library, name):
    values = A.copy()
    values[17] = float(name)
    with pytest.raises(
        BadTableError, match=rf"'b' has infinite values \(first in row 17: {name}\)"
    ):
        rhale.explain(lambda r: numbers(r, "a"), make(library, a=A, b=values))


@each_library
def test_infinite_values_of_columns_beside_are_the_model_s_business(library):
    values = np.where(A > 1, np.inf, A)
    table = make(library, b=values, city=CITY)
    effect = rhale.explain(lambda r: worth(r) + np.isinf(numbers(r, "b")), table, features="city")[
        "city"
    ]
    assert effect.curve("Rome") - effect.curve("Bern") == pytest.approx(5.0)


@each_library
def test_lists_beside_are_passed_on_and_refused_as_features(library):
    table = make(library, a=A, many=[[i, 2] for i in range(N)])
    fx = rhale.explain(lambda r: 2 * numbers(r, "a"), table, features="a")
    assert fx["a"].mean == pytest.approx(np.full(fx["a"].mean.size, 2.0))
    with pytest.raises(BadTableError, match=r"column 'many' holds .* features="):
        rhale.explain(lambda r: numbers(r, "a"), table)


@each_library
@pytest.mark.parametrize("n_values", [20, 24, 61])
def test_few_whole_numbers_with_rows_enough_are_steps(library, n_values):
    few = np.arange(N) % n_values
    table = make(library, f=few, g=few.astype(float), a=A)
    fx = rhale.explain(lambda r: numbers(r, "f") + numbers(r, "g"), table)
    enough = n_values <= 20 or 2 * (N // n_values) >= 10
    kind = "steps" if enough and n_values <= 60 else "number"
    assert fx.provenance["kinds"] == {"f": kind, "g": kind, "a": "number"}
    for effect in (fx["f"], fx["g"]):
        assert effect.curve(n_values - 1) - effect.curve(0) == pytest.approx(n_values - 1)


@each_library
def test_whole_floats_with_gaps_are_steps_as_well(library):
    effect = rhale.explain(
        lambda r: np.nan_to_num(numbers(r, "f")),
        make(library, a=A, f=with_gaps(FEW.astype(float).tolist())),
    )["f"]
    assert effect.levels == ("0", "1", "2", "3", "4")
    assert effect.missing.mean == pytest.approx(-np.mean(FEW[~GAPS]))


def test_equal_limits_from_ties_are_merged_and_rows_on_limits_counted_once():
    values = np.repeat([0.5, 1.5, 2.5, 9.5], [90, 10, 10, 10])
    for library in MAKERS:
        table = make(library, f=values, a=A)
        effect = rhale.explain(lambda r: 2 * numbers(r, "f"), table, bins=rhale.Quantile(10))["f"]
        assert np.all(np.diff(effect.edges) > 0)
        assert effect.count.sum() == N
        exact_limits = rhale.explain(
            lambda r: 2 * numbers(r, "f"), table, bins={"f": rhale.Edges([0.5, 1.5, 2.5, 9.5])}
        )["f"]
        assert exact_limits.count.tolist() == [90, 10, 20]


# --- dates -------------------------------------------------------------------------------------


def days_of(rows, name="when"):
    start = dt.datetime(1970, 1, 1)
    values = [pd.Timestamp(v).to_pydatetime().replace(tzinfo=None) for v in listed(rows, name)]
    return np.array([(v - start) / dt.timedelta(days=1) for v in values])


@each_library
@pytest.mark.parametrize("values", [DAYS, TIMES], ids=["dates", "times"])
def test_dates_are_explained_on_the_time_axis_across_1970(library, values):
    if library == "pandas":
        values = pd.Series(values).astype(pd.ArrowDtype(pa.array(values).type))  # not as objects
    effect = rhale.explain(lambda r: 0.5 * days_of(r), make(library, a=A, when=values))["when"]
    assert effect.kind == "date"
    assert effect.edges[0] < 0 < effect.edges[-1]
    assert effect.mean == pytest.approx(np.full(effect.mean.size, 0.5), rel=1e-6)
    rise = effect.curve(dt.date(1970, 2, 1)) - effect.curve("1970-01-01")
    assert rise == pytest.approx(0.5 * 31, rel=1e-6)


@each_library
def test_limits_of_dates_are_dates_and_the_notes_say_how_many_rows_are_outside(library):
    table = make(library, a=A, when=TIMES)
    limits = (dt.date(1969, 9, 1), "1970-03-01")
    effect = rhale.explain(lambda r: days_of(r), table, limits={"when": limits})["when"]
    n_outside = sum(not dt.datetime(1969, 9, 1) <= t <= dt.datetime(1970, 3, 1) for t in TIMES)
    assert effect.count.sum() == N - n_outside
    assert any(
        f"{n_outside} of {N} rows lie outside [1969-09-01, 1970-03-01]" in n for n in effect.notes
    )


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_time_zones_and_units_do_not_change_the_moments(unit):
    naive = pd.Series(TIMES).astype(f"datetime64[{unit}]")
    zoned = naive.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")
    model = lambda r: r["when"].astype("int64").to_numpy() * 1e-3
    plain, there = (
        rhale.explain(model, pd.DataFrame({"a": A, "when": w}), bins=4)["when"]
        for w in (naive, zoned)
    )
    assert_same(there, plain)
    limits = pd.Timestamp("1969-09-01", tz="Asia/Kolkata"), pd.Timestamp("1970-03-01", tz="UTC")
    cut = rhale.explain(
        model, pd.DataFrame({"a": A, "when": zoned}), limits={"when": limits}, bins=4
    )
    assert cut["when"].edges[0] == pytest.approx(-122 - 5.5 / 24)


@each_library
def test_durations_are_explained_in_seconds(library):
    model = lambda r: np.array([2 * pd.Timedelta(s).total_seconds() for s in listed(r, "span")])
    effect = rhale.explain(
        model, make(library, a=A, span=pd.Series(SPANS) if library == "pandas" else SPANS)
    )["span"]
    assert effect.kind == "duration"
    assert effect.mean == pytest.approx(np.full(effect.mean.size, 2.0), rel=1e-6)
    assert effect.curve(dt.timedelta(minutes=1)) - effect.curve(0) == pytest.approx(120.0, rel=1e-6)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_decimals_with_few_digits_have_the_slope_of_what_the_model_saw(library):
    tenths = [Decimal(int(v)) / 10 for v in RNG.integers(0, 300, N)]
    column = (
        pl.Series(tenths, dtype=pl.Decimal(10, 1))
        if library == "polars"
        else pa.array(tenths, pa.decimal128(10, 1))
    )
    effect = rhale.explain(lambda r: 3 * numbers(r, "p"), make(library, a=A, p=column))["p"]
    assert effect.mean == pytest.approx(np.full(effect.mean.size, 3.0), rel=1e-9)
    assert effect.std == pytest.approx(np.zeros(effect.mean.size), abs=1e-6)


# --- what the user says ------------------------------------------------------------------------


@each_library
def test_numbers_are_categories_if_the_user_says_so(library):
    table = make(library, a=A, zip=RNG.integers(1000, 1030, N))
    for said in ({"zip": True}, ["zip"], "zip", {1: True}):
        fx = rhale.explain(lambda r: numbers(r, "a"), table, categorical=said)
        assert fx.provenance["kinds"]["zip"] == "categories"


@each_library
def test_few_whole_numbers_are_numbers_if_the_user_says_so(library):
    fx = rhale.explain(
        lambda r: 2 * numbers(r, "few"), make(library, a=A, few=FEW), categorical={"few": False}
    )
    assert isinstance(fx["few"], rhale.Effect)
    assert fx["few"].mean == pytest.approx(np.full(fx["few"].mean.size, 2.0))


@each_library
def test_an_order_given_by_the_user_is_the_order_of_the_steps(library):
    order = ["Rome", "Bern", "nowhere", "Paris"]
    effect = rhale.explain(worth, make(library, a=A, city=CITY), categorical={"city": order})[
        "city"
    ]
    assert effect.levels == ("Rome", "Bern", "Paris")
    assert effect.step == pytest.approx([-5.0, 2.0])


@each_library
def test_an_order_that_lacks_a_level_is_refused(library):
    with pytest.raises(
        BadSettingError, match=r"order given for 'city' leaves out 1 .*'Paris'; list every"
    ):
        rhale.explain(worth, make(library, a=A, city=CITY), categorical={"city": ["Rome", "Bern"]})


@each_library
def test_words_cannot_be_numbers(library):
    with pytest.raises(
        BadSettingError, match=r"\{'city': False\}, but the column holds no numbers"
    ):
        rhale.explain(worth, make(library, a=A, city=CITY), categorical={"city": False})


def test_unknown_columns_in_categorical_are_refused_with_near_names():
    with pytest.raises(UnknownFeatureError, match=r"no feature 'citi'; did you mean 'city'"):
        rhale.explain(worth, make("pandas", a=A, city=CITY), categorical={"citi": True})


@each_library
def test_limits_of_levels_are_refused(library):
    with pytest.raises(BadSettingError, match=r"limits= are for numbers, but 'city' has levels"):
        rhale.explain(worth, make(library, a=A, city=CITY), limits={"city": (0, 1)})


def test_limits_turn_few_whole_numbers_into_numbers():
    table = make("pandas", a=A, few=FEW)
    effect = rhale.explain(lambda r: 2 * r["few"], table, limits={"few": (1, 3)})["few"]
    assert effect.edges[[0, -1]].tolist() == [1.0, 3.0]


def test_limits_by_position_turn_few_whole_numbers_into_numbers():
    table = make("pandas", a=A, few=FEW)
    effect = rhale.explain(lambda r: 2 * r["few"], table, limits={1: (1, 3)})["few"]
    assert effect.edges[[0, -1]].tolist() == [1.0, 3.0]


def test_the_bins_of_another_result_are_its_steps_too():
    table, model = make("pandas", a=A, few=FEW), lambda r: 2.0 * r["few"]
    first = rhale.explain(model, table)
    assert_same(rhale.explain(model, table, bins=first)["few"], first["few"])


@each_library
def test_some_features_of_a_raw_table_have_the_numbers_they_have_among_all(library):
    table = make(library, a=A, city=CITY, few=FEW, when=TIMES)
    model = lambda r: worth(r) * numbers(r, "few") * numbers(r, "a")
    all_of_them = rhale.explain(model, table)
    some = rhale.explain(model, table, features=["few", "city"])
    assert some.features == ("few", "city")
    for effect in some.values():
        assert_same(effect, all_of_them[effect.name])


@each_library
def test_fewer_rows_are_drawn_with_their_names(library):
    table = make(library, a=A, city=CITY)
    fx = rhale.explain(lambda r: worth(r) + numbers(r, "a"), table, n_rows=60, seed=4)
    rows = np.sort(np.random.default_rng(4).choice(N, 60, replace=False))
    counts = dict(zip(fx["city"].levels, fx["city"].level_count.tolist(), strict=True))
    assert counts == {c: [CITY[i] for i in rows].count(c) for c in WORTH}


@each_library
def test_a_level_whose_rows_weigh_nothing_is_absent(library):
    weights = [0.0 if c == "Rome" else 2.0 for c in CITY]
    effect = rhale.explain(worth, make(library, a=A, city=CITY), weights=weights)["city"]
    assert effect.levels == ("Bern", "Paris")


@each_library
def test_the_caller_s_table_is_as_it_was(library):
    table = all_types(library)
    before = as_they_are(table)
    names = [c for c in before if c not in NOT_EXPLAINED]
    rhale.explain(lambda r: numbers(r, "id"), table, features=names)
    assert as_they_are(table) == before
