"""Damage to what only one kind of file has: lines, rows, graphs, notes, sums."""

import gzip
import io
import re
from hashlib import blake2b
from random import Random
from typing import Any

from tests.fuzz.mutations import BITE, IN_PLACE, TEXT, WRITTEN, lie_in_json, truncate

from rhale.execution.checkpoint.folder import CHECKPOINT_MAGIC, DIGEST_BYTES

ODD_FIELDS = (b'"', b'""x', b"\0", b"late text", b"\xff\xfe", b"=1+1", b"1e400", b"2020-13-45")
ODD_FIELDS += (b'"a\nb"', b"x" * 100_000, b"9" * 400)
ODD_VALUES = {  # of a graph; whole numbers that all of its fields can hold
    int: (-(2**31), -1, 0, 1, 2, 7, 100, 2**31 - 1),
    float: (0.0, -1.0, 1e30, float("inf"), float("nan")),
    bytes: (b"", b"x", b"Loop", b"BRANCH_EQ", bytes(99)),
    str: ("", "x", "y", "Loop", "Gather", "Reshape", "../w", BITE),
}


def lie_in_lines(content: bytes, rng: Random) -> bytes:
    """Change a field of a line `name=1 2 3` of LightGBM, or lines; sizes of trees are made right."""
    lines = content.split(b"\n")
    place = rng.choice([i for i, line in enumerate(lines) if b"=" in line])
    name, _, rest = lines[place].partition(b"=")
    fields = rest.split(b" ")
    field = rng.randrange(len(fields))
    what = rng.choice(("field",) * 6 + ("fields", "name", "line", "lines"))
    if what == "field":
        text = fields[field]
        near = [b"%d" % (int(text) + s) for s in (-1, 1)] if text.isdigit() else [b"x"]
        fields[field] = rng.choice((*near, *near, *WRITTEN))
    elif what == "fields":
        fields = rng.choice((fields[:field], fields + fields, fields[::-1], []))
    elif what == "name":
        name = rng.choice((name + b"s", b"", b"num_cat", b"threshold"))
    lines[place] = name + b"=" + b" ".join(fields)
    if what == "line":
        del lines[place]
    elif what == "lines":
        lines.insert(rng.randrange(len(lines)), lines[place])
    return _with_right_sizes(b"\n".join(lines))


def _with_right_sizes(content: bytes) -> bytes:
    head, *trees = re.split(rb"(?=^Tree=\d+\n|^end of trees)", content, flags=re.MULTILINE)
    sizes = b"tree_sizes=" + b" ".join(b"%d" % len(tree) for tree in trees[:-1])
    head = re.sub(rb"^tree_sizes=.*$", sizes, head, flags=re.MULTILINE)
    return head + b"".join(trees)


def lie_in_rows(content: bytes, rng: Random) -> bytes:
    """Break the rules of a table of text: quotes, NULs, ragged rows, late text, encodings."""
    lines = content.split(b"\n")
    place = rng.choice((0, rng.randrange(len(lines)), len(lines) - 2))
    fields = lines[place].split(b",")
    field = rng.randrange(len(fields))
    what = rng.choice(("field",) * 4 + ("longer", "shorter", "line", "encoding", "ends", "wide"))
    if what == "field":
        fields[field] = rng.choice((*ODD_FIELDS, fields[0]))
    elif what in ("longer", "wide"):
        fields *= 2 if what == "longer" else 300
    elif what == "shorter":
        fields = fields[:field]
    lines[place] = b",".join(fields)
    if what == "line":
        lines.insert(place, rng.choice((b"", b",", b"\r", b"\xef\xbb\xbf", lines[0])))
    joined = (b"\r" if what == "ends" else b"\n").join(lines)
    if what == "encoding":
        return joined.decode("latin-1").encode(rng.choice(("utf-16", "utf-32-be", "cp037")))
    return joined


def lie_in_graph(content: bytes, rng: Random) -> bytes:
    """Change a field of an ONNX graph, or of something in it."""
    import onnx

    model = onnx.load_model_from_string(content)
    message = model
    while True:  # down by chance, so that all depths are met
        inner = [v for f, v in message.ListFields() if f.type == f.TYPE_MESSAGE]
        inner = [m for v in inner for m in (v if hasattr(v, "add") else [v])]
        if not inner or (rng.random() < 0.2 and message is not model):
            break
        message = rng.choice(inner)
    field, value = rng.choice(message.ListFields())
    _lie_in_field(message, field, value, rng)
    return model.SerializeToString()


def _lie_in_field(message: Any, field: Any, value: Any, rng: Random) -> None:
    is_list = hasattr(value, "__delitem__")
    if field.type == field.TYPE_MESSAGE or rng.random() < 0.2:
        what = rng.choice(("clear", "pop", "repeat")) if is_list and len(value) else "clear"
        if what == "clear":
            message.ClearField(field.name)
        elif what == "pop":
            value.pop()
        else:
            value.extend(value[: rng.choice((1, len(value)))])
        return
    held = value[0] if is_list else value
    new = rng.choice(ODD_VALUES[type(held)])
    if is_list:
        value[rng.randrange(len(value))] = new
    else:
        setattr(message, field.name, new)


def lie_in_notes(content: bytes, rng: Random) -> bytes:
    """Change what pandas noted in a Parquet or an Arrow file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    is_parquet, out = content[:4] == b"PAR1", io.BytesIO()
    file = io.BytesIO(content)
    table = pq.read_table(file) if is_parquet else pa.ipc.open_file(file).read_all()
    notes = (table.schema.metadata or {}).get(b"pandas", b'{"index_columns": ["a"]}')
    table = table.replace_schema_metadata({"pandas": rng.choice((lie_in_json, *TEXT))(notes, rng)})
    if is_parquet:
        pq.write_table(table, out)
    else:
        with pa.ipc.new_file(out, table.schema) as written:
            written.write_table(table)
    return out.getvalue()


def lie_in_checkpoint(content: bytes, rng: Random) -> bytes:
    """Change packed sums, their description mostly; the checksum is made right."""
    data = content[len(CHECKPOINT_MAGIC) + DIGEST_BYTES :]
    end = 8 + int.from_bytes(data[:8], "little")
    head, blobs = data[8:end], data[end:]
    if rng.random() < 0.7:
        head = lie_in_json(head, rng)
    else:
        blobs = rng.choice((*IN_PLACE, truncate))(blobs, rng)
    data = len(head).to_bytes(8, "little") + head + blobs
    return CHECKPOINT_MAGIC + blake2b(data, digest_size=DIGEST_BYTES).digest() + data


def lie_in_gzip(content: bytes, rng: Random) -> bytes:
    """Lie in the table inside, and pack it again."""
    return gzip.compress(lie_in_rows(gzip.decompress(content), rng), mtime=0)
