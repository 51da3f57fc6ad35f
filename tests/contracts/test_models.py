"""One suite for every kind of model: same answers, same shapes, right slopes, nothing changed."""

import copy
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import rhale
from rhale.models.onnx import OnnxModel

N_ROWS, N_COLUMNS = 120, 3
X = np.random.default_rng(1).normal(size=(N_ROWS, N_COLUMNS))
WEIGHTS = np.random.default_rng(2).normal(size=(N_COLUMNS, 2))
Y = np.tanh(X @ WEIGHTS[:, 0]) + 0.5 * X[:, 1] ** 2
CLASSES = np.array(["low", "middle", "high"])[np.digitize(Y, [0.0, 0.6])]


def smooth(rows):
    return np.tanh(rows @ WEIGHTS)


def smooth_slopes(rows):
    return (1 - smooth(rows) ** 2)[:, :, None] * WEIGHTS.T


def in_jax(rows):
    return jnp.tanh(rows @ jnp.asarray(WEIGHTS))


def jax_answers(rows):
    return smooth(np.asarray(rows, dtype=float))


def module(n_outputs=1, *, noisy=False, dtype=torch.float64):
    """A small network; noisy: with parts that behave differently while training."""
    torch.manual_seed(0)
    middle = [torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5)] if noisy else []
    parts = [torch.nn.Linear(N_COLUMNS, 8), *middle, torch.nn.Tanh(), torch.nn.Linear(8, n_outputs)]
    return torch.nn.Sequential(*parts).to(dtype).train(noisy)


def torch_answers(network):
    """Predictions in double precision and evaluation mode, from a copy of the network."""
    double = copy.deepcopy(network).double().eval()

    def answers(rows):
        with torch.no_grad():
            return double(torch.tensor(rows)).numpy()

    return answers


@dataclass(frozen=True)
class Case:
    """A model, how it answers by itself, and what it should be called."""

    name: str
    model: Any
    answers: Any
    outputs: tuple[str, ...] = ("y0",)
    options: dict[str, Any] = field(default_factory=dict)
    has_slopes: bool = False
    precision: float = 1e-12
    slope_precision: float = 1e-8


def estimators():
    regressor = SVR().fit(X, Y)
    line = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
    two = LogisticRegression().fit(X, CLASSES == "high")
    three = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, CLASSES)
    forest = RandomForestClassifier(5, random_state=0).fit(X, CLASSES)
    names = ("high", "low", "middle")
    return [
        Case("regressor", regressor, regressor.predict),
        Case("pipeline", line, line.predict),
        Case("two classes", two, lambda rows: two.predict_proba(rows)[:, 1], ("True",)),
        Case("three classes", three, three.predict_proba, names),
        Case("forest", forest, forest.predict_proba, names),
    ]


def networks():
    plain, two = module(), module(2)
    single, noisy = module(dtype=torch.float32), module(2, noisy=True)
    both, slopes = ("y0", "y1"), {"has_slopes": True}
    return [
        Case("torch float64", plain, torch_answers(plain), **slopes),
        Case("torch two outputs", two, torch_answers(two), both, **slopes),
        Case("torch training", noisy, torch_answers(noisy), both, **slopes),
        Case(
            "torch float32",
            single,
            torch_answers(single),
            precision=1e-6,
            slope_precision=1e-5,
            **slopes,
        ),
    ]


def functions():
    both, loose = ("y0", "y1"), {"precision": 1e-6, "slope_precision": 1e-5}
    return [
        Case("function", lambda rows: smooth(rows)[:, 0], lambda rows: smooth(rows)[:, 0]),
        Case("function, two outputs", smooth, smooth, both),
        Case("with gradient", smooth, smooth, both, {"gradient": smooth_slopes}, has_slopes=True),
        Case("jax", in_jax, jax_answers, both, has_slopes=True, **loose),
        Case("jitted jax", jax.jit(in_jax), jax_answers, both, has_slopes=True, **loose),
    ]


def onnx_graph():
    """The smooth function as a graph."""
    make, numbers = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["z"]),
        onnx.helper.make_node("Tanh", ["z"], ["y"]),
    ]
    ends = [make("x", numbers, [None, N_COLUMNS])], [make("y", numbers, [None, 2])]
    weights = [onnx.numpy_helper.from_array(WEIGHTS, "w")]
    graph = onnx.helper.make_graph(nodes, "smooth", *ends, weights)
    opsets = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return OnnxModel(onnxruntime.InferenceSession(model.SerializeToString()), "y")


CASES = [
    *functions(),
    *estimators(),
    *networks(),
    Case("ONNX", onnx_graph(), smooth, ("y0", "y1")),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_sloped = pytest.mark.parametrize(
    "case", [c for c in CASES if c.has_slopes], ids=lambda case: case.name
)


def table_of(answers):
    return np.asarray(answers).reshape(len(answers), -1)


def central_differences(answers, rows, step=1e-5):
    """Slopes (n_rows, n_outputs, n_columns) of a function in double precision."""
    slopes = []
    for column in range(rows.shape[1]):
        shift = step * np.eye(rows.shape[1])[column]
        change = table_of(answers(rows + shift)) - table_of(answers(rows - shift))
        slopes.append(change / (2 * step))
    return np.stack(slopes, axis=2)


@each_case
def test_predictions_are_the_model_s_own(case):
    fx = rhale.explain(case.model, X, **case.options)
    assert fx.outputs == case.outputs
    assert sorted(fx.sample_x.tolist()) == sorted(X.tolist())
    expected = table_of(case.answers(fx.sample_x))
    assert fx.predictions == pytest.approx(expected, abs=case.precision)


@each_case
def test_answers_have_one_row_per_row_and_one_column_per_output(case):
    adapter = rhale.models.wrap(case.model, **case.options)
    with adapter.session():
        predictor, asked = rhale.models.meet(adapter, open_chunk(X[:40]))
        assert predictor.outputs == case.outputs
        assert asked == 32 + 16
        assert predictor.predict(X[:7], 7).shape == (7, len(case.outputs))
        assert predictor.predict(X[:1], 1).shape == (1, len(case.outputs))
        assert predictor.adapter.is_differentiable == case.has_slopes


def open_chunk(rows):
    return rhale.data.open_table(rows).chunk(0, len(rows))


@each_sloped
def test_slopes_have_one_number_per_row_output_and_column(case):
    adapter = rhale.models.wrap(case.model, **case.options)
    with adapter.session():
        predictor, _ = rhale.models.meet(adapter, open_chunk(X))
        answers, slopes = predictor.gradient(open_chunk(X[:9]))
    assert answers.shape == (9, len(case.outputs))
    assert slopes.shape == (9, len(case.outputs), N_COLUMNS)
    assert slopes.dtype == np.float64


@each_sloped
def test_slopes_agree_with_central_differences(case):
    fx = rhale.explain(case.model, X, local="gradient", **case.options)
    expected = central_differences(case.answers, fx.sample_x)
    for column, name in enumerate(fx.features):
        for place, output in enumerate(fx.outputs):
            found = fx[name, output].sample.local_effects
            assert found == pytest.approx(expected[:, place, column], abs=case.slope_precision)


@each_sloped
def test_local_effects_are_slopes_unless_secants_are_asked_for(case):
    fx = rhale.explain(case.model, X, features=0, output=0, **case.options)
    assert fx.provenance["local_effects"] == {"x0": "effects measured by the gradient"}
    assert not any("secant" in note for note in fx[0].notes)
    fx = rhale.explain(case.model, X, features=0, output=0, local="secant", **case.options)
    assert fx[0].notes[0].startswith("effects measured by finite differences")


@each_case
def test_batches_do_not_change_the_numbers(case):
    options = {"features": [0], "bins": rhale.Fixed(4), **case.options}
    whole = rhale.explain(case.model, X, **options)
    pieces = rhale.explain(case.model, X, batch_size=17, **options)
    for a, b in zip(whole.values(), pieces.values(), strict=True):
        assert a.count.tolist() == b.count.tolist()
        assert a.mean == pytest.approx(b.mean, abs=100 * case.precision)


@each_case
@pytest.mark.parametrize("method", ["ale", "pdp", "ice", "mplot"])
def test_every_method_works_for_every_model(case, method):
    options = {k: v for k, v in case.options.items() if k != "gradient"}
    fx = rhale.explain(case.model, X, features=[1], method=method, bins=5, **options)
    assert len(fx) == len(case.outputs)
    assert all(np.all(np.isfinite(e.mean)) for e in fx.values())


# --- Estimators ------------------------------------------------------------------------------


def classifier(n_classes):
    labels = CLASSES if n_classes == 3 else np.where(CLASSES == "high", "yes", "no")
    return GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, labels)


def test_outputs_are_chosen_by_label_and_by_position():
    model = classifier(3)
    expected = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    assert rhale.explain(model, X, output="low").outputs == ("low",)
    assert rhale.explain(model, X, output=2).outputs == ("middle",)
    fx = rhale.explain(model, X, output=["middle", 0], method="mplot", bins=1)
    assert fx.outputs == ("middle", "high")
    for label in fx.outputs:
        assert fx[0, label].mean[0] == pytest.approx(expected[label].mean(), rel=1e-12)


def test_of_two_classes_the_second_is_explained_and_the_first_can_be():
    model = classifier(2)
    positive = rhale.explain(model, X, features=0, bins=4)
    negative = rhale.explain(model, X, features=0, bins=4, output="no")
    assert (positive.outputs, negative.outputs) == (("yes",), ("no",))
    assert negative[0].mean == pytest.approx(-positive[0].mean, abs=1e-12)


def test_a_whole_number_means_the_label_before_the_position():
    model = GradientBoostingClassifier(n_estimators=3, random_state=0)
    model.fit(X, np.array([1, 2, 3])[np.digitize(Y, [0.0, 0.6])])
    assert rhale.explain(model, X, output=1).outputs == ("1",)
    assert rhale.explain(model, X, output=0).outputs == ("1",)


def test_an_unknown_output_is_answered_with_near_labels():
    with pytest.raises(rhale.errors.UnknownOutputError) as caught:
        rhale.explain(classifier(3), X, output="midle")
    assert "'midle'" in str(caught.value)
    assert "did you mean 'middle'?" in str(caught.value)
    with pytest.raises(KeyError, match="no output 3"):
        rhale.explain(classifier(3), X, output=3)


@pytest.mark.parametrize("response", ["decision_function", "margin"])
def test_scores_before_the_link_have_one_output_for_two_classes(response):
    model = classifier(2)
    fx = rhale.explain(model, X, response=response)
    assert fx.outputs == ("yes",)
    assert fx.predictions[:, 0] == pytest.approx(model.decision_function(fx.sample_x))


def test_scores_of_three_classes_carry_their_labels():
    model = classifier(3)
    fx = rhale.explain(model, X, response="decision_function", features=[0, 1, 2])
    assert fx.outputs == ("high", "low", "middle")
    assert fx.predictions == pytest.approx(model.decision_function(fx.sample_x))


def test_a_classifier_without_probabilities_is_explained_by_its_scores():
    model = SGDClassifier(random_state=0).fit(X, CLASSES)
    fx = rhale.explain(model, X)
    assert fx.predictions == pytest.approx(model.decision_function(fx.sample_x))


def test_labels_that_are_numbers_can_be_explained_as_predictions():
    model = LogisticRegression().fit(X, (Y > 0).astype(int))
    fx = rhale.explain(model, X, response="predict")
    assert fx.predictions[:, 0].tolist() == model.predict(fx.sample_x).tolist()


def test_labels_that_are_text_are_refused_with_the_way_out():
    with pytest.raises(rhale.errors.BadPredictionError, match="response='predict_proba'"):
        rhale.explain(classifier(3), X, response="predict")


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosting_libraries_give_probabilities_labels_and_margins(library):
    model = boosted(library, 3)
    labels = ("0", "1", "2")
    fx = rhale.explain(model, X)
    assert fx.outputs == labels
    assert fx.predictions == pytest.approx(model.predict_proba(fx.sample_x), abs=1e-7)
    scores = rhale.explain(model, X, response="margin").predictions
    by_link = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert by_link == pytest.approx(fx.predictions, abs=1e-6)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_the_margin_of_two_classes_is_the_log_odds(library):
    model = boosted(library, 2)
    fx = rhale.explain(model, X, response="margin")
    assert fx.outputs == ("1",)
    odds = np.exp(fx.predictions[:, 0])
    assert odds / (1 + odds) == pytest.approx(model.predict_proba(fx.sample_x)[:, 1], abs=1e-6)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosted_regressors_are_explained_by_their_predictions(library):
    model = boosted(library, 0)
    fx = rhale.explain(model, X)
    assert fx.outputs == ("y0",)
    assert fx.predictions[:, 0] == pytest.approx(model.predict(fx.sample_x), abs=1e-6)


def boosted(library, n_classes):
    """A small boosted model; no classes: a regressor."""
    if library == "xgboost":
        xgboost = pytest.importorskip("xgboost")
        kinds, quiet = (xgboost.XGBClassifier, xgboost.XGBRegressor), {"n_jobs": 1}
    else:
        lightgbm = pytest.importorskip("lightgbm")
        kinds = (lightgbm.LGBMClassifier, lightgbm.LGBMRegressor)
        quiet = {"n_jobs": 1, "verbose": -1}
    if not n_classes:
        return kinds[1](n_estimators=5, max_depth=3, **quiet).fit(X, Y)
    target = np.digitize(Y, [0.0, 0.6][: n_classes - 1])
    return kinds[0](n_estimators=5, max_depth=3, **quiet).fit(X, target)


# --- torch -----------------------------------------------------------------------------------


class Fragile(torch.nn.Module):
    """Breaks at the n-th call."""

    def __init__(self, inner, n_calls, error):
        super().__init__()
        self.inner, self.left, self.error = inner, n_calls, error

    def forward(self, rows):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.inner(rows)


def mixed_module():
    """Training parts, one part in evaluation, gradients from an earlier step."""
    network = module(2, noisy=True)
    network[1].eval()
    network[0].weight.requires_grad_(requires_grad=False)
    loss = network(torch.tensor(X)).sum()
    loss.backward()
    return network


def state_of(network):
    """Everything that must not change."""
    return {
        "training": [part.training for part in network.modules()],
        "values": {name: value.clone() for name, value in network.state_dict().items()},
        "slopes": [None if p.grad is None else p.grad.clone() for p in network.parameters()],
        "wanted": [p.requires_grad for p in network.parameters()],
        "places": [(p.device, p.dtype) for p in network.parameters()],
    }


def assert_unchanged(network, before):
    after = state_of(network)
    for name in ("training", "wanted", "places"):
        assert after[name] == before[name]
    assert all(torch.equal(after["values"][n], v) for n, v in before["values"].items())
    for new, old in zip(after["slopes"], before["slopes"], strict=True):
        assert (new is None and old is None) or torch.equal(new, old)


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp"])
def test_a_network_is_left_as_it_was(method):
    network = mixed_module()
    before = state_of(network)
    rhale.explain(network, X, method=method)
    assert_unchanged(network, before)


def test_a_network_with_a_given_gradient_is_left_as_it_was():
    network = mixed_module()
    before = state_of(network)
    slopes = central_differences(torch_answers(network), X)
    known = {row.tobytes(): slope for row, slope in zip(X, slopes, strict=True)}
    fx = rhale.explain(
        network, X, gradient=lambda rows: np.stack([known[row.tobytes()] for row in rows])
    )
    assert fx.predictions == pytest.approx(torch_answers(network)(fx.sample_x))
    assert_unchanged(network, before)


@pytest.mark.parametrize("n_calls", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("no more"), rhale.errors.ModelFailedError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
    ids=["error", "Ctrl-C"],
)
@pytest.mark.parametrize("local", ["gradient", "secant"])
def test_a_network_that_breaks_in_the_middle_is_left_as_it_was(n_calls, error, expected, local):
    network = Fragile(mixed_module(), n_calls, error).train()
    network.inner[1].eval()
    before = state_of(network)
    with pytest.raises(expected):
        rhale.explain(network, X, local=local, batch_size=50)
    assert_unchanged(network, before)


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_slopes_are_found_where_the_caller_has_switched_them_off(context):
    network = module()
    expected = rhale.explain(network, X)
    with context():
        found = rhale.explain(network, X)
    assert found["x0"].mean.tolist() == expected["x0"].mean.tolist()


def test_a_network_without_parameters_and_one_that_ignores_a_column_are_explained():
    class First(torch.nn.Module):
        def forward(self, rows):
            return rows[:, 0] ** 2

    fx = rhale.explain(First(), X)
    assert fx["x0"].sample.local_effects == pytest.approx(2 * fx["x0"].sample.x, rel=1e-6)
    assert fx["x1"].importance == 0.0


def test_a_network_that_returns_no_tensor_says_what_to_do():
    class Pair(torch.nn.Module):
        def forward(self, rows):
            return rows[:, 0], rows[:, 1]

    with pytest.raises(rhale.errors.WrongShapeError, match="returned tuple; wrap it"):
        rhale.explain(Pair(), X)


def test_a_network_that_writes_into_its_input_does_not_change_the_table():
    class Greedy(torch.nn.Module):
        def forward(self, rows):
            answer = rows.sum(dim=1)
            rows.detach().zero_()
            return answer

    rows = X.copy()
    rhale.explain(Greedy(), rows, local="secant")
    assert np.array_equal(rows, X)


# --- JAX -------------------------------------------------------------------------------------


def test_jax_in_double_precision_has_tight_slopes():
    weights = WEIGHTS.copy()  # JAX remembers the other array in single precision
    place = jax if hasattr(jax, "enable_x64") else jax.experimental  # where older ones have it
    double = place.enable_x64
    with double(True):  # noqa: FBT003 - its own signature
        fx = rhale.explain(jax.jit(lambda rows: jnp.tanh(rows @ jnp.asarray(weights))), X)
    expected = central_differences(smooth, fx.sample_x)
    assert fx["x1", "y1"].sample.local_effects == pytest.approx(expected[:, 1, 1], abs=1e-8)
    assert fx.predictions == pytest.approx(smooth(fx.sample_x), abs=1e-14)


def test_a_jax_function_that_leaves_jax_is_explained_by_secants_and_says_why():
    def through_numpy(rows):
        return jnp.asarray(np.tanh(np.asarray(rows)[:, 0]))

    fx = rhale.explain(through_numpy, X, features=0)
    assert fx[0].notes[0].startswith("no gradient (JAX cannot differentiate")
    x, found = fx[0].sample.x, fx[0].sample.local_effects
    inner = np.abs(x) < 1  # at the ends windows are moved inside
    assert found[inner] == pytest.approx(1 - np.tanh(x[inner]) ** 2, abs=0.1)
    with pytest.raises(rhale.errors.NotDifferentiableError, match=r"use jax\.numpy throughout"):
        rhale.explain(through_numpy, X, features=0, local="gradient")
