"""Files: cost by columns, of types that change late, and of looking at bytes before they are used."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from measuring import race, seconds

import rhale
from rhale.data.files.arrow import validate
from rhale.data.files.table import open_files

N_ROWS, N_COLUMNS = 40, 2000
DOUBLED = 2.4  # twice the columns, with room for what the machine does meanwhile
N_LATE, LATE_ROWS = 20, 200_000
CHECKED_ROWS = 1_000_000


def write_columns(folder, kind, n_columns):
    """Write normal numbers in many columns."""
    rng, path = np.random.default_rng(0), folder / f"{n_columns}.{kind}"
    names = [f"c{i}" for i in range(n_columns)]
    rows = pd.DataFrame(rng.normal(size=(N_ROWS, n_columns)), columns=names)
    if kind == "csv":
        rows.to_csv(path, index=False)
    else:
        (rows.to_parquet if kind == "parquet" else rows.to_feather)(path)
    return path


def explain_one(path):
    return rhale.explain(lambda rows: rows["c1"].to_numpy() ** 2, path, features=["c1"])["c1"]


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
def test_twice_the_columns_take_twice_the_time(benchmark, ledger, tmp_path, kind):
    small = write_columns(tmp_path, kind, N_COLUMNS)
    large = write_columns(tmp_path, kind, 2 * N_COLUMNS)

    found = race(benchmark, lambda: explain_one(large), lambda: explain_one(small), rounds=3)

    for effect, path in ((found.our_answer, large), (found.other_answer, small)):
        column = open_files(path).only(["c1"])
        (chunk,) = column.chunks(N_ROWS)
        values = chunk.column(0)
        assert effect.edges[0] == values.min()
        assert effect.edges[-1] == values.max()
    ledger.add(
        f"one feature of a wide file, {kind}",
        f"{2 * N_COLUMNS:,} and {N_COLUMNS:,} columns, {N_ROWS} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2f} for 2 x the columns",
        f"<= {DOUBLED}",
        met=found.cost <= DOUBLED,
    )


def test_types_that_change_late_cost_a_few_readings(benchmark, ledger, tmp_path):
    path = tmp_path / "late.csv"
    row = ",".join(["7"] * N_LATE)
    header = ",".join(f"c{i}" for i in range(N_LATE))
    late = ",".join(["text"] * N_LATE)
    path.write_text("\n".join([header, *[row] * LATE_ROWS, late, ""]), encoding="utf-8")

    def read_whole():
        return pa.csv.read_csv(path, pa.csv.ReadOptions(use_threads=False, block_size=2**30))

    found = race(benchmark, lambda: open_files(path), read_whole, rounds=3)

    assert found.our_answer.source.schema == found.other_answer.schema
    assert found.our_answer.n_rows == len(found.other_answer)
    ledger.add(
        "types of CSV that change in the last row, against the file in one block",
        f"{N_LATE} columns, {LATE_ROWS:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2f}",
    )


@pytest.mark.parametrize("kind", ["numbers", "text"])
@pytest.mark.parametrize("ending", ["feather", "parquet"])
def test_checks_cost_little_of_reading(benchmark, ledger, tmp_path, kind, ending):
    rng, path = np.random.default_rng(0), tmp_path / f"rows.{ending}"
    columns = {f"x{i}": rng.normal(size=CHECKED_ROWS) for i in range(8)}
    if kind == "text":
        words = np.array([f"word number {i}" for i in range(1000)])
        columns = {f"x{i}": words[rng.integers(0, 1000, CHECKED_ROWS)] for i in range(4)}
    rows = pa.table(columns)
    if ending == "parquet":
        pq.write_table(rows, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=2**16)

    def read_all(*, checked):
        table, n_rows = open_files(path), 0
        with pytest.MonkeyPatch.context() as patch:
            if not checked:
                for module in ("arrow", "parquet"):
                    patch.setattr(f"rhale.data.files.{module}.validate", lambda batch: batch)
                patch.setattr("rhale.data.files.parquet.safe_rows", lambda *a: a[-1])
            for batch in table.source.parts[0].batches(table.source.schema, 2**16):
                n_rows += batch.num_rows
        return n_rows

    found = race(
        benchmark, lambda: read_all(checked=True), lambda: read_all(checked=False), rounds=5
    )

    assert found.our_answer == found.other_answer == CHECKED_ROWS
    assert validate(rows.slice(0, 10)).num_rows == 10
    ledger.add(
        f"reading {kind} from {ending}, checked, against unchecked",
        f"{len(columns)} columns, {CHECKED_ROWS:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2f}",
    )
