"""The compact protocol of Thrift: bytes are written here after its definition, and read there."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.tables.files.thrift import (
    BINARY,
    BYTE,
    DEEPEST,
    DOUBLE,
    LIST,
    LONG,
    STRUCT,
    TRUE,
    Cursor,
)

NUMBERS = st.integers(-(2**63), 2**63 - 1)
STOP = b"\0"


def varint(number):
    """Seven bits in a byte, the lowest first; all but the last have the highest bit set."""
    found = bytearray()
    while number > 127:
        found.append(128 | number & 127)
        number >>= 7
    return bytes([*found, number])


def zigzag(number):
    """0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    return varint(2 * number if number >= 0 else -2 * number - 1)


def field(step, kind, value=b""):
    """A field so many numbers after the one before it."""
    return bytes([16 * step + kind]) + value


def listed(kind, elements):
    n = len(elements)
    head = bytes([16 * n + kind]) if n < 15 else bytes([240 + kind]) + varint(n)
    return head + b"".join(elements)


@given(NUMBERS)
def test_whole_numbers_are_read_with_their_sign(number):
    cursor = Cursor(zigzag(number))
    assert cursor.whole() == number
    assert cursor.place == len(cursor.content)


@given(st.dictionaries(st.integers(1, 2**15 - 1), NUMBERS))
def test_fields_are_numbered_by_steps_or_in_full(numbers):
    content, before = b"", 0
    for number in sorted(numbers):
        step, value = number - before, zigzag(numbers[number])
        content += field(step, LONG, value) if step < 16 else field(0, LONG, zigzag(number) + value)
        before = number
    assert Cursor(content + STOP).fields() == numbers


@given(st.lists(st.binary(max_size=200), max_size=40))
def test_lists_of_texts_are_read_short_and_long(texts):
    elements = [varint(len(text)) + text for text in texts]
    cursor = Cursor(listed(BINARY, elements))
    assert cursor.each(LIST, cursor.text) == texts


def test_what_nobody_wants_is_gone_past():
    inner = field(1, LONG, zigzag(9)) + STOP
    content = (
        field(1, BINARY, varint(3) + b"abc")
        + field(1, TRUE)  # which is its own value
        + field(1, BYTE, b"\x07")
        + field(1, DOUBLE, b"\x07" * 8)
        + field(1, STRUCT, inner)
        + field(1, LIST, listed(STRUCT, [inner, inner]))
        + field(1, LIST, listed(TRUE, [b"\x01", b"\x02"]))  # in a list each has a byte
        + field(1, LONG, zigzag(-5))
    )
    assert Cursor(content + STOP).fields() == {8: -5}


def test_what_somebody_wants_is_taken_with_its_kind():
    cursor = Cursor(field(4, STRUCT, field(1, LONG, zigzag(3)) + STOP) + STOP)
    assert cursor.fields({4: lambda kind: (kind, cursor.fields())}) == {4: (STRUCT, {1: 3})}


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content):
    with suppress(IndexError, ValueError):  # and nothing else is raised
        assert all(isinstance(number, int) for number in Cursor(content).fields().values())


@pytest.mark.parametrize("length", range(6))
def test_bytes_that_end_too_early_are_told_as_such(length):
    content = field(1, LONG, zigzag(2**20)) + field(1, LONG, zigzag(1))
    with pytest.raises(IndexError):
        Cursor(content[:length]).fields()


def test_a_list_longer_than_its_bytes_takes_no_memory():
    with pytest.raises(IndexError):
        Cursor(bytes([240 + LONG]) + varint(2**60)).each(LIST, Cursor(b"").skip)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (field(1, STRUCT) * (DEEPEST + 1), "structures in structures"),
        (field(1, LONG, b"\xff" * 10), "more than 64 bits"),
        (field(1, 13), "a value of type 13"),
    ],
)
def test_what_no_writer_writes_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        Cursor(content + STOP).fields()


def test_text_and_lists_are_asked_for_by_kind():
    with pytest.raises(ValueError, match="type 6 where text should be"):
        Cursor(b"").text(LONG)
    with pytest.raises(ValueError, match="type 6 where a list should be"):
        Cursor(b"").each(LONG, print)
