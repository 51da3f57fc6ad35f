"""Every kind of model answers in another process as it does here, to the last bit."""

import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import catboost
import cloudpickle
import jax
import jax.numpy as jnp
import lightgbm
import numpy as np
import onnx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import skops.io
import torch
import xgboost
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PolynomialFeatures, StandardScaler

import rhale
from rhale.effects.local.measure import MeasureTask
from rhale.execution.worker import pack
from rhale.features.survey import SurveyTask
from rhale.models.onnx import TAKES_WEIGHTS

X = np.random.default_rng(1).normal(size=(120, 3))
WEIGHTS = np.random.default_rng(2).normal(size=(3, 2))
Y = np.tanh(X @ WEIGHTS[:, 0]) + 0.5 * X[:, 1] ** 2
CLASSES = np.array(["low", "middle", "high"])[np.digitize(Y, [0.0, 0.6])]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=pd.Categorical(CLASSES))
ROWS = 40


@dataclass(frozen=True)
class Question:
    """What a worker does with a model: all that a pass may ask of it."""

    predictor: Any
    rows: Any

    def __call__(self):
        chunk = rhale.data.open_table(self.rows).chunk(0, ROWS)
        changes = [(c, np.roll(chunk.column(c), 1)) for c in range(3)]
        found = {"predict": self.predictor.predict(chunk.rows, ROWS)}
        if self.predictor.adapter.is_differentiable:
            found["answers"], found["slopes"] = self.predictor.gradient(chunk)
        if self.predictor.walks:
            found["walk"] = self.predictor.walk(self.predictor.walker, chunk, changes, "")
        return found


@dataclass(frozen=True)
class Case:
    """A model, and what it must be able to do on a worker."""

    name: str
    model: Any
    can: str = "predict"
    rows: Any = field(default_factory=lambda: X)
    options: dict[str, Any] = field(default_factory=dict)


class Scaled:
    """A model of the user's own: asked by a bound method."""

    def __init__(self, factor):
        self.factor = factor

    def answer(self, rows):
        return self.factor * np.tanh(rows @ WEIGHTS)


class Noisy(torch.nn.Module):
    """A module of the user's own, with parts that behave differently while training."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner = torch.nn.Sequential(
            torch.nn.Linear(3, 8),
            torch.nn.BatchNorm1d(8),
            torch.nn.Dropout(0.5),
            torch.nn.Tanh(),
            torch.nn.Linear(8, 2),
        )

    def forward(self, rows):
        return self.inner(rows)


def smooth(rows):
    return np.tanh(rows @ WEIGHTS)


def smooth_slopes(rows):
    return (1 - smooth(rows) ** 2)[:, :, None] * WEIGHTS.T


def in_jax(rows):
    return jnp.tanh(rows @ jnp.asarray(WEIGHTS))


def functions():
    power = 2
    return [
        Case("function", smooth),
        Case("lambda", lambda rows: np.sin(rows[:, 0])),
        Case("closure", lambda rows: np.sin(rows[:, 0]) ** power),
        Case("bound method", Scaled(3.0).answer),
        Case("function with gradient", smooth, "slopes", options={"gradient": smooth_slopes}),
        Case("JAX", in_jax, "slopes"),
        Case("jitted JAX", jax.jit(in_jax), "slopes"),
    ]


def estimators():
    network = MLPRegressor(
        hidden_layer_sizes=(8,), solver="lbfgs", max_iter=5000, random_state=0
    ).fit(X, Y)
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, CLASSES)
    return [
        Case("MLP", network),
        Case("pipeline", line),
        Case("log-odds", line, options={"response": "log_odds"}),
        Case("forest", RandomForestClassifier(5, random_state=0).fit(X, CLASSES), "walk"),
        Case("histograms", HistGradientBoostingRegressor(max_iter=5).fit(X, Y), "walk"),
        Case("trees of a frame", histograms_of_a_frame(), "walk", FRAME),
        Case("trees behind a step", behind_an_encoder(), "walk", FRAME),
        Case("trees asked", mixing_pipeline()),
    ]


def histograms_of_a_frame():
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    return model.fit(FRAME, Y > 0)


def behind_an_encoder():
    encoded = ColumnTransformer([("names", OrdinalEncoder(), ["d"])], remainder="passthrough")
    return make_pipeline(encoded, ExtraTreesRegressor(5, random_state=0)).fit(FRAME, Y)


def mixing_pipeline():
    return make_pipeline(PolynomialFeatures(), ExtraTreesRegressor(5, random_state=0)).fit(X, Y)


def boosters():
    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    rows = xgboost.DMatrix(X, Y)
    lines = lightgbm.Dataset(X, Y)
    linear = {"linear_tree": True, "n_estimators": 5, "n_jobs": 1, "verbose": -1}
    return [
        Case("XGBoost", xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(X, Y), "walk"),
        Case("XGBoost Booster", xgboost.train({"nthread": 1}, rows, 5), "walk"),
        Case("XGBoost asked", xgboost.XGBRegressor(booster="gblinear", n_jobs=1).fit(X, Y)),
        Case(
            "LightGBM",
            lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1).fit(X, Y),
            "walk",
        ),
        Case(
            "LightGBM Booster", lightgbm.train({"verbose": -1, "num_threads": 1}, lines, 5), "walk"
        ),
        Case("LightGBM asked", lightgbm.LGBMRegressor(**linear).fit(X, Y)),
        Case("CatBoost", catboost.CatBoostRegressor(iterations=5, **quiet).fit(X, Y), "walk"),
        Case("CatBoost asked", categories_of_catboost(quiet), rows=FRAME),
    ]


def categories_of_catboost(quiet):
    model = catboost.CatBoostRegressor(iterations=5, cat_features=["d"], **quiet)
    return model.fit(FRAME, Y)


def networks():
    noisy = Noisy().double().train()
    plain = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
    return [
        Case("torch", plain, "slopes"),
        Case("torch while training", noisy, "slopes"),
        Case(
            "torch with a gradient",
            torch.nn.Linear(3, 1).train(),
            "slopes",
            options={"gradient": np.ones_like},
        ),
    ]


def from_files(folder):
    onnx.save(graph(), folder / "graph.onnx")
    outside = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    onnx.save(graph(), folder / "outside.onnx", **outside)
    skops.io.dump(LogisticRegression().fit(X, CLASSES), folder / "line.skops")
    return [
        Case("ONNX", folder / "graph.onnx"),
        *[Case("ONNX, weights beside it", folder / "outside.onnx")] * TAKES_WEIGHTS,
        Case("skops", folder / "line.skops"),
    ]


def graph():
    """The smooth function."""
    make, numbers = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["z"]),
        onnx.helper.make_node("Tanh", ["z"], ["y"]),
    ]
    ends = [make("x", numbers, [None, 3])], [make("y", numbers, [None, 2])]
    weights = [onnx.numpy_helper.from_array(WEIGHTS, "w")]
    made = onnx.helper.make_graph(nodes, "smooth", *ends, weights)
    opsets = [onnx.helper.make_opsetid("", 17)]
    return onnx.helper.make_model(made, opset_imports=opsets, ir_version=9)


WORKER = """
import pickle, sys
sys.modules["treelite"] = None  # trees that were read are not read again
path = sys.argv[1]
with open(path, "rb") as file:
    parcels = pickle.load(file)
with open(path + ".found", "wb") as file:
    pickle.dump({name: parcel.open()() for name, parcel in parcels.items()}, file)
"""
CASES = [*functions(), *estimators(), *boosters(), *networks()]
FILES = ["ONNX", *["ONNX, weights beside it"] * TAKES_WEIGHTS, "skops"]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """Answers of all models here and in one fresh process, and what each can do."""
    folder = tmp_path_factory.mktemp("files")
    here, parcels, can = {}, {}, {}
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as if written in a notebook
    try:
        for case in [*CASES, *from_files(folder)]:
            adapter = rhale.models.wrap(case.model, **case.options)
            probe = rhale.data.open_table(case.rows).chunk(0, ROWS)
            with adapter.session():
                question = Question(rhale.models.meet(adapter, probe)[0], case.rows)
                here[case.name], can[case.name] = question(), case.can
                parcels[case.name] = pack(question, cloudpickle.dumps)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    for file in folder.iterdir():
        file.unlink()  # workers have other disks
    path = folder / "parcels"
    path.write_bytes(pickle.dumps(parcels))
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", WORKER, str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found = pickle.loads((folder / "parcels.found").read_bytes())  # noqa: S301 - our own
    return here, found, can


def test_trees_that_were_read_travel_alone_and_are_not_read_again():
    model = xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(X, Y)
    probe = rhale.data.open_table(X).chunk(0, ROWS)
    predictor, _ = rhale.models.meet(rhale.models.wrap(model), probe)
    content = pickle.dumps(predictor)
    assert b"xgboost.sklearn" not in content
    adapter = pickle.loads(content).adapter  # noqa: S301 - our own
    assert adapter.recognise(X, adapter.predict(X)) is adapter


@pytest.mark.skipif(not TAKES_WEIGHTS, reason="weights beside a graph need onnxruntime 1.24")
def test_a_graph_that_has_travelled_may_travel_on(tmp_path):
    outside = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    onnx.save(graph(), tmp_path / "outside.onnx", **outside)
    first = rhale.models.wrap(tmp_path / "outside.onnx")
    second = pickle.loads(pickle.dumps(first))  # noqa: S301 - our own
    for file in tmp_path.iterdir():
        file.unlink()
    third = pickle.loads(pickle.dumps(second))  # noqa: S301 - our own
    with third.answer_alone() as alone:
        for model in (second, third, alone):
            np.testing.assert_array_equal(model.predict(X), first.predict(X))


TABLES = {
    "arrays": FRAME[["a", "b", "c"]].to_numpy(),
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME.astype({"d": "str"})),
    "pyarrow": pa.Table.from_pandas(FRAME.astype({"d": "str"}), preserve_index=False),
}


def of_any_table(rows):
    columns = rows.T if isinstance(rows, np.ndarray) else [np.asarray(rows[n]) for n in "abc"]
    return np.sin(columns[0]) + np.where(np.isnan(columns[1]), 0.0, columns[1]) * columns[2]


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps], ids=["pickle", "cloudpickle"])
@pytest.mark.parametrize("method", ["rhale", "ice", "mplot"])
@pytest.mark.parametrize("kind", TABLES)
def test_tasks_chunks_and_pieces_travel_without_a_change(kind, method, dumps, monkeypatch):
    def travelled(thing):
        return pickle.loads(dumps(thing))  # noqa: S301 - our own

    def far_away(task, chunk):
        return travelled(call(travelled(task), travelled(chunk)))

    options = {"method": method, "batch_size": 50, "bins": 4}
    here = rhale.explain(of_any_table, TABLES[kind], **options)
    call = MeasureTask.__call__
    monkeypatch.setattr(MeasureTask, "__call__", far_away)
    there = rhale.explain(of_any_table, TABLES[kind], **options)
    assert all(a == b for a, b in zip(here.values(), there.values(), strict=True))


@pytest.mark.parametrize("kind", TABLES)
def test_surveys_add_up_after_a_journey_as_before(kind):
    table = rhale.data.open_table(TABLES[kind])
    look = SurveyTask(columns=[0, 1], names=table.names, sizes=(90, 30), seed=0)
    here = [look(table.chunk(0, 50)), look(table.chunk(50, 120))]
    there = [pickle.loads(cloudpickle.dumps(piece)) for piece in here]  # noqa: S301 - our own
    whole, again = sum(here[1:], here[0]), sum(there[1:], there[0])
    np.testing.assert_array_equal(again.sample.values, whole.sample.values)
    np.testing.assert_array_equal(again.probe.chunk.keys(), whole.probe.chunk.keys())
    assert again.n_rows == whole.n_rows == 120


@pytest.mark.parametrize("name", [*(case.name for case in CASES), *FILES])
def test_a_shipped_model_gives_the_same_bits(shipped, name):
    here, there, can = shipped
    assert can[name] in here[name]
    assert here[name].keys() == there[name].keys()
    for question, answer in here[name].items():
        np.testing.assert_array_equal(there[name][question], answer, strict=True)
