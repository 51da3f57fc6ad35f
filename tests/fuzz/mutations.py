"""Damage: from the bytes of a good file to those of a bad one, the same for the same seed.

A `Mutation` takes bytes and a `random.Random`. Those that lie about structure take a file apart,
change one thing and put it together again, with checksums and lengths made right, so that the
lie gets behind the first look of a reader.
"""

import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from hashlib import blake2b
from random import Random
from typing import Any

from rhale.checkpoint import DIGEST_BYTES, MARK

Mutation = Callable[[bytes, Random], bytes]

BITE = "bitten"  # no good file has this word: code with it came out of a bad one
CODE = (f"__import__('os').mkdir('{BITE}')", f"os.{BITE}", f"{BITE}.system", "os.system")
EXTREMES = (-(2**31), -1, 0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 10**9)
WRITTEN = (
    *(str(n).encode() for n in EXTREMES),
    b"1e400",
    b"-inf",
    b"nan",
    b"1e-320",
    b"",
    b"7" * 5000,
)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
STORED = ("<i", ">i", "<q", ">q", "<h", ">h")
# what `json` cannot write, or cannot write without ending this process
RAW = {"@deep": "[" * 50_000 + "]" * 50_000, "@huge": "1e400", "@digits": "7" * 5000, "@nan": "NaN"}
ODD = (None, True, -1, 1.5, "", "text", [], {}, [[]], {"a": 1}, [None], "\ud800", *CODE, *RAW)
BOMB = 2**32  # bytes that a member of an archive becomes when it is unpacked
PACKED_DATE = (1980, 1, 1, 0, 0, 0)


def damaged(content: bytes, mutations: Sequence[Mutation], rng: Random) -> tuple[bytes, list[str]]:
    """Apply one to three mutations, and name them."""
    names = []
    for mutation in rng.choices(mutations, k=rng.choice((1, 1, 1, 2, 3))):
        try:
            content = mutation(content, rng)
            names.append(mutation.__name__)
        except Exception:  # noqa: BLE001 - damaged before, so that it cannot be taken apart
            content = flip_bits(content, rng)
            names.append("flip_bits")
    return content, names


# --- any bytes -----------------------------------------------------------------------------------


def flip_bits(content: bytes, rng: Random) -> bytes:
    """Flip one to eight bits."""
    data = bytearray(content or b"\0")
    for _ in range(rng.randint(1, 8)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def replace_run(content: bytes, rng: Random) -> bytes:
    """Put zeros, ones or noise over some bytes."""
    start, end = _slice(content, rng, 64)
    fill = rng.choice((b"\0", b"\xff", None))
    return (
        content[:start]
        + (rng.randbytes(end - start) if fill is None else fill * (end - start))
        + content[end:]
    )


def truncate(content: bytes, rng: Random) -> bytes:
    """Cut the end off."""
    return content[: rng.randrange(len(content) + 1)]


def remove_slice(content: bytes, rng: Random) -> bytes:
    """Take some bytes out."""
    start, end = _slice(content, rng, 200)
    return content[:start] + content[end:]


def repeat_slice(content: bytes, rng: Random) -> bytes:
    """Put some bytes in a second time, here or elsewhere."""
    start, end = _slice(content, rng, 200)
    place = rng.choice((end, rng.randrange(len(content) + 1)))
    return content[:place] + content[start:end] + content[place:]


def insert_noise(content: bytes, rng: Random) -> bytes:
    """Put bytes in that were never there."""
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.randbytes(rng.randint(1, 16)) + content[place:]


def change_written_number(content: bytes, rng: Random) -> bytes:
    """Replace a number in the text by an extreme one, or by a near one."""
    found = rng.choice(list(NUMBER.finditer(content)))
    number = found[0]
    near = str(int(number) + rng.choice((-1, 1))).encode() if number.isdigit() else b"-" + number
    return content[: found.start()] + rng.choice((near, near, *WRITTEN)) + content[found.end() :]


def change_stored_number(content: bytes, rng: Random) -> bytes:
    """Replace a number of 2, 4 or 8 bytes, in either order, where a small one seems to stand."""
    kind = rng.choice(STORED)
    size, places = struct.calcsize(kind), []
    for _ in range(200):
        place = rng.randrange(len(content) - size + 1)
        if 0 < struct.unpack_from(kind, content, place)[0] < 5000:
            places.append(place)
            break
    place = places[0] if places else rng.randrange(len(content) - size + 1)
    was = struct.unpack_from(kind, content, place)[0]
    new = rng.choice((was + 1, was - 1, was * 2, -was, *EXTREMES)) % 2 ** (8 * size)
    order = "little" if kind[0] == "<" else "big"
    return content[:place] + new.to_bytes(size, order) + content[place + size :]


def damage_end(content: bytes, rng: Random) -> bytes:
    """Damage the end, where many formats say what is where."""
    start = max(0, len(content) - rng.choice((16, 300, 2000)))
    return content[:start] + rng.choice(IN_PLACE)(content[start:], rng)


def damage_start(content: bytes, rng: Random) -> bytes:
    """Damage the beginning, but for the letters that tell the kind of a file."""
    end = 8 + rng.choice((16, 300, 2000))
    return content[:8] + rng.choice(IN_PLACE)(content[8:end], rng) + content[end:]


def _slice(content: bytes, rng: Random, longest: int) -> tuple[int, int]:
    start = rng.randrange(len(content))
    return start, min(len(content), start + rng.randint(1, longest))


IN_PLACE = (flip_bits, replace_run, change_stored_number)
BYTES = (*IN_PLACE, truncate, remove_slice, repeat_slice, insert_noise)
TEXT = (*BYTES, change_written_number, change_written_number)


# --- JSON ----------------------------------------------------------------------------------------


def lie_in_json(content: bytes, rng: Random) -> bytes:
    """Change one to three things in a tree of JSON."""
    tree = json.loads(content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        holder, key = _place(tree, rng)
        rng.choice(JSON_LIES)(holder, key, rng)
    text = json.dumps(tree)
    for mark, raw in RAW.items():
        text = text.replace(f'"{mark}"', raw)
    return text.encode()


def _place(tree: Any, rng: Random) -> tuple[Any, Any]:
    """A place in the tree: shallow ones are drawn as often as the many deep ones."""
    holder, key = {"": tree}, ""
    while isinstance(holder[key], dict | list) and holder[key]:
        inside = holder[key]
        if rng.random() < 0.15 and key != "":
            break
        holder, key = (
            inside,
            rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside))),
        )
    return holder, key


def _remove(holder: Any, key: Any, rng: Random) -> None:  # noqa: ARG001
    del holder[key]


def _repeat(holder: Any, key: Any, rng: Random) -> None:
    copy = deepcopy(holder[key])
    if isinstance(holder, list):
        holder[key:key] = [copy] * rng.choice((1, 2, 100))
    else:
        holder[f"{key}_"] = copy


def _rename(holder: Any, key: Any, rng: Random) -> None:
    if isinstance(holder, dict):
        holder[rng.choice((f"{key}s", "", *holder, *CODE))] = holder.pop(key)
    else:
        rng.shuffle(holder)


def _swap(holder: Any, key: Any, rng: Random) -> None:
    other = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


def _retype(holder: Any, key: Any, rng: Random) -> None:
    holder[key] = rng.choice(ODD)


def _shorten(holder: Any, key: Any, rng: Random) -> None:
    held = holder[key]
    if isinstance(held, list):
        holder[key] = held[: rng.randrange(len(held) + 1)] if rng.random() < 0.7 else held + held
    else:
        _change_number(holder, key, rng)


def _change_number(holder: Any, key: Any, rng: Random) -> None:
    """Another number, as text where it was text; other things become a number."""
    was = holder[key]
    number = re.fullmatch(r"-?\d+", was) if isinstance(was, str) else None
    held = int(was) if number else was if type(was) is int else 3
    new = rng.choice((held + 1, held - 1, held * 2, -held, *EXTREMES, "@huge", "@digits", "@nan"))
    holder[key] = str(new) if number else new


JSON_LIES = (_remove, _repeat, _rename, _swap, _retype, _shorten, *[_change_number] * 4)


# --- archives ------------------------------------------------------------------------------------


def lie_in_zip(content: bytes, rng: Random) -> bytes:
    """Damage the inside of a member mostly, or the list of members, or what it declares."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    place = rng.randrange(len(members))
    name, data = members[place]
    what = rng.choice(
        ("inside",) * 8 + ("remove", "repeat", "rename", "swap", "pack", "bomb", "size", "size")
    )
    if what == "remove":
        del members[place]
    elif what == "repeat":
        members.append((name, rng.choice(members)[1]))
    elif what == "rename":
        members[place] = rng.choice((f"../{name}", f"/{name}", name + "x", "", "a/" * 5000)), data
    elif what == "swap":
        other = rng.randrange(len(members))
        members[place], members[other] = (name, members[other][1]), (members[other][0], data)
    elif what == "inside":
        members[place] = name, lie_inside(data, rng)
    return zipped(members, {place: (what, rng.choice(EXTREMES[2:]))})


def lie_inside(data: bytes, rng: Random) -> bytes:
    """Damage a member by what it is: JSON, an archive, or bytes."""
    if data[:1] in (b"{", b"[") and rng.random() < 0.8:
        return lie_in_json(data, rng)
    if data[:2] == b"PK" and rng.random() < 0.8:
        return lie_in_zip(data, rng)
    if data[1:6] == b"NUMPY" and rng.random() < 0.3:  # its header is text
        return change_written_number(data[:128], rng) + data[128:]
    return rng.choice(BYTES)(data, rng)


def zipped(members: list[tuple[str, bytes]], lies: dict[int, tuple[str, int]]) -> bytes:
    """Pack members with right checksums; a lie is told by the list of members at the end."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for place, (name, data) in enumerate(members):
            what, number = lies.get(place, ("", 0))
            info = zipfile.ZipInfo(name, PACKED_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED if what == "pack" else zipfile.ZIP_STORED
            archive.writestr(info, _bomb() if what == "bomb" else data)
            if what == "bomb":
                info.compress_type, info.file_size = zipfile.ZIP_DEFLATED, BOMB
            elif what == "size":
                info.file_size = number
    return packed.getvalue()


def _bomb() -> bytes:
    """Zeros, packed: one block many times."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (BOMB // 2**20) + packer.flush()


def lie_in_gzip(content: bytes, rng: Random) -> bytes:
    """Lie in the table inside, and pack it again."""
    return gzip.compress(lie_in_rows(gzip.decompress(content), rng), mtime=0)


# --- kinds of files ------------------------------------------------------------------------------


def lie_in_lines(content: bytes, rng: Random) -> bytes:
    """Change a field of a line `name=1 2 3` of LightGBM, or lines; sizes of trees are made right."""
    lines = content.split(b"\n")
    place = rng.choice([i for i, line in enumerate(lines) if b"=" in line])
    name, _, rest = lines[place].partition(b"=")
    fields = rest.split(b" ")
    field, what = (
        rng.randrange(len(fields)),
        rng.choice(("field",) * 6 + ("fields", "name", "line", "lines")),
    )
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
    sizes = b" ".join(b"%d" % len(tree) for tree in trees[:-1])
    return re.sub(rb"^tree_sizes=.*$", b"tree_sizes=" + sizes, head, flags=re.MULTILINE) + b"".join(
        trees
    )


def lie_in_rows(content: bytes, rng: Random) -> bytes:
    """Break the rules of a table of text: quotes, NULs, ragged rows, late text, encodings."""
    lines = content.split(b"\n")
    place = rng.choice((0, rng.randrange(len(lines)), len(lines) - 2))
    fields = lines[place].split(b",")
    field = rng.randrange(len(fields))
    what = rng.choice(("field",) * 4 + ("longer", "shorter", "line", "encoding", "ends", "wide"))
    if what == "field":
        odd = (
            b'"',
            b'""x',
            b"\0",
            b"late text",
            b"\xff\xfe",
            b"=1+1",
            b"x" * 100_000,
            b"1e400",
            b"9" * 400,
        )
        fields[field] = rng.choice((*odd, b'"a\nb"', b"2020-13-45", fields[0]))
    elif what in ("longer", "wide"):
        fields *= 2 if what == "longer" else 300
    elif what == "shorter":
        fields = fields[:field]
    lines[place] = b",".join(fields)
    if what == "line":
        lines.insert(place, rng.choice((b"", b",", b"\r", b"\xef\xbb\xbf", lines[0])))
    joined = (b"\r" if what == "ends" else b"\n").join(lines)
    return (
        joined.decode("latin-1").encode(rng.choice(("utf-16", "utf-32-be", "cp037")))
        if what == "encoding"
        else joined
    )


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
    if rng.random() < 0.2 or field.type == field.TYPE_MESSAGE:
        if is_list and len(value) and rng.random() < 0.7:
            value.extend(
                value[: rng.choice((1, len(value)))]
            ) if rng.random() < 0.5 else value.pop()
        else:
            message.ClearField(field.name)
        return
    kinds = {
        bytes: (b"", b"x", b"\0" * 99, b"Loop"),
        str: ("", "Loop", "../w", BITE),
        float: (1e30, float("nan")),
    }
    held = value[0] if is_list else value
    new = rng.choice(kinds.get(type(held), (*EXTREMES[:6], 7)))
    new = (
        -1
        if isinstance(new, int) and field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_ENUM)
        else new
    )
    if is_list:
        value[rng.randrange(len(value))] = new
    else:
        setattr(message, field.name, new)


def lie_in_notes(content: bytes, rng: Random) -> bytes:
    """Change what pandas noted in a Parquet or an Arrow file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    is_parquet, out = content[:4] == b"PAR1", io.BytesIO()
    table = (
        pq.read_table(io.BytesIO(content)) if is_parquet else pa.ipc.open_file(content).read_all()
    )
    notes = (table.schema.metadata or {}).get(b"pandas", b'{"index_columns": ["a"]}')
    table = table.replace_schema_metadata({"pandas": rng.choice((lie_in_json, *TEXT))(notes, rng)})
    if is_parquet:
        pq.write_table(table, out)
    else:
        with pa.ipc.new_file(out, table.schema) as file:
            file.write_table(table)
    return out.getvalue()


def lie_in_checkpoint(content: bytes, rng: Random) -> bytes:
    """Change packed sums, their description mostly; the checksum is made right."""
    data = content[len(MARK) + DIGEST_BYTES :]
    end = 8 + int.from_bytes(data[:8], "little")
    head, blobs = data[8:end], data[end:]
    if rng.random() < 0.7:
        head = lie_in_json(head, rng)
    else:
        blobs = rng.choice((*IN_PLACE, truncate))(blobs, rng)
    data = len(head).to_bytes(8, "little") + head + blobs
    return MARK + blake2b(data, digest_size=DIGEST_BYTES).digest() + data
