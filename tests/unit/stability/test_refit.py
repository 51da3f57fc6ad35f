"""refit() and refits(): the whole way, with learners whose effects are known in closed form."""

import logging
import re
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import threadpoolctl
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate

import rhale
from rhale.errors import (
    BadSettingError,
    BadTableError,
    ModelFailedError,
    UnknownFeatureError,
    UnknownModelError,
)
from rhale.features.row_columns import read_explained_rows
from rhale.settings import Settings
from rhale.stability.splits import Scheme

N = 60
SLOPES = np.array([2.0, -1.0, 0.5])


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture
def target(rows):
    return rows @ SLOPES + 0.3 * np.random.default_rng(1).normal(size=N)


@pytest.fixture
def frame(rows, target):
    made = pd.DataFrame(rows, columns=["age", "bmi", "fare"])
    return made.assign(
        price=target, who=np.arange(N) // 3, worth=np.r_[np.zeros(10), np.ones(N - 10)]
    )


def learn(rows, target):
    """Least squares through the origin, by NumPy alone."""
    slopes = np.linalg.lstsq(np.asarray(rows), np.asarray(target), rcond=None)[0]
    return lambda asked: np.asarray(asked) @ slopes


def slopes_of(rows, target, parts):
    return np.array([np.linalg.lstsq(rows[p], target[p], rcond=None)[0] for p in parts])


def halves(n=4, size=N):
    return Scheme(n_refits=n).draw(size)


def rise(effect):
    return np.diff(effect.curve([0.0, 1.0]))[0]


def rises(rx):
    """Rise of every effect over one unit, in every training."""
    found = [[rise(effect) for effect in fx.values()] for fx in rx.explanations]
    return np.array(found)


class Grumpy(RegressorMixin, BaseEstimator):
    """Least squares that fails where the mean of its target is above a limit."""

    def __init__(self, limit=0.0):
        self.limit = limit

    def fit(self, x, y):
        if np.mean(y) > self.limit:
            msg = f"too high: {len(y)} rows"
            raise ArithmeticError(msg)
        self.answer_ = learn(x, y)
        return self

    def predict(self, x):
        return self.answer_(x)


# --- numbers ---------------------------------------------------------------------------------------


def test_every_training_has_the_slopes_of_its_own_rows(rows, target):
    rx = rhale.refit(learn, rows, target, n_refits=4, seed=3)
    assert rx.provenance["scheme"] == "half-samples"
    parts = Scheme(n_refits=4).draw(N, seed=3)
    expected = slopes_of(rows, target, parts)
    assert rises(rx) == pytest.approx(expected)
    assert rise(rx["x1"]) == pytest.approx(expected[:, 1].mean())


def test_a_share_makes_subsamples(rows, target):
    rx = rhale.refit(learn, rows, target, n_refits=3, share=0.8)

    assert rx.provenance["scheme"] == "subsamples"
    assert set(rx.n_train) == {round(0.8 * len(rows))}


def test_an_estimator_is_left_as_it_was(rows, target):
    estimator = LinearRegression()
    rx = rhale.refit(estimator, rows, target, n_refits=2)
    assert not hasattr(estimator, "coef_")
    assert rx.provenance["learner"] == "LinearRegression"


def test_models_that_are_there_give_the_same_as_training_them(rows, target):
    parts = halves()
    models = [LinearRegression().fit(rows[p], target[p]) for p in parts]
    given = rhale.refits(models, rows, train=parts)
    trained = rhale.refit(LinearRegression(), rows, target, train=parts)
    assert given.overlap == trained.overlap
    assert given.effects == trained.effects
    assert trained.provenance["scheme"] == "own rows"


def test_what_cross_validate_returns_is_read(rows, target):
    options = {"cv": 5, "return_estimator": True, "return_indices": True}
    found = cross_validate(LinearRegression(), rows, target, **options)
    rx = rhale.refits(found, rows)
    # one round of K folds: (1 - 1/K) n1/n2
    assert rx.overlap.factor == pytest.approx(0.8 * 4)
    assert rises(rx)[:, 0] == pytest.approx([m.coef_[0] for m in found["estimator"]])


def test_rows_that_the_user_gives_come_before_those_of_cross_validate(rows, target):
    options = {"cv": 5, "return_estimator": True, "return_indices": True}
    found = cross_validate(LinearRegression(), rows, target, **options)
    given = rhale.refits(found, rows, test=found["indices"]["test"])
    assert given.overlap == rhale.refits(found, rows).overlap
    del found["indices"]
    assert rhale.refits(found, rows, test=[np.arange(5 * k, 5 * k + 5) for k in range(5)])


def test_a_generator_of_models_is_read_once(rows, target):
    parts = halves()
    models = (LinearRegression().fit(rows[p], target[p]) for p in parts)
    assert rhale.refits(models, rows, train=list(parts)).n_trainings == 4


def test_masks_are_rows_too(rows):
    masks = np.array([np.isin(np.arange(N), part) for part in halves()])
    models = [lambda z: z[:, 0]] * 4
    assert rhale.refits(models, rows, train=masks).overlap.n_train.tolist() == [30] * 4
    trained = rhale.refit(learn, rows, rows @ SLOPES, train=masks)
    assert trained.overlap.n_train.tolist() == [30] * 4


def test_independent_models_need_no_rows_and_have_the_plain_factor(rows):
    models = [lambda z, k=k: k * z[:, 0] for k in range(1, 6)]
    rx = rhale.refits(models, rows, scheme="independent")
    assert rx.overlap.factor == pytest.approx(1 / 5)
    assert "rows_trained" not in rx.provenance


def test_the_own_model_is_explained_beside_the_trainings(rows, target):
    own = LinearRegression().fit(rows, target)
    rx = rhale.refit(LinearRegression(), rows, target, n_refits=2, model=own)
    assert rise(rx["x0"].own) == pytest.approx(own.coef_[0])
    assert rx.n_trainings == 2


# --- bins -----------------------------------------------------------------------------------------


def wavy(z):
    return np.sin(3 * z[:, 0]) + z[:, 1] ** 2 + z[:, 2]


class Wavy(RegressorMixin, BaseEstimator):
    """As large as the mean of its target is."""

    def fit(self, x, y):
        self.n_features_in_, self.size_ = x.shape[1], 1 + np.mean(y)
        return self

    def predict(self, x):
        return self.size_ * wavy(x)


def test_copies_of_one_model_have_the_bins_of_the_one():
    x = np.random.default_rng(2).normal(size=(300, 3))
    rx = rhale.refits([wavy] * 3, x, scheme="independent")
    alone = rhale.explain(wavy, x, partners=False)
    assert alone["x0"].edges.size > 4
    for fx in rx.explanations:
        assert [
            np.array_equal(a.edges, b.edges)
            for a, b in zip(fx.values(), alone.values(), strict=True)
        ] == [True] * 3
        assert rise(fx["x0"]) == pytest.approx(rise(alone["x0"]))


@pytest.mark.parametrize(
    ("bins", "n_bins"),
    [
        (7, [7, 7, 7]),
        (rhale.Fixed(4), [4, 4, 4]),
        ({"x1": 5}, [None, 5, None]),
        ({0: rhale.Edges([-1.0, 0.0, 1.0])}, [2, None, None]),
    ],
)
def test_bins_are_those_that_were_asked_for_and_the_same_in_all_trainings(bins, n_bins):
    x = np.random.default_rng(2).uniform(-1, 1, size=(300, 3))
    models = [wavy, lambda z: 2 * wavy(z), lambda z: wavy(z) + wavy(-z)]
    rx = rhale.refits(models, x, scheme="independent", bins=bins)
    usual = rhale.refits(models, x, scheme="independent")
    for place, n in enumerate(n_bins):
        own = [fx.effects[place].edges for fx in rx.explanations]
        assert all(np.array_equal(edges, own[0]) for edges in own)
        other = usual.explanations[0].effects[place].edges
        assert own[0].size == n + 1 if n else np.array_equal(own[0], other)


def test_models_of_several_kinds_have_bins_of_their_own():
    x = np.random.default_rng(2).normal(size=(300, 3))
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(x, wavy(x))
    rx = rhale.refits([wavy, forest], x, scheme="independent")
    assert all(fx["x0"].edges.size > 2 for fx in rx.explanations)


# --- which columns are what -------------------------------------------------------------------------


def as_given(frame):
    return frame


@pytest.mark.parametrize("make", [as_given, pl.from_pandas, pa.Table.from_pandas, np.asarray])
def test_columns_by_name_are_no_features_and_the_learner_sees_the_users_kind(make, frame):
    kinds = set()

    def watch(rows, target):
        kinds.add(type(rows))
        assert rows.shape == (30, 3)
        assert len(target) == 30
        return learn(rows, target)

    data = make(frame)
    before = frame.copy()
    x = [f"x{i}" for i in range(6)] if isinstance(data, np.ndarray) else list(frame)
    rx = rhale.refit(watch, data, x[3], groups=x[4], weights=x[5], n_refits=2)
    assert rx.features == tuple(x[:3])
    assert kinds == {type(data)}
    assert frame.equals(before)


@settings(max_examples=30, deadline=None)
@given(
    order=st.permutations(["a", "b", "c", "d"]), uses=st.lists(st.sampled_from("abcd"), max_size=3)
)
def test_features_are_the_columns_that_serve_for_nothing_else(order, uses):
    made = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=order)
    names = dict(zip(("target", "groups", "weights"), uses, strict=False))
    asked = Settings(weights=names.pop("weights", None))
    found = read_explained_rows(made, asked, **names)
    assert list(found.table.names) == [name for name in order if name not in uses]
    for use, name in names.items():
        assert getattr(found, use).tolist() == made[name].tolist()
    if asked.weights is not None:
        assert found.asked.weights.tolist() == made[asked.weights].tolist()


def test_the_target_as_a_column_is_the_target_as_an_array(frame, rows, target):
    by_name = rhale.refit(learn, frame[["age", "bmi", "fare", "price"]], "price", n_refits=2)
    by_array = rhale.refit(learn, frame[["age", "bmi", "fare"]], target, n_refits=2)
    assert by_name.effects == by_array.effects
    assert rises(by_name) == pytest.approx(slopes_of(rows, target, halves(2)))


def test_columns_choose_features_and_leave_the_target_where_it_is(frame):
    rx = rhale.refit(learn, frame, "price", columns=["fare", "age"], n_refits=2)
    assert rx.features == ("fare", "age")


def test_rows_without_weight_are_trained_on_but_not_explained(frame, rows, target):
    some = frame[["age", "bmi", "fare", "worth"]]
    rx = rhale.refit(learn, some, target, weights="worth", n_refits=2)
    assert rx.provenance["rows"] == N - 10
    assert rx.overlap.n_rows == N
    assert rises(rx) == pytest.approx(slopes_of(rows, target, halves(2)))


def test_fewer_explained_rows_leave_the_trainings_alone(rows, target):
    rx = rhale.refit(learn, rows, target, n_rows=25, n_refits=2)
    assert rx.provenance["rows"] == 25
    assert rx.overlap.n_train.tolist() == [30, 30]
    assert rises(rx) == pytest.approx(slopes_of(rows, target, halves(2)))


def test_groups_go_into_a_training_together(frame):
    seen = []

    def watch(rows, target):
        seen.append(set(rows.index // 3))
        return learn(rows, target)

    rx = rhale.refit(watch, frame, "price", groups="who", n_refits=2)
    assert not seen[0] & seen[1]
    assert rx.overlap.shared[0, 1] == 0
    # units are groups: 10 of 20 in each half, of 3 rows
    assert rx.overlap.shared[0, 0] == pytest.approx(1 / 10)


def test_one_column_may_serve_twice(frame):
    some = frame[["age", "bmi", "fare", "price", "who"]]
    rx = rhale.refit(learn, some, "price", groups="who", weights="who", n_refits=2)
    assert rx.features == ("age", "bmi", "fare")


def test_parameters_of_the_fit_go_with_the_rows(rows, target):
    def weighted(x, y, *, root, label):
        assert label == "ok"
        return learn(x * root[:, None], y * root)

    root = np.random.default_rng(5).uniform(1, 2, size=N)
    options = {"fit_params": {"root": root, "label": "ok"}, "n_refits": 2}
    rx = rhale.refit(weighted, rows, target, **options)
    expected = slopes_of(rows * root[:, None], target * root, halves(2))
    assert rises(rx) == pytest.approx(expected)


# --- several at a time --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_numbers_do_not_depend_on_the_number_of_threads(rows, target, n_jobs):
    forest = RandomForestRegressor(5, max_depth=3, random_state=0)
    alone = rhale.refit(forest, rows, target, n_refits=4)
    several = rhale.refit(forest, rows, target, n_refits=4, n_jobs=n_jobs)
    assert several.effects == alone.effects
    assert several.provenance["asked"] == alone.provenance["asked"]


def test_as_many_learn_at_a_time_as_were_asked_for(rows, target):
    both = threading.Barrier(2, timeout=30)

    def together(x, y):
        both.wait()
        return learn(x, y)

    assert rhale.refit(together, rows, target, n_refits=4, n_jobs=2).n_trainings == 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_more_threads_work_than_were_asked_for(rows, target, n_jobs):
    seen, at_work, most = [], [], []

    def watch(x, y):
        at_work.append(1)
        most.append(len(at_work))
        seen.extend(pool["num_threads"] for pool in threadpoolctl.threadpool_info())
        at_work.pop()
        return learn(x, y)

    before = threadpoolctl.threadpool_info()
    rhale.refit(watch, rows, target, n_refits=4, n_jobs=n_jobs)
    assert set(seen) == {1}
    assert max(most) <= n_jobs
    assert threadpoolctl.threadpool_info() == before


def test_models_that_are_there_are_explained_several_at_a_time(rows):
    models = [lambda z, k=k: k * z[:, 0] for k in range(1, 5)]
    options = {"scheme": "independent"}
    assert rhale.refits(models, rows, n_jobs=2, **options).effects == (
        rhale.refits(models, rows, **options).effects
    )


# --- what fails ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_training_that_fails_is_named_and_the_others_are_kept(rows, target, n_jobs):
    parts = halves(6)
    means = [target[p].mean() for p in parts]
    limit = float(np.sort(means)[-2:].mean())
    rx = rhale.refit(Grumpy(limit), rows, target, train=parts, n_jobs=n_jobs)
    worst = int(np.argmax(means))
    assert [f.number for f in rx.failures] == [worst + 1]
    assert rx.failures[0].reason == "ArithmeticError: too high: 30 rows"
    assert rx.n_trainings == 5
    assert (rx.provenance["trainings"], rx.provenance["trainings_asked"]) == (5, 6)
    kept = [p for k, p in enumerate(parts) if k != worst]
    assert rises(rx) == pytest.approx(slopes_of(rows, target, kept))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_if_all_fail_the_first_reason_is_told(rows, target, n_jobs):
    with pytest.raises(
        ModelFailedError, match=r"^3 of 4 retrainings .* retraining 1: Arith.*30 rows"
    ):
        rhale.refit(Grumpy(-99), rows, target, n_refits=4, n_jobs=n_jobs)


def test_no_more_is_trained_once_too_many_failed(rows, target):
    tried = []

    def fail(_, y):
        tried.append(len(y))
        raise ValueError

    with pytest.raises(ModelFailedError, match="too many"):
        rhale.refit(fail, rows, target, n_refits=8)
    assert len(tried) == 7


def test_a_model_that_cannot_be_explained_is_a_failure_of_its_training(rows, target):
    parts = halves(4)

    def odd(x, y):
        model = learn(x, y)
        return (lambda z: model(z) * np.nan) if np.array_equal(x, rows[parts[2]]) else model

    rx = rhale.refit(odd, rows, target, train=parts)
    assert [f.number for f in rx.failures] == [3]
    assert "nan or infinity" in rx.failures[0].reason


def test_a_training_with_other_outputs_is_a_failure(rows, target):
    parts = halves(4)

    def odd(x, y):
        model = learn(x, y)
        is_odd = np.array_equal(x, rows[parts[1]])
        return (lambda z: np.stack([model(z)] * 2, axis=1)) if is_odd else model

    rx = rhale.refit(odd, rows, target, train=parts)
    assert [f.number for f in rx.failures] == [2]
    assert rx.failures[0].reason == "its outputs are y0, y1, those of most others y0"


def test_a_class_without_rows_is_a_failure_that_names_it(rows):
    classes = np.where(rows[:, 0] > 0, "yes", "no").astype(object)
    classes[:2] = "rare"
    parts = [*halves(4), np.arange(2, N)]
    rx = rhale.refit(LogisticRegression(), rows, classes, train=parts)
    lacking = [k + 1 for k, p in enumerate(parts) if not {0, 1} & set(p.tolist())]
    assert [f.number for f in rx.failures] == lacking
    assert "'rare'" in rx.failures[-1].reason
    assert rx.outputs == ("no", "rare", "yes")


# --- interrupts and progress ----------------------------------------------------------------------------


def interrupting(at):
    calls = []

    def interrupted(x, y):
        calls.append(len(y))
        if len(calls) == at:
            raise KeyboardInterrupt
        return learn(x, y)

    return interrupted


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupted_run_gives_what_is_done(rows, target, n_jobs):
    before = threading.active_count()
    rx = rhale.refit(interrupting(4), rows, target, n_refits=8, n_jobs=n_jobs)
    assert rx.n_trainings >= 2
    assert any(note.startswith("interrupted: ") and "of 8" in note for note in rx.notes)
    assert rises(rx) == pytest.approx(slopes_of(rows, target, halves(8)[: rx.n_trainings]))
    assert threading.active_count() == before


def test_an_interrupt_in_an_explanation_gives_what_is_done(rows, target):
    def learn_to_stop(x, y):
        model = learn(x, y)
        if np.array_equal(x, rows[halves(4)[3]]):
            return interrupt
        return model

    def interrupt(_):
        raise KeyboardInterrupt

    rx = rhale.refit(learn_to_stop, rows, target, train=halves(4))
    assert rx.n_trainings == 3
    assert rx.notes[0] == "interrupted: 3 of 4 retrainings are done"


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupt_before_two_are_done_is_raised(rows, target, n_jobs):
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        rhale.refit(interrupting(1), rows, target, n_refits=4, n_jobs=n_jobs)
    assert threading.active_count() == before


def test_control_c_is_heard_while_threads_learn():
    code = """
import os, signal, threading
import numpy as np
import rhale
from rhale.models.predictor import STOP
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what nohup starts
x = np.random.default_rng(0).normal(size=(60, 2))
calls = []
def learn(rows, target):
    calls.append(1)
    if len(calls) >= 6:
        if len(calls) == 6:
            os.kill(os.getpid(), signal.SIGINT)
        STOP.get().wait(60)
    slope = np.mean(rows[:, 0] * target)
    return lambda asked: slope * asked[:, 0]
rx = rhale.refit(learn, x, x[:, 0], n_refits=40, n_jobs=2)
print(2 <= rx.n_trainings <= 6, len(calls) <= 8, threading.active_count(), rx.notes[0][:12])
"""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert run.stdout == "True True 1 interrupted:\n"


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_counts_all_trainings_also_those_that_fail(rows, target, n_jobs):
    told = []
    limit = float(np.max([target[p].mean() for p in halves(6)])) - 1e-9
    rhale.refit(
        Grumpy(limit), rows, target, train=halves(6), n_jobs=n_jobs,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == [(k, 6) for k in range(1, 7)]


def test_a_bar_tells_how_far_it_is(rows, target, capsys):
    rhale.refit(learn, rows, target, n_refits=2, progress=True)
    said = capsys.readouterr().err
    assert "rhale, refits: 100%" in said
    assert "2/2" in said


# --- wrong questions ------------------------------------------------------------------------------------


def never(*_):
    pytest.fail("nothing is to be trained for a question that cannot be answered")


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"scheme": "halfs"}, BadSettingError, "'halfs' is not known; use one of half-samples"),
        ({"n_refits": 1}, BadSettingError, "n_refits=1: pass a whole number of 2 or more"),
        ({"scheme": "subsamples", "share": 1.5}, BadSettingError, "share=1.5 .* between 0 and 1"),
        ({"scheme": "folds", "share": 0.5}, BadSettingError, "share=0.5 is for scheme='subsamples'"),
        ({"scheme": "folds", "n_refits": 7}, BadSettingError, "n_refits=7 .* folds=5; use n_refits"),
        ({"train": [[0, 1], [N]]}, BadSettingError, f"train 2 names row {N}.* the table has {N}"),
        ({"train": [[0, 1], []]}, BadSettingError, "train 2 has no rows"),
        ({"train": [[0, 1]]}, BadSettingError, "rows of 1; at least 2 retrainings"),
        ({"feature": "age"}, BadSettingError, "no argument 'feature'; did you mean 'features'"),
        ({"checkpoints": "x"}, BadSettingError, "'checkpoints'; did you mean 'checkpoint'"),
        ({"gradient": len}, BadSettingError, "refit has no argument 'gradient'"),
        ({"partners": True}, BadSettingError, "refit has no argument 'partners'"),
        ({"sample_weight": 1}, TypeError, "no argument 'sample_weight'; it is called weights="),
        ({"random_state": 1}, TypeError, "no argument 'random_state'; it is called seed="),
        ({"features": ["agee"]}, UnknownFeatureError, "no feature 'agee'; did you mean 'age'"),
        ({"features": [("age", "bmi")]}, BadSettingError, r"\('age', 'bmi'\); name them in pairs="),
        ({"features": ["price"]}, BadSettingError, "features= names 'price', which is the target"),
        ({"columns": ["age", "price"]}, BadSettingError, "columns= names 'price', which is the tar"),
        ({"weights": "worht"}, UnknownFeatureError, "weights='worht' is not a column .* 'worth'"),
        ({"groups": "whom"}, UnknownFeatureError, "groups='whom' is not a column .* mean 'who'"),
        ({"groups": [1, 2]}, BadTableError, f"groups: labels of shape .2,. for a table of {N} rows"),
        ({"weights": [1, 2]}, BadTableError, f"weights have shape .2,., the table has {N} rows"),
        ({"pairs": 3}, BadSettingError, "pairs=3 would choose other pairs in every retraining; name them"),
        ({"pairs": "alle"}, BadSettingError, "pairs='alle' is not understood"),
        ({"pairs": [("age", "wage")]}, UnknownFeatureError, "no feature 'wage'; did you mean 'age'"),
        ({"n_jobs": 0}, BadSettingError, "n_jobs=0 is not a number of threads"),
        ({"method": "shap"}, BadSettingError, "method='shap' is not known"),
        ({"regions": rhale.By("sex")}, BadSettingError, "sex"),
        ({"fit_params": [1]}, BadSettingError, r"fit_params=\[1\] is not a mapping"),
    ],
)  # fmt: skip
def test_a_wrong_question_is_refused_before_anything_is_trained(frame, options, error, said):
    with pytest.raises(error, match=said):
        rhale.refit(never, frame, "price", **options)


@pytest.mark.parametrize(
    ("learned", "error", "said"),
    [
        ("prise", UnknownFeatureError, "target='prise' is not a column .* did you mean 'price'"),
        (None, BadTableError, "target=None"),
        (np.arange(N - 1), BadTableError, f"target has {N - 1} values, the table has {N} rows"),
        (np.zeros(N), BadTableError, "nothing to learn"),
    ],
)
def test_a_wrong_target_is_refused(frame, learned, error, said):
    with pytest.raises(error, match=said):
        rhale.refit(never, frame, learned)


def test_a_table_of_nothing_but_its_target_is_refused(frame):
    with pytest.raises(BadTableError, match="no column beside target; a model needs features"):
        rhale.refit(never, frame[["price"]], "price")


def test_a_class_is_no_estimator(rows, target):
    with pytest.raises(UnknownModelError, match=r"pass an instance of it: LinearRegression\(\)"):
        rhale.refit(LinearRegression, rows, target)


def test_what_no_training_answers_is_not_tried_again(rows, target):
    tried = []

    def count(x, y):
        tried.append(len(y))
        return learn(x, y)

    with pytest.raises(rhale.errors.UnknownOutputError, match="no output 'yes'"):
        rhale.refit(count, rows, target, output="yes")
    assert len(tried) == 1


# --- models that do not fit -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "which rows was each model trained on. Give train="),
        ({"train": [[0], [1], [2]]}, "there are 2 models, and rows of 3 retrainings"),
        ({"train": [[0], [N]]}, f"train 2 names row {N}, its largest, and the table has {N}"),
        ({"test": [[0], []]}, "test 2 has no rows"),
        (
            {"train": [[0, 1], [2]], "test": [[1], [3]]},
            "training 1 has 1 rows both in train and in",
        ),
        ({"scheme": "independent", "train": [[0], [1]]}, "no two models share a row; leave train="),
        ({"scheme": "independent", "groups": "x0"}, "leave groups= out"),
        ({"scheme": "half-samples"}, "scheme='half-samples' is not known here; use 'auto'"),
    ],
)
def test_rows_of_models_that_do_not_fit_are_refused(rows, options, said):
    with pytest.raises(BadSettingError, match=said):
        rhale.refits([np.sum, np.mean], rows, **options)


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ([], "0 models were given, too few to compare"),
        ([np.sum], "1 models were given"),
        (LinearRegression(), r"models=LinearRegression\(\) is one model; give a list"),
        (RandomForestRegressor(), "is one model"),
        ("models.pkl", "is not a sequence of models"),
        (3, "models=3 is not a sequence of models"),
        (
            {"test_score": [1.0]},
            "dict of 'test_score' without 'estimator'; .*return_estimator=True",
        ),
        ({"estimator": [1, 2]}, "without 'indices'; call cross_validate.*return_indices=True"),
    ],
)
def test_what_is_no_list_of_models_is_refused(rows, models, said):
    with pytest.raises(BadSettingError, match=said):
        rhale.refits(models, rows)


def test_models_of_other_columns_are_refused_by_both_names(frame):
    some = [frame[["age", "bmi"]], frame[["age", "fare"]]]
    models = [LinearRegression().fit(x, frame["price"]) for x in some]
    with pytest.raises(BadSettingError, match=r"model 1 .*\(age, bmi\), model 2 on \(age, fare\)"):
        rhale.refits(models, some[0], train=halves(2))
    models = [LinearRegression().fit(np.asarray(x), frame["price"]) for x in (frame, some[0])]
    with pytest.raises(BadSettingError, match="on 6 columns, model 2 on 2 columns"):
        rhale.refits(models, frame.to_numpy(), train=halves(2))


def test_models_with_other_outputs_are_refused_by_both(rows):
    models = [lambda z: z[:, 0], lambda z: z[:, 1], lambda z: z[:, :2]]
    with pytest.raises(BadSettingError, match=r"model 1 returns y0, model 3 y0, y1; .* output="):
        rhale.refits(models, rows, scheme="independent")


def test_a_model_that_is_not_fitted_is_named(rows, target):
    fitted = LinearRegression().fit(rows, target)
    models = [fitted, fitted, LinearRegression()]
    with pytest.raises(ModelFailedError, match=r"^model 3 is not fitted; .* rhale.refit"):
        rhale.refits(models, rows, scheme="independent")
    with pytest.raises(ModelFailedError, match=r"^model= is not fitted"):
        rhale.refit(LinearRegression(), rows, target, model=LinearRegression())


def test_a_model_that_fails_or_is_none_is_named(rows):
    def fail(_):
        msg = "no"
        raise OSError(msg)

    with pytest.raises(ModelFailedError, match=r"^model 2: the model failed .* OSError: no"):
        rhale.refits([lambda z: z[:, 0], fail], rows, scheme="independent")
    with pytest.raises(UnknownModelError, match=r"^model 2: int is not a model"):
        rhale.refits([lambda z: z[:, 0], 3], rows, scheme="independent")


def test_an_own_model_of_another_kind_is_refused_after_one_training(rows, target):
    own = LogisticRegression().fit(rows, target > 0)
    tried = []

    def count(x, y):
        tried.append(len(y))
        return learn(x, y)

    with pytest.raises(BadSettingError, match="model= returns True, and the retrained models y0"):
        rhale.refit(count, rows, target, model=own)
    assert len(tried) == 1


# --- notes ------------------------------------------------------------------------------------------------


def test_few_trainings_are_noted(rows, target):
    few = rhale.refit(learn, rows, target, n_refits=8)
    assert "8 retrainings are too few for a reliable interval; 20 are usual" in few.notes
    assert rhale.refit(learn, rows, target, n_refits=10).notes == ()


def test_the_same_rows_in_all_trainings_are_noted(rows):
    models = [lambda z, k=k: k * z[:, 0] for k in (1.0, 1.1)]
    rx = rhale.refits(models, rows, train=[np.arange(N)] * 2)
    assert any("all retrainings used the same rows" in note for note in rx.notes)


# --- tables that are not in memory ------------------------------------------------------------------------


def test_files_are_for_models_that_share_no_row(frame, tmp_path):
    some = frame[["age", "bmi"]]
    path = tmp_path / "rows.parquet"
    some.to_parquet(path)
    models = [lambda z: z["age"], lambda z: 2 * z["age"]]
    with pytest.raises(BadTableError, match=r"must be in memory; read .*rows.parquet"):
        rhale.refits(models, path, train=halves(2))
    with pytest.raises(BadTableError, match="must be in memory"):
        rhale.refit(never, str(path), "age")
    of_file = rhale.refits(models, path, scheme="independent")
    assert rises(of_file)[:, 0] == pytest.approx([1.0, 2.0])


# --- pairs ------------------------------------------------------------------------------------------------


def learn_product(x, y):
    size = np.mean(y) / np.mean(x[:, 0] * x[:, 1])
    return lambda z: size * z[:, 0] * z[:, 1]


def test_all_pairs_of_a_black_box_are_priced_once(rows, caplog):
    x = np.abs(rows)
    with caplog.at_level(logging.WARNING, logger="rhale"):
        rx = rhale.refit(learn_product, x, 2 * x[:, 0] * x[:, 1], pairs="all", n_refits=6)
    assert [pair.names for pair in rx.pairs] == [("x0", "x1"), ("x0", "x2"), ("x1", "x2")]
    assert [len(pair.strengths) for pair in rx.pairs] == [6] * 3
    # every training learned the same function
    assert np.ptp(rx.pairs[0].strengths) < 1e-9
    assert rx.pairs[1].strength == 0
    assert [r.getMessage() for r in caplog.records] == [
        "pairs='all' evaluates the model on 4 x 3 pairs x 60 rows = 720 rows",
        "and as much for each of 6 retrainings",
    ]


def test_all_pairs_are_those_of_the_features_that_are_explained(rows):
    x = np.abs(rows)
    options = {"features": [2, 0], "pairs": "all", "n_refits": 4}
    rx = rhale.refit(learn_product, x, 2 * x[:, 0] * x[:, 1], **options)
    assert [pair.names for pair in rx.pairs] == [("x0", "x2")]


def test_pairs_that_are_kept_are_priced_once_and_the_same(rows, caplog, tmp_path):
    x = np.abs(rows)
    asked = {"pairs": "all", "n_refits": 4}
    plain = rhale.refit(learn_product, x, 2 * x[:, 0] * x[:, 1], **asked)
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="rhale"):
        kept = rhale.refit(learn_product, x, 2 * x[:, 0] * x[:, 1], checkpoint=tmp_path, **asked)
    assert kept.pairs == plain.pairs
    assert len(caplog.records) == 2


def test_pairs_can_be_asked_for_later(rows):
    x = np.abs(rows)
    rx = rhale.refit(learn_product, x, 2 * x[:, 0] * x[:, 1], n_refits=6)
    now = rhale.refit(learn_product, x, 2 * x[:, 0] * x[:, 1], n_refits=6, pairs=[("x1", "x0")])
    later = rx.replication(pairs=[("x0", "x1")])
    assert later["strength"][0] == now.pairs[0].strength
    for wrong in (3, [("x0", "x9")]):
        with pytest.raises((BadSettingError, UnknownFeatureError)):
            rx.replication(pairs=wrong)


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (KeyboardInterrupt, "interrupted"),
        (OSError("gone"), "model 3 of 4: the model failed on .* OSError: gone"),
    ],
)
def test_what_stops_the_pairs_leaves_the_trainings(rows, stop, said):
    models, told = [], []

    def learn_and_stop(x, y):
        number, model = len(models), learn(x, y)

        def predict(z):
            if number == 2 and told[-1:] == [(4, 4)]:
                raise stop
            return model(z)

        models.append(predict)

        return predict

    rx = rhale.refit(
        learn_and_stop, rows, rows @ SLOPES, n_refits=4, pairs=[("x0", "x1")],
        progress=lambda *now: told.append(now),
    )  # fmt: skip
    assert rx.n_trainings == 4
    assert rx.pairs == ()
    (note,) = [note for note in rx.notes if note.kind == "pairs"]
    assert re.fullmatch(f"pairs were not measured: {said}", note)


def test_trainings_that_were_all_there_before_have_the_same_bins(tmp_path):
    """Bins are chosen by where the rows are, which nobody looked up for a training."""
    x = np.random.default_rng(2).normal(size=(300, 3))
    first, again = (
        rhale.refit(Wavy(), x, x[:, 0], n_refits=4, checkpoint=tmp_path / "kept") for _ in range(2)
    )
    assert first["x0"].axis.size > 4
    assert np.array_equal(first["x0"].axis, again["x0"].axis)
    assert first["x0"].effects == again["x0"].effects


# --- columns that models were fitted on ----------------------------------------------------------


def fitted_halves():
    x = np.random.default_rng(5).normal(size=(200, 2))
    table = pd.DataFrame(x, columns=["a", "b"])
    parts = [np.arange(100), np.arange(100, 200)]
    models = [LinearRegression().fit(table.iloc[rows], x[rows] @ [2.0, 1.0]) for rows in parts]
    return table, models, parts


def test_models_see_the_columns_that_they_were_fitted_on():
    table, models, parts = fitted_halves()
    wide = table.assign(target=0.0)[["target", "b", "a"]]
    rx = rhale.refits(models, wide, train=parts)
    assert rx.features == ("a", "b")
    assert np.diff(rx["a"].curve([0.0, 1.0])) == pytest.approx([2.0])
    assert [note.kind for note in rx.notes][:1] == ["columns"]
    (pair,) = rhale.refits(models, wide, train=parts, pairs=[("a", "b")]).pairs
    assert pair.names == ("a", "b")
    rx = rhale.refits(models, wide, train=parts, bins={2: 3, 1: 4})  # of the user's table
    assert [rx[name].axis.size - 1 for name in ("a", "b")] == [3, 4]


def test_methods_of_models_are_these_models():
    table, models, parts = fitted_halves()
    rx = rhale.refits([model.predict for model in models], table, train=parts)
    assert rx.provenance["learner"] == "LinearRegression"


def test_a_model_of_other_columns_is_no_model_to_compare_with():
    table, models, parts = fitted_halves()
    own = LinearRegression().fit(table[["b", "a"]], table["a"])
    with pytest.raises(
        BadSettingError, match="model= was fitted on b, a, and the retrained models on a, b"
    ):
        rhale.refits(models, table, train=parts, model=own)


def test_beyond_its_bins_the_mean_of_trainings_is_unknown_where_that_is_asked_for():
    table, models, parts = fitted_halves()
    effect = rhale.refits(models, table, train=parts)["a"]
    x = [effect.axis[0] - 1.0, 0.0]
    low, high = effect.ci(x, outside="nan")
    for name in ("curve", "spread", "between"):
        assert np.isnan(getattr(effect, name)(x, outside="nan")).tolist() == [True, False]
        assert not np.isnan(getattr(effect, name)(x)).any()
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False]
    with pytest.raises(BadSettingError, match="1 of 2 values of 'a' lie beyond"):
        effect.curve(x, outside="raise")
