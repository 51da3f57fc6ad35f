"""Damage to bytes, to JSON and to archives: the same for the same seed.

A `Mutation` takes bytes and a `random.Random`. Those that lie about structure take a file apart,
change one thing and put it together again, with checksums and lengths made right, so that the
lie gets behind the first look of a reader.
"""

import io
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

Mutation = Callable[[bytes, Random], bytes]

BITE = "bitten"  # no good file has this word: code with it came out of a bad one
CODE = (f"__import__('os').mkdir('{BITE}')", f"os.{BITE}", f"{BITE}.system", "os.system")
HOSTILE = (  # what was seen to run code, to hang or to eat memory
    *("torch.ops.aten.from_file.default", "Integer(9)**9**9**9", "U500000000", "(9999,9999)f8"),
    *({"as_operator": "torch.ops.aten.from_file.default"}, {"as_string": f"../../{BITE}"}),
)
EXTREMES = (-(2**31), -1, 0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 10**9)
WRITTEN = (*(b"%d" % n for n in EXTREMES), b"", b"nan", b"-inf", b"1e400", b"1e-320", b"7" * 5000)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
SMALL = 5000  # a count or a place, not a piece of text
STORED = ("<i", ">i", "<q", ">q", "<h", ">h")
# what `json` cannot write, or cannot write without ending this process
RAW = {"@deep": "[" * 50_000 + "]" * 50_000, "@huge": "1e400", "@digits": "7" * 5000, "@nan": "NaN"}
ODD = (
    None,
    True,
    -1,
    1.5,
    "",
    "text",
    [],
    {},
    [[]],
    {"a": 1},
    [None],
    "\ud800",
    *CODE,
    *HOSTILE,
    *RAW,
)
OF_GOOD_FILES = ("lie_in_graph", "lie_in_notes")  # native code takes these files apart
BOMB = 2**32  # bytes that a member of an archive becomes when it is unpacked
PACKED_DATE = (1980, 1, 1, 0, 0, 0)


def damaged(content: bytes, mutations: Sequence[Mutation], rng: Random) -> tuple[bytes, list[str]]:
    """Apply one to three mutations, and name them."""
    names, drawn = [], rng.choices(mutations, k=rng.choice((1, 1, 1, 2, 3)))
    for mutation in sorted(drawn, key=lambda one: one.__name__ not in OF_GOOD_FILES):
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
    size = end - start
    fill = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size)))
    return content[:start] + fill + content[end:]


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
    size = struct.calcsize(kind)
    places = [rng.randrange(len(content) - size + 1) for _ in range(200)]
    numbers = [struct.unpack_from(kind, content, place)[0] for place in places]
    was, place = next(
        (pair for pair in zip(numbers, places, strict=True) if 0 < pair[0] < SMALL),
        (numbers[0], places[0]),
    )
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
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        holder, key = inside, rng.choice(keys)
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


def change_json_numbers(content: bytes, rng: Random) -> bytes:
    """Change one to three whole numbers of a tree, in place: the tree keeps its shape."""
    tree = json.loads(content)
    places = list(_whole_numbers(tree))
    for _ in range(rng.choice((1, 1, 2, 3))):
        holder, key = rng.choice(places)
        was = int(holder[key])
        new = rng.choice((was + 1, was - 1, -was, len(holder), -1, 0, 1, 100, 2**30, 2**31 - 1))
        holder[key] = type(holder[key])(new)
    return json.dumps(tree).encode()


def _whole_numbers(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Places of whole numbers, and of text that is one."""
    for key, held in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(held, dict | list):
            yield from _whole_numbers(held)
        elif type(held) is int or (type(held) is str and re.fullmatch(r"-?\d{1,18}", held)):
            yield tree, key


JSON_LIES = (_remove, _repeat, _rename, _swap, _retype, _shorten, *[_change_number] * 4)


# --- archives ------------------------------------------------------------------------------------


def lie_in_zip(content: bytes, rng: Random) -> bytes:
    """Damage the inside of a member mostly, or the list of members, or what it declares."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if any(info.compress_type for info in archive.infolist()):
            raise zipfile.BadZipFile  # damaged before: it may be a bomb
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    described = [i for i, (_, data) in enumerate(members) if data[:1] == b"{"]
    place = rng.choice((rng.randrange(len(members)), *described[:1], *described[-1:]))
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
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(packed, "w") as archive:
        for place, (name, data) in enumerate(members):
            what, number = lies.get(place, ("", 0))
            info = zipfile.ZipInfo(name, PACKED_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED if what == "pack" else zipfile.ZIP_STORED
            archive.writestr(info, _bomb() if what == "bomb" else data)
            if what == "bomb":
                info.compress_type = zipfile.ZIP_DEFLATED
                info.file_size = number if number > 1 else BOMB
            elif what == "size":
                info.file_size = number
    return packed.getvalue()


def _bomb() -> bytes:
    """Zeros, packed: one block many times."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (BOMB // 2**20) + packer.flush()
