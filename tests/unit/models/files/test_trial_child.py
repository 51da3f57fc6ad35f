from types import SimpleNamespace

import pytest

from rhale.errors import BadFileError
from rhale.models.files.trial_child import _describe, ask, tables_for, width_of


@pytest.mark.parametrize(
    ("model", "width"),
    [
        (SimpleNamespace(n_features_in_=3), 3),
        (SimpleNamespace(num_feature=lambda: 4), 4),
        (SimpleNamespace(feature_names_=["a", "b"]), 2),
        (object(), 1),
    ],
)
def test_a_model_tells_its_width_in_its_own_way(model, width):
    assert width_of(model) == width


def test_rows_come_as_a_matrix_and_by_name():
    pytest.importorskip("pandas")
    model = SimpleNamespace(n_features_in_=2, feature_names_in_=["a", "b"])
    matrix, frame, *_ = tables_for(model)
    assert matrix.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert list(frame) == ["a", "b"]


def test_a_model_may_refuse_rows_but_memory_is_told():
    def refuse(_):
        raise LookupError

    def too_large(_):
        raise MemoryError

    ask(refuse)
    with pytest.raises(MemoryError):
        ask(too_large)
    assert "needs more memory" in _describe(MemoryError(), "m.onnx")["message"]


def test_errors_are_told_by_kind_and_one_sentence():
    assert _describe(BadFileError("m is bad"), "m") == {
        "kind": "BadFileError",
        "message": "m is bad",
    }
    told = _describe(ZeroDivisionError("a\nb"), "m")
    assert told == {"kind": "BadFileError", "message": "m cannot be loaded: ZeroDivisionError: a"}
