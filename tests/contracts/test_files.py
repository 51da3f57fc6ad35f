"""Files give the numbers of the same table in memory, however they are cut."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import BadTableError

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

N = 900
RNG = np.random.default_rng(8)
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "rooms": RNG.integers(0, 5, N),
        "age (years).x": RNG.uniform(0, 40, N),
        "gap": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "floor": pd.array(RNG.integers(0, 60, N), dtype="Int64"),
        "city": RNG.choice(["Bern", "Rome", "Paris"], N),
        "grade": pd.Categorical(RNG.choice(["S", "M", "L"], N), ["S", "M", "L"], ordered=True),
        "sold": np.datetime64("2020-01-01", "us") + RNG.integers(0, 900, N).astype("m8[D]"),
        "new": RNG.random(N) < 0.4,
        "matters": RNG.integers(0, 3, N) / 2,
    }
)
TABLE.loc[[3, 800], "floor"] = pd.NA  # whole numbers: gaps in two of many pieces
TABLE.loc[::9, "city"] = None
IN_MEMORY = TABLE.assign(floor=TABLE["floor"].astype("float64"))  # as pandas reads gaps
CELLS = ("count", "weight", "weight_squares", "mean_x", "sxx", "mean", "sxd", "sdd")


def price(rows):
    size, gap = rows["size"].to_numpy(), rows["gap"].to_numpy()
    days = (rows["sold"] - pd.Timestamp("2020-01-01")).dt.days.to_numpy()
    return (
        size**2 * (1 + rows["new"].to_numpy())
        + rows["rooms"].to_numpy() * (rows["city"] == "Rome").fillna(value=False).to_numpy()
        + np.nan_to_num(gap) * size
        + np.sin(days / 100)
        + np.nan_to_num(rows["floor"].to_numpy()) * 0.1 * rank(rows["grade"])
        + rows["age (years).x"].to_numpy() * gap_or(gap)
    )


def rank(grades):
    return grades.astype(str).map({"S": 0, "M": 1, "L": 2}).to_numpy()


def gap_or(gap):
    return np.where(np.isnan(gap), 0.3, 0.5 + gap)


def write_files(folder, n_files):
    step = -(-N // n_files)
    for place, start in enumerate(range(0, N, step)):
        TABLE[start : start + step].to_parquet(folder / f"{place:03d}.parquet")
    return folder


def write_groups(folder, n_groups):
    TABLE.to_parquet(folder / "rows.parquet", row_group_size=-(-N // n_groups))
    return folder / "rows.parquet"


def assert_same(found, wanted):
    """Same bins; everything else to 1e-12 of its own size, or of the predictions'."""
    assert found.features == wanted.features
    assert found.provenance["kinds"] == wanted.provenance["kinds"]
    assert found.provenance["rows"] == wanted.provenance["rows"]
    scale = float(np.abs(wanted.predictions).max())
    for mine, theirs in zip(found.values(), wanted.values(), strict=True):
        for name in ("edges", "grid", "count", "levels", "level_count", "rows"):
            if hasattr(theirs, name):
                np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), name)
        for name in ("mean", "std"):
            near(getattr(mine, name), getattr(theirs, name), scale)
    assert found.cells.keys() == wanted.cells.keys()
    for feature, cells in wanted.cells.items():
        for name in CELLS:
            near(getattr(found.cells[feature], name), getattr(cells, name), 0.0)
    near(found.predictions, wanted.predictions, scale)


def near(found, wanted, scale):
    size = max(float(np.nanmax(np.abs(wanted))), scale)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * size)


@pytest.fixture(scope="module")
def wanted():
    known = {}

    def explained(method):
        if method not in known:
            known[method] = rhale.explain(price, IN_MEMORY, weights="matters", method=method)
        return known[method]

    return explained


@pytest.mark.parametrize("n_parts", [1, 7, 100])
@pytest.mark.parametrize("write", [write_files, write_groups])
def test_parquet_gives_the_numbers_of_memory_however_it_is_cut(tmp_path, wanted, write, n_parts):
    found = rhale.explain(price, write(tmp_path, n_parts), weights="matters", batch_size=350)
    assert_same(found, wanted("rhale"))
    assert found.provenance["table"] == "files"


@pytest.mark.parametrize("method", ["ale", "pdp", "ice", "mplot"])
def test_every_method_gives_the_numbers_of_memory(tmp_path, wanted, method):
    data = write_files(tmp_path, 7)
    assert_same(rhale.explain(price, data, weights="matters", method=method), wanted(method))


@pytest.mark.parametrize("ending", ["feather", "arrow", "stream"])
def test_arrow_gives_the_numbers_of_memory(tmp_path, wanted, ending):
    table, path = pa.Table.from_pandas(TABLE), tmp_path / f"rows.{ending}"
    if ending == "feather":
        TABLE.to_feather(path, chunksize=333)
    else:
        kind = pa.ipc.new_stream if ending == "stream" else pa.ipc.new_file
        with kind(path, table.schema) as file:
            file.write_table(table, max_chunksize=333)
    found = rhale.explain(price, path, weights="matters", batch_size=350)
    assert_same(found, wanted("rhale"))


@pytest.mark.parametrize("n_files", [1, 3])
def test_csv_gives_the_numbers_of_memory(tmp_path, n_files):
    """Text knows no categories: the grades are names here."""
    data = IN_MEMORY.assign(grade=TABLE["grade"].astype(str))
    for place, rows in enumerate(np.array_split(np.arange(N), n_files)):
        data.iloc[rows].to_csv(tmp_path / f"{place}.csv", index=False)
    found = rhale.explain(price, tmp_path / "*.csv", weights="matters", batch_size=350)
    assert_same(found, rhale.explain(price, data, weights="matters"))


def test_gradients_of_files_are_those_of_memory(tmp_path):
    numbers = TABLE[["size", "age (years).x"]]

    def gradient(rows):
        x = rows.to_numpy()
        return np.column_stack([2 * x[:, 0] * x[:, 1], x[:, 0] ** 2])

    def model(rows):
        return rows.iloc[:, 0].to_numpy() ** 2 * rows.iloc[:, 1].to_numpy()

    numbers.to_parquet(tmp_path / "rows.parquet", row_group_size=200)
    found = rhale.explain(model, tmp_path / "rows.parquet", gradient=gradient, batch_size=300)
    assert_same(found, rhale.explain(model, numbers, gradient=gradient))


@pytest.mark.parametrize("n_files", [1, 100])
def test_the_same_rows_are_drawn_as_in_memory(tmp_path, n_files):
    data, settings = write_files(tmp_path, n_files), {"n_rows": 200, "seed": 5}
    found = rhale.explain(price, data, **settings, batch_size=64)
    assert_same(found, rhale.explain(price, IN_MEMORY, **settings))
    assert found.provenance["rows_in_table"] == N


def test_a_dataset_brings_the_columns_of_its_folders(tmp_path, wanted):
    parted = TABLE.assign(half=np.arange(N) // 450)
    table = pa.Table.from_pandas(parted, preserve_index=False)
    ds.write_dataset(
        table, tmp_path, format="parquet", partitioning=["half"], partitioning_flavor="hive"
    )
    data = ds.dataset(tmp_path, partitioning="hive")
    found = rhale.explain(price, data, weights="matters", batch_size=350)
    assert found.features == (*wanted("rhale").features, "half")
    assert found["half"].level_count.tolist() == [
        int((TABLE["matters"][:450] > 0).sum()),
        int((TABLE["matters"][450:] > 0).sum()),
    ]
    only = list(wanted("rhale").features)
    again = rhale.explain(price, data, weights="matters", columns=only, batch_size=350)
    assert_same(again, wanted("rhale"))


def test_categories_that_differ_from_piece_to_piece_are_put_together(tmp_path):
    letters = np.array(["u", "v", "w", "z"])[np.minimum(np.arange(400) // 120, 3)]
    x = RNG.normal(size=400)
    for place, start in enumerate(range(0, 400, 100)):
        rows = slice(start, start + 100)
        part = pd.DataFrame({"x": x[rows], "c": pd.Categorical(letters[rows])})
        part.to_parquet(tmp_path / f"{place}.parquet", row_group_size=30)
    whole = pd.DataFrame({"x": x, "c": pd.Categorical(letters)})

    def model(rows):
        assert list(rows["c"].cat.categories) == ["u", "v", "w", "z"]
        return rows["x"].to_numpy() * rows["c"].cat.codes.to_numpy()

    assert_same(rhale.explain(model, tmp_path, batch_size=90), rhale.explain(model, whole))


def test_types_are_those_of_all_files_together(tmp_path):
    """Whole numbers, gaps and truth values in one file only; decimals, zones, durations."""
    n = 60
    x, k = RNG.normal(size=n), RNG.integers(0, 50, n)
    zone = pd.date_range("2024-03-30", periods=n, freq="h", tz="America/New_York")
    first = pa.table(
        {
            "x": pa.array(x[:30].astype("f4")),
            "k": pa.array(k[:30], pa.int32()),
            "t": pa.array([True, False, None] * 10),
            "z": pa.array(zone[:30]),
            "m": pa.array(np.round(x[:30], 2), pa.float64()).cast(pa.decimal128(6, 2)),
        }
    )
    second = pa.table(
        {
            "x": pa.array(x[30:]),
            "k": pa.array([None, *k[31:].tolist()], pa.int64()),
            "t": pa.array([True] * 30),
            "z": pa.array(zone[30:]),
            "m": pa.array(np.round(x[30:], 2), pa.float64()).cast(pa.decimal128(8, 3)),
        }
    )
    pq.write_table(first, tmp_path / "1.parquet")
    pq.write_table(second, tmp_path / "2.parquet")
    kinds = set()

    def model(rows):
        kinds.add(tuple(str(kind) for kind in rows.dtypes))
        return rows["x"].to_numpy() * np.nan_to_num(rows["k"].to_numpy())

    whole = pa.concat_tables([first, second], promote_options="permissive")
    whole = whole.set_column(4, "m", whole["m"].cast(pa.float64())).to_pandas()
    whole["t"] = whole["t"].astype("boolean")
    found = rhale.explain(model, tmp_path, batch_size=25)
    assert kinds == {("float64", "float64", "boolean", str(whole["z"].dtype), "float64")}
    assert_same(found, rhale.explain(model, whole))


def test_a_damaged_file_names_itself_and_the_run_goes_on_once_it_is_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rhale.execution.checkpoint.folder.EVERY_SECONDS", 0)
    monkeypatch.setattr(
        "rhale.execution.checkpoint.folder.SPARED_SHARE", 0
    )  # however long a disk takes
    rng = np.random.default_rng(3)
    for part in range(4):
        rows = pd.DataFrame(rng.normal(size=(500, 2)), columns=["a", "b"])
        rows.to_parquet(f"{part}.parquet", compression="zstd")
    asked = []

    def model(rows):
        asked.append(len(rows))
        return (rows["a"] ** 2 * rows["b"]).to_numpy()

    whole = rhale.explain(model, "*.parquet", batch_size=500)
    n_asked = sum(asked)
    content = Path("2.parquet").read_bytes()
    place = pq.ParquetFile("2.parquet").metadata.row_group(0).column(0).data_page_offset
    # What a page says it is.
    damaged = content[:place] + bytes([255] * 100) + content[place + 100 :]
    with monkeypatch.context() as patch:  # damage it between the two readings, unseen
        patch.setattr("rhale.data.files.table.TableFile.require_unchanged", lambda _: None)

        def spoil(rows):
            if Path("2.parquet").read_bytes() == content:
                Path("2.parquet").write_bytes(damaged)  # once, before the second reading begins
            return model(rows)

        with pytest.raises(BadTableError, match=r"2\.parquet"):
            rhale.explain(spoil, "*.parquet", batch_size=500, checkpoint="kept")
    Path("2.parquet").write_bytes(content)
    asked.clear()
    again = rhale.explain(model, "*.parquet", batch_size=500, checkpoint="kept")
    assert sum(asked) < 0.75 * n_asked
    for one, other in zip(whole.effects, again.effects, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
