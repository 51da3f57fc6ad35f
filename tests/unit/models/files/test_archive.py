import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from rhale.models.files import skops
from rhale.models.files.skops import check_array, repack, unpack_archive


def packed(**members):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("_", "."), content)
    return held.getvalue()


def saved(values, **options):
    held = io.BytesIO()
    np.save(held, values, **options)
    return held.getvalue()


def test_members_stay_as_they_are_but_without_compression():
    whole = repack(packed(a_txt=b"x" * 1000, b_npy=saved(np.arange(3)), c_npz=packed(d_txt=b"y")))
    assert unpack_archive(whole)["a.txt"] == b"x" * 1000
    assert unpack_archive(unpack_archive(whole)["c.npz"]) == {"d.txt": b"y"}
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        assert {m.compress_type for m in file.infolist()} == {zipfile.ZIP_STORED}


def test_an_archive_that_says_it_is_too_large_is_refused():
    with pytest.raises(ValueError, match="too large"):
        repack(packed(a_txt=bytes(skops.LEAST_ROOM + 1)))


def test_archives_in_an_archive_share_its_room():
    inner = packed(a_txt=bytes(skops.LEAST_ROOM // 2))
    with pytest.raises(ValueError, match="too large"):
        repack(packed(a_npz=inner, b_npz=inner, c_npz=inner))


def test_a_member_that_is_larger_than_it_says_is_not_unpacked_whole():
    real = 2**27
    bomb = bytearray(packed(a_txt=bytes(real)))
    for place in (bomb.index(b"PK\x03\x04") + 22, bomb.index(b"PK\x01\x02") + 24):
        assert int.from_bytes(bomb[place : place + 4], "little") == real
        bomb[place : place + 4] = (10).to_bytes(4, "little")
    tracemalloc.start()
    with pytest.raises(ValueError, match="damaged: Bad CRC-32"):
        repack(bytes(bomb))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < real / 10


def test_too_many_members_are_refused(monkeypatch):
    monkeypatch.setattr(skops, "MOST_MEMBERS", 1)
    with pytest.raises(ValueError, match="too many"):
        repack(packed(a_txt=b"", b_txt=b""))


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04" + bytes(50)])
def test_what_is_no_archive_is_damaged(content):
    with pytest.raises(ValueError, match="it is damaged"):
        repack(content)


@pytest.mark.parametrize(
    "values", [np.arange(6.0).reshape(2, 3), np.array(["a", "bc"]), np.array(1)]
)
def test_whole_arrays_pass(values):
    check_array(saved(values))


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"(3,)", b"(4,)"), (b"(3,)", b"(-3)"), (b"<f8", b"|O8"), (b"<f8", b"|V0")],
)
def test_arrays_that_are_not_as_long_as_they_say_are_refused(old, new):
    content = saved(np.arange(3.0))
    assert old in content
    with pytest.raises(ValueError, match=r"array|shape|descr"):
        check_array(content.replace(old, new))


def test_an_array_of_objects_is_refused():
    content = saved(np.array([1, "a"], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="no numbers"):
        repack(packed(a_npy=content))
