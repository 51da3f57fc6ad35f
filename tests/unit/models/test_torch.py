import numpy as np
import pytest
import torch

import rhale
from rhale.errors import WrongShapeError
from rhale.models.torch import MODES, TorchModel, evaluation_mode

X = np.random.default_rng(0).normal(size=(30, 2))


class Module(torch.nn.Module):
    def __init__(self, function, dtype=None):
        super().__init__()
        self.function = function
        if dtype is not None:
            self.weight = torch.nn.Parameter(torch.ones(1, dtype=dtype))

    def forward(self, rows):
        return self.function(rows)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_rows_arrive_in_the_precision_of_the_parameters(dtype):
    seen = set()

    def function(rows):
        seen.add(rows.dtype)
        return rows[:, 0]

    TorchModel(Module(function, dtype)).predict(X)
    TorchModel(Module(function, dtype)).gradient(X, [0])
    assert seen == {dtype}


def test_a_module_without_parameters_gets_the_usual_precision():
    seen = []
    TorchModel(Module(lambda rows: seen.append(rows.dtype) or rows[:, 0])).predict(X)
    assert seen == [torch.get_default_dtype()]


def test_predictions_keep_no_graph_and_are_doubles():
    answer = TorchModel(Module(lambda rows: rows[:, 0], torch.float32)).predict(X)
    assert isinstance(answer, np.ndarray)
    assert answer.dtype == np.float64


def test_the_modes_of_all_parts_come_back():
    inner = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.BatchNorm1d(2)).train()
    outer = torch.nn.Sequential(inner, torch.nn.Dropout()).train()
    inner[1].eval()
    with evaluation_mode(outer):
        assert not any(part.training for part in outer.modules())
    assert [outer.training, inner.training, inner[0].training] == [True, True, True]
    assert inner[1].training is False


def test_threads_that_share_parts_of_a_module_leave_the_modes_that_the_first_one_found():
    shared = torch.nn.Dropout().train()
    first, second = (torch.nn.Sequential(shared, torch.nn.Linear(2, 1)).train() for _ in range(2))
    one, two, three = evaluation_mode(first), evaluation_mode(second), evaluation_mode(first)
    one.__enter__()
    two.__enter__()
    three.__enter__()
    one.__exit__(None, None, None)
    assert not shared.training  # two others are still asking
    assert not first.training
    three.__exit__(None, None, None)
    assert (first.training, shared.training, second.training) == (True, False, False)
    two.__exit__(None, None, None)
    assert (first.training, shared.training, second.training) == (True, True, True)


def test_a_module_that_cannot_be_put_into_evaluation_mode_is_left_as_it_was():
    class Stubborn(torch.nn.Module):
        def train(self, _):
            msg = "never"
            raise ValueError(msg)

    module = torch.nn.Sequential(torch.nn.Dropout(), Stubborn())  # in training mode
    with pytest.raises(ValueError, match="never"), evaluation_mode(module):
        pass
    assert all(part.training for part in module.modules())
    assert not MODES


def test_many_rows_are_answered_like_few():
    rows = np.random.default_rng(0).normal(size=(10_000, 2))
    adapter = TorchModel(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh()).double())
    answers, slopes = adapter.gradient(rows, [0, 2])
    few_answers, few_slopes = adapter.gradient(rows[5000:5010], [0, 2])
    assert (answers.shape, slopes.shape) == ((10_000, 3), (10_000, 2, 2))
    assert answers[5000:5010] == pytest.approx(few_answers, abs=1e-12)
    assert slopes[5000:5010] == pytest.approx(few_slopes, abs=1e-12)
    assert adapter.predict(rows) == pytest.approx(answers, abs=1e-12)


@pytest.mark.parametrize(
    "function",
    [lambda rows: rows.sum(), lambda rows: rows[:-1, 0], lambda rows: rows[:, :, None]],
    ids=["a number", "a row less", "a cube"],
)
def test_an_answer_of_the_wrong_shape_is_a_wrong_shape(function):
    with pytest.raises(WrongShapeError, match=r"\(n_rows, n_outputs\)"):
        rhale.explain(Module(function), X)


def wide(n, **kind):
    return [torch.nn.Linear(2, n, **kind), torch.nn.Linear(n, 1, **kind)]


@pytest.mark.parametrize(
    ("layers", "size"),
    [
        (wide(32), 2**14),  # 35 numbers of a row: 2.2 MiB
        (wide(128), 2**12),
        (wide(128, dtype=torch.float64), 2**11),
        (wide(420), 2**10),
        (wide(5_000), 2**9),
        (wide(1), 2**14),
        ([], 2**12),  # whose layers are not known
    ],
)
def test_batches_are_what_a_cache_holds_of_all_layers(layers, size):
    seen = []
    counted = Module(lambda rows: seen.append(len(rows)) or rows[:, :1])
    TorchModel(torch.nn.Sequential(*layers, counted)).predict(np.zeros((2 * size + 5, 2)))
    assert seen == [size, size, 5]


def test_layers_without_weights_so_far_are_no_hindrance():
    module = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.Linear(3, 1))
    adapter = TorchModel(module)
    assert adapter.predict(X).shape == (30, 1)
    assert adapter.gradient(X, [0])[1].shape == (30, 1, 2)


@pytest.mark.parametrize(
    "lay_out", [torch.clone, lambda answer: answer.T.contiguous().T, lambda answer: answer[:, :2]]
)
def test_outputs_have_their_own_slopes_however_they_lie_in_memory(lay_out):
    weights = torch.tensor([[1.0, 2.0, 3.0], [-4.0, 5.0, 0.5]])
    adapter = TorchModel(Module(lambda rows: lay_out(rows @ weights)))
    _, slopes = adapter.gradient(X, [1, 0])
    assert np.array_equal(slopes, np.broadcast_to([[2.0, 5.0], [1.0, -4.0]], (30, 2, 2)))


def test_a_single_column_of_answers_has_the_slopes_of_a_vector():
    _, vector = TorchModel(Module(lambda rows: rows[:, 0] ** 2)).gradient(X, [0])
    _, column = TorchModel(Module(lambda rows: rows[:, :1] ** 2)).gradient(X, [0])
    assert np.array_equal(vector, column)
    np.testing.assert_allclose(vector[:, 0, 0], 2 * X[:, 0], rtol=1e-6)
