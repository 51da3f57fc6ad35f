"""Arrow files and streams, judged by pyarrow, which wrote them."""

import numpy as np
import pytest

from rhale.data.files import arrow
from rhale.data.files.regular import RegularFile

pa = pytest.importorskip("pyarrow")
ROWS = pa.table(
    {
        "n": np.arange(40),
        "x": np.arange(40.0) / 2,
        "c": pa.array([f"word {i % 3}" for i in range(40)]).dictionary_encode(),
    }
)
KINDS = {"arrow": pa.ipc.new_file, "stream": pa.ipc.new_stream}


@pytest.fixture(params=["arrow", "stream"])
def kind(request):
    return request.param


@pytest.fixture
def file(kind, tmp_path):
    path = str(tmp_path / "rows")
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with KINDS[kind](path, ROWS.schema, options=options) as writer:
        writer.write_table(ROWS, max_chunksize=16)
    with RegularFile(path) as opened:
        yield opened


def messages(compression=None):
    """Heads of a stream as pyarrow cuts them, by kind."""
    sink, found = pa.BufferOutputStream(), {}
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, ROWS.schema, options=options) as writer:
        writer.write_table(ROWS, max_chunksize=25)
    for message in pa.ipc.MessageReader.open_stream(sink.getvalue()):
        found.setdefault(message.type, []).append(message)
    return found


def test_columns_and_rows_are_told_without_reading_any(file, kind):
    schema, n_rows = arrow.measure_arrow(file, kind)
    assert schema.equals(ROWS.schema)
    assert n_rows == 40


@pytest.mark.parametrize("size", [5, 16, 100])
def test_rows_come_in_order_and_never_more_than_wanted_at_a_time(file, kind, size):
    batches = list(arrow.read_arrow_batches(file, kind, ["n", "x", "c"], size))
    assert pa.Table.from_batches(batches).equals(ROWS)
    assert max(batch.num_rows for batch in batches) == min(size, 16)


def test_only_the_wanted_columns_come(file, kind):
    batches = arrow.read_arrow_batches(file, kind, ["x"], 100)
    assert {tuple(batch.schema.names) for batch in batches} == {("x",)}


@pytest.mark.parametrize("n_rows", [0, 1, 16, 17, 32, 40, 99])
def test_rows_are_left_out_at_the_start(n_rows):
    batches = arrow.skip_rows(ROWS.to_batches(max_chunksize=16), n_rows)
    assert pa.Table.from_batches(batches, schema=ROWS.schema).equals(ROWS.slice(n_rows))


def test_a_batch_that_refers_to_what_is_not_there_is_refused():
    offsets = pa.py_buffer(np.array([0, 2**20, 3], dtype="<i4").tobytes())
    text = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"abc"))
    batch = pa.record_batch([text], names=["t"])
    with pytest.raises(pa.ArrowInvalid):
        arrow.validate(batch)
    assert arrow.validate(ROWS.to_batches()[0]) is not None


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_the_head_of_a_batch_says_its_rows_and_whether_it_is_packed(compression):
    heads = [
        arrow.read_head(m.metadata.to_pybytes()) for m in messages(compression)["record batch"]
    ]
    assert [head.n_rows for head in heads] == [25, 15]
    assert {head.is_compressed for head in heads} == {compression is not None}


def test_the_buffers_of_a_batch_lie_in_its_body():
    for message in messages()["record batch"]:
        buffers = arrow.read_head(message.metadata.to_pybytes()).buffers
        assert np.all(buffers["place"] + buffers["size"] <= message.body.size)
        assert 8 * 25 in buffers["size"].tolist() or 8 * 15 in buffers["size"].tolist()


def test_a_dictionary_has_no_rows_and_a_schema_is_no_batch():
    found = messages()
    assert arrow.read_head(found["dictionary"][0].metadata.to_pybytes()).n_rows == 0
    assert arrow.read_head(found["schema"][0].metadata.to_pybytes()) is None


def test_a_file_that_is_cut_off_is_refused(file, kind, tmp_path):
    (tmp_path / "cut").write_bytes(file.read_at(0, file.size // 2))
    with RegularFile(str(tmp_path / "cut")) as cut, pytest.raises((ValueError, OSError)):
        arrow.measure_arrow(cut, kind)
