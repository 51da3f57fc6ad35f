import pickle
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba")

from rhale.errors import RhaleError
from rhale.models.trees.forest import Tree, build_forest
from rhale.models.trees.links import LINKS
from rhale.models.trees.reading import CLASS_LABEL, CannotReadError, Reading
from rhale.models.trees.walker import TreeWalker

LEAF = Tree(
    feature=np.array([-1]),
    threshold=np.zeros(1),
    left=np.array([-1]),
    right=np.array([-1]),
    missing_left=np.zeros(1, np.bool_),
    value=np.array([[3.0]]),
)
PLAIN = Reading(build_forest([LEAF], 2), np.array([0.5]))


def answer(reading, response="predict"):
    """What a forest of one leaf, 3, makes of a row."""
    return TreeWalker(reading, response, is_pair=False).predict(np.ones((1, 2))).item()


def test_nothing_but_the_base_is_added_where_nothing_else_was_read():
    assert answer(PLAIN) == 3.0 + 0.5
    assert answer(PLAIN, "margin") == 3.0 + 0.5


def test_the_link_and_its_factor_make_the_usual_answer_and_not_the_raw_one():
    reading = replace(PLAIN, link="sigmoid", alpha=2.0)
    assert answer(reading) == pytest.approx(1 / (1 + np.exp(-2.0 * 3.5)))
    assert answer(reading, "margin") == 3.5


def test_a_raw_answer_alone_is_multiplied_by_its_factor():
    reading = replace(PLAIN, raw_factor=0.25)
    assert answer(reading, "margin") == 3.5 / 4
    assert answer(reading) == 3.5


def test_a_class_label_is_no_link():
    assert CLASS_LABEL not in LINKS
    assert PLAIN.link in LINKS


def test_a_reading_travels():
    sent = pickle.loads(pickle.dumps(replace(PLAIN, names=("a", "b"))))  # noqa: S301 - our own
    assert sent.names == ("a", "b")
    assert answer(sent) == 3.5


def test_trees_that_cannot_be_read_are_no_error_of_the_user():
    assert not issubclass(CannotReadError, RhaleError)
