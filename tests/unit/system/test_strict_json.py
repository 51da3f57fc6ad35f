import json

import pytest

from rhale.system.files import once_each


def test_a_name_comes_once_at_every_depth():
    assert json.loads('{"a": {"a": 1}}', object_pairs_hook=once_each) == {"a": {"a": 1}}
    with pytest.raises(ValueError, match="a name twice"):
        json.loads('[{"a": {"b": 1, "b": 2}}]', object_pairs_hook=once_each)
