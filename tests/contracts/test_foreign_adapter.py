"""Adapters that others wrote: taken for what they are, with or without rhale's defaults."""

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import rhale
from rhale.errors import BadSettingError, NotDifferentiableError, UnknownModelError
from rhale.models import Adapter, wrap
from rhale.output.text import Note

X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))


ESTIMATOR = DecisionTreeRegressor(max_depth=2).fit(pd.DataFrame(X, columns=["b", "a"]), X[:, 0])


class Bilinear(Adapter):
    """Answers y0 = a b and y1 = a, only inside its session."""

    kind = "bilinear form"
    is_differentiable = True

    def __init__(self):
        self.labels = ("product", "first")
        self.is_open, self.n_sessions = False, 0

    @contextmanager
    def session(self):
        self.is_open, self.n_sessions = True, self.n_sessions + 1
        yield
        self.is_open = False

    def predict(self, rows):
        assert self.is_open
        return np.column_stack([rows[:, 0] * rows[:, 1], rows[:, 0]])

    def gradient(self, rows, outputs):
        ones, zeros = np.ones(len(rows)), np.zeros(len(rows))
        product, first = np.stack([rows[:, 1], rows[:, 0]], 1), np.stack([ones, zeros], 1)
        return self.predict(rows), np.stack([product, first], axis=1)[:, list(outputs)]


class Stranger:
    """A line, with every member that the protocol names and no class of rhale behind it."""

    kind, labels, usual_outputs, columns = "stranger", ("line",), None, None
    answers = "score"
    notes = (Note("origin", "from another house"),)
    is_differentiable, walker, checked_rows, n_threads = True, None, 0, 1
    device, is_placed, gives_tensors = None, True, False

    def predict(self, rows):
        return 3.0 * rows[:, 0]

    def gradient(self, rows, outputs):
        return self.predict(rows), np.tile([3.0, 0.0], (len(rows), len(outputs), 1))

    def differentiate(self, rows, outputs):
        return self.gradient(rows, outputs)

    def recognise(self, rows, answer):  # noqa: ARG002
        return self

    def session(self):
        return nullcontext()

    def answer_alone(self):
        return nullcontext(self)

    def move_to(self, device):
        raise NotImplementedError(device)


@dataclass(frozen=True)
class Named(Adapter):
    """Knows its columns, in a field without a default of its own."""

    columns: tuple[str, ...]
    kind: str = "named"

    def predict(self, rows):
        assert list(rows) == ["b", "a"]
        return rows["b"].to_numpy()


class OnlyPredicts(Adapter):
    kind = "sum"

    def predict(self, rows):
        return rows.sum(axis=1)


def test_session_slopes_and_names_of_an_adapter_from_outside_are_used():
    adapter = Bilinear()
    fx = rhale.explain(adapter, X)
    assert wrap(adapter) is adapter
    assert fx.provenance["model"] == "bilinear form"
    assert adapter.n_sessions == 1
    assert not adapter.is_open
    assert fx.outputs == ("product", "first")
    assert set(fx.provenance["local_effects"].values()) == {"effects measured by the gradient"}
    assert fx["x0", "first"].mean == pytest.approx([1.0])


def test_an_adapter_that_inherits_nothing_is_taken_by_its_members():
    stranger = Stranger()
    assert isinstance(stranger, Adapter)
    assert wrap(stranger) is stranger
    fx = rhale.explain(stranger, X)
    assert (fx.provenance["model"], fx.outputs) == ("stranger", ("line",))
    assert fx["x0"].mean == pytest.approx([3.0])
    assert fx.captions.output("line") == "score of line"
    assert "from another house" in fx["x0"].notes


def test_one_missing_member_makes_an_estimator_of_it():
    members = {n: v for n, v in vars(Stranger).items() if n != "recognise" and n[0] != "_"}
    incomplete = type("Incomplete", (), members)()
    assert not isinstance(incomplete, Adapter)
    assert wrap(incomplete).kind.endswith("Incomplete, predict")


def test_kind_and_predict_are_enough():
    adapter = OnlyPredicts()
    assert rhale.explain(adapter, X)["x1"].mean == pytest.approx([1.0])
    with pytest.raises(NotDifferentiableError, match="but this sum has none"):
        rhale.explain(adapter, X, method="dale")
    with pytest.raises(NotDifferentiableError, match="this sum has no derivative"):
        adapter.differentiate(X, [0])
    with pytest.raises(BadSettingError, match=r"device='cpu' is for torch .* this is a sum"):
        rhale.explain(adapter, X, device="cpu")


def test_an_adapter_without_an_answer_cannot_be_made():
    class Silent(Adapter):
        kind = "silence"

    with pytest.raises(TypeError, match="abstract"):
        Silent()


def test_a_class_of_adapters_is_no_adapter():
    with pytest.raises(UnknownModelError, match="OnlyPredicts is a class"):
        wrap(OnlyPredicts)


@pytest.mark.parametrize("model", [Named(("b", "a")), wrap(ESTIMATOR), wrap(ESTIMATOR, walk=False)])
def test_columns_that_an_adapter_names_are_those_it_is_asked_about(model, tmp_path):
    pd.DataFrame({"id": 0.0, "a": X[:, 0], "b": X[:, 1]}).to_parquet(tmp_path / "rows.parquet")
    assert rhale.explain(model, tmp_path / "rows.parquet").features == ("b", "a")
