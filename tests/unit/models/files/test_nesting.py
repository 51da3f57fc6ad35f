import pytest

from rhale.models.files.nesting import DEEPEST, check_depth


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_json_that_is_nested_too_deep_is_refused(pair):
    deep = (pair[0] * DEEPEST + pair[1] * DEEPEST).encode()
    assert check_depth(deep * 3) is None
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        check_depth(deep + pair[0].encode() * (DEEPEST + 1))
    assert check_depth(pair[0].encode() * (DEEPEST + 1), DEEPEST + 1) is None


def test_a_text_without_brackets_is_not_nested():
    assert check_depth(b"") is None
    assert check_depth(b"text") is None
