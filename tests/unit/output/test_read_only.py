import copy
import json
import pickle

import pytest

from rhale.errors import ReadOnlyError
from rhale.stats.arrays import ReadOnlyDict, as_read_only

PLAIN = {"rows": 10, "kinds": {"x0": "number"}}
TOLD = as_read_only(PLAIN)


def set_item(told):
    told["rows"] = 11


def delete_item(told):
    del told["rows"]


@pytest.mark.parametrize(
    "change",
    [
        set_item,
        delete_item,
        lambda told: told.update(rows=11),
        lambda told: told.pop("rows"),
        lambda told: told.popitem(),
        lambda told: told.clear(),
        lambda told: told.setdefault("seed", 0),
        lambda told: told.__ior__({"rows": 11}),
        lambda told: set_item(told["kinds"]),
    ],
)
def test_nothing_can_be_changed(change):
    with pytest.raises(ReadOnlyError, match="cannot be changed"):
        change(TOLD)
    assert TOLD == PLAIN


def test_it_reads_as_the_dictionary_it_was_made_of():
    assert dict(TOLD) == PLAIN
    assert json.loads(json.dumps(TOLD)) == PLAIN
    assert {**TOLD, "rows": 11} == TOLD | {"rows": 11} == {**PLAIN, "rows": 11}


def test_copies_are_equal():
    for again in (copy.copy(TOLD), copy.deepcopy(TOLD), pickle.loads(pickle.dumps(TOLD))):  # noqa: S301
        assert type(again) is ReadOnlyDict
        assert again == TOLD


def test_the_mapping_of_the_caller_stays_as_it_is():
    mine = {"rows": 1}
    told = as_read_only(mine)
    mine["rows"] = 2
    assert told == {"rows": 1}
