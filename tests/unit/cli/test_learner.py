"""What `module:name` stands for: told apart by what it must be given, refused with what to write."""

import sys
from functools import partial

import pytest

from rhale.cli.values import as_learner, find_learner, require_named
from rhale.errors import BadFileError, BadSettingError, ModelFailedError, UnknownModelError

linear_model = pytest.importorskip("sklearn.linear_model")


class Learner:
    """Learns nothing; what it is given when it is made may be left out."""

    def __init__(self, depth=3):
        self.depth = depth

    def fit(self, rows, target):
        self.known = rows, target
        return self


class Deep(Learner):
    def __init__(self, depth):
        super().__init__(depth)


class Fitted:
    def predict(self, rows):
        return rows


def train(rows, target, *, depth=3, **params):
    return Learner(depth, **params).fit(rows, target)


def make(depth=3):
    return Learner(depth)


def fail():
    msg = "no licence"
    raise OSError(msg)


def test_an_estimator_and_a_function_that_trains_are_taken_as_they_are():
    estimator, trains = Learner(), partial(train, depth=2)
    assert as_learner(estimator, "shop:best") is estimator
    assert as_learner(train, "shop:train") is train
    assert as_learner(trains, "shop:train") is trains
    assert as_learner(estimator.fit, "shop:fit") == estimator.fit


@pytest.mark.parametrize("maker", [make, partial(make, 3), Learner, lambda: Learner()])
def test_what_needs_no_arguments_is_called(maker):
    assert as_learner(maker, "shop:make").depth == 3


def test_a_function_may_return_one_that_trains():
    assert as_learner(lambda: train, "shop:make") is train


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Fitted(), r"shop:it is Fitted .* has predict and no fit: it cannot be trained again"),
        (3, r"shop:it is int 3, which has no fit; give an estimator with fit, a function"),
        (lambda rows: rows, r"shop:it must be given rows; .* function \(rows, target\) -> fitted"),
        (lambda a, b, c: a + b + c, "must be given a, b, c;"),
        (lambda *, depth: depth, "must be given depth;"),
        (Deep, "must be given depth;"),
        (lambda: None, r"shop:it\(\) returned None, which has no fit; return an estimator"),
        (lambda: Learner, r"shop:it\(\) returned type .*; return an estimator"),
        (Fitted, r"shop:it\(\) returned Fitted .* cannot be trained again"),
        (map, "does not say which arguments it takes|must be given"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_what_can(found, words):
    with pytest.raises(UnknownModelError, match=words):
        as_learner(found, "shop:it")


def test_a_maker_that_fails_is_told_with_its_reason_and_how_to_write_one_that_trains():
    with pytest.raises(
        ModelFailedError, match=r"shop:it\(\).* OSError: no licence; .*two arguments"
    ):
        as_learner(fail, "shop:it")


def test_learners_are_found_in_installed_modules_and_in_this_folder(tmp_path, monkeypatch):
    (tmp_path / "found_by_tests.py").write_text("def train(rows, target):\n    return None\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert find_learner("found_by_tests:train").__name__ == "train"
    found = find_learner("sklearn.linear_model:LinearRegression")
    assert isinstance(found, linear_model.LinearRegression)


@pytest.mark.parametrize("name", ["no_such_module:train", "json:trian"])
def test_what_is_not_there_is_told(name):
    with pytest.raises(BadFileError, match=r"no_such_module|has no 'trian'"):
        find_learner(name)


@pytest.mark.parametrize("text", ["model.onnx", "shop", "shop:", ":train", "model.pkl"])
def test_a_file_is_no_learner(text):
    with pytest.raises(BadSettingError, match="names no learner; write module:name"):
        require_named(text)
    require_named("shop.models:make")
