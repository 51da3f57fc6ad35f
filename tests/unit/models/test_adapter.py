from dataclasses import dataclass

import pytest

from rhale.models.adapter import Adapter


class Silent(Adapter):
    kind = "silence"

    def predict(self, rows):
        raise NotImplementedError(rows)


@dataclass(frozen=True)
class Field(Silent):
    n_threads: int


class Attribute(Silent):
    n_threads = 3


class Assigned(Silent):
    def __init__(self):
        self.n_threads = 3


class Computed(Silent):
    @property
    def n_threads(self):
        return 3


@pytest.mark.parametrize("adapter", [Field(3), Attribute(), Assigned(), Computed()])
def test_a_default_gives_way_to_whatever_a_class_writes(adapter):
    assert isinstance(adapter, Adapter)
    assert adapter.n_threads == 3
    assert Silent().n_threads == 1


def test_an_estimator_is_no_adapter():
    class Estimator:
        def predict(self, rows):
            raise NotImplementedError(rows)

    assert not isinstance(Estimator(), Adapter)
