import pytest

from rhale.cli.values import parse_byte_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1024", 1024),
        ("2K", 2048),
        ("3m", 3 * 2**20),
        ("8GB", 2**33),
        ("0.5 GiB", 2**29),
        ("", None),
        ("8 G B", None),
        ("-1G", None),
        ("G", None),
    ],
)
def test_sizes_are_read_as_people_write_them(text, size):
    assert parse_byte_size(text) == size
