"""Numbers that were stored as text get a note with the cast to write, and nothing else does."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

import rhale
from rhale.features.categories import describe_numbers, reads_as_number

N = 200
RNG = np.random.default_rng(0)
BMI = RNG.uniform(18, 40, N).round(1)
TEXT = [f"{v:.1f}" for v in BMI]
OTHER = RNG.normal(size=N)


def model(rows):
    return np.array([0.0 if pd.isna(v) else float(v) for v in list(rows["bmi"])])


def of_arrow(rows):
    return model({"bmi": rows.column("bmi").to_pylist()})


def text_notes(effect):
    return [note for note in effect.notes if note.kind == "text"]


def explained(table, predict=model, **options):
    return rhale.explain(predict, table, features="bmi", **options)["bmi"]


@pytest.mark.parametrize("kind", [str, object])
def test_numbers_stored_as_text_get_a_note_with_the_cast(kind):
    """B4: a linear model, to which scikit-learn casts silently."""
    table = pd.DataFrame({"bmi": BMI, "other": OTHER})
    fitted = LinearRegression().fit(table, BMI + OTHER)
    fx = rhale.explain(fitted, table.astype({"bmi": kind}))
    (note,) = text_notes(fx["bmi"])
    assert "'bmi' is " + {str: "text", object: "of type object"}[kind] in note
    assert f"each of its {np.unique(BMI).size} values is a category" in note
    code = note.rpartition(": ")[2]
    assert code == "X['bmi'] = X['bmi'].astype(float)"
    found = {"X": table.astype({"bmi": kind})}
    exec(code, found)  # noqa: S102 - does what it says
    again = rhale.explain(fitted, found["X"])
    assert text_notes(again["bmi"]) == []
    assert again["bmi"].mean == pytest.approx([1.0])


def test_the_cast_of_polars_and_of_arrow_is_theirs():
    table = pl.DataFrame({"bmi": TEXT, "other": OTHER})
    (note,) = text_notes(explained(table))
    found = {"X": table, "pl": pl}
    exec(note.rpartition(": ")[2], found)  # noqa: S102
    assert found["X"]["bmi"].to_numpy() == pytest.approx(BMI)
    table = pa.table({"bmi": TEXT, "other": OTHER})
    (note,) = text_notes(explained(table, of_arrow))
    found = {"X": table, "pa": pa}
    exec(note.rpartition("number: ")[2], found)  # noqa: S102
    assert found["X"]["bmi"].to_numpy() == pytest.approx(BMI)


def test_text_in_files_gets_the_note(tmp_path):
    pd.DataFrame({"bmi": TEXT, "other": OTHER}).to_parquet(tmp_path / "rows.parquet")
    (note,) = text_notes(explained(tmp_path / "rows.parquet"))
    assert note.endswith("to explain it as a number: store column 'bmi' as numbers")


def test_missing_values_are_no_levels():
    table = pd.DataFrame({"bmi": [None, *TEXT[1:]], "other": OTHER})
    assert len(text_notes(explained(table))) == 1


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp"])
def test_every_method_says_so(method):
    table = pd.DataFrame({"bmi": TEXT, "other": OTHER})
    assert len(text_notes(explained(table, method=method))) == 1


@pytest.mark.parametrize("said", [True, sorted(set(TEXT))], ids=["categories", "in order"])
def test_whoever_calls_them_categories_is_not_contradicted(said):
    table = pd.DataFrame({"bmi": TEXT, "other": OTHER})
    assert text_notes(explained(table, categorical={"bmi": said})) == []


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(TEXT),
        pd.Categorical(np.arange(N) % 7),
        [f"0{i % 7}" for i in range(N)],
        [f"{i % 7} years" for i in range(N)],
        [str(i % 2) for i in range(N)],
        [f"{i % 7}" if i % 50 else "none" for i in range(N)],
    ],
    ids=["category", "category of numbers", "codes", "units", "two", "a word among them"],
)
def test_names_get_no_note(column):
    table = pd.DataFrame({"bmi": column, "other": OTHER})
    fx = rhale.explain(lambda rows: rows["other"].to_numpy(), table)
    assert text_notes(fx["bmi"]) == []


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, unique=True))
def test_whatever_python_writes_for_a_number_reads_as_one(values):
    assert len(describe_numbers("x", [repr(v) for v in values], "pandas")) == 1
    assert len(describe_numbers("x", values, "pandas")) == 1


def test_numbers_of_databases_read_as_numbers():
    assert reads_as_number(Decimal("1.50"))
    assert not reads_as_number(Decimal("NaN"))
    assert not reads_as_number(pd.Timestamp("2020-01-01"))
