import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rhale.errors import BadFileError, BadTableError, UnknownModelError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from rhale.models.files.load import files_beside
from rhale.models.onnx import TAKES_WEIGHTS, OnnxModel, choose_output, load_onnx, open_session

DOUBLE, FLOAT, WORDS = onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT, onnx.TensorProto.STRING
WEIGHT = np.array([[2.0], [-1.0]])
ROWS = np.array([[1.0, 2.0], [3.0, 5.0]])
OUTSIDE = {"save_as_external_data": True, "location": "w.bin", "size_threshold": 0}


def info(name, kind, *shape):
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def graph(operation, inputs, outputs, **weights):
    """A graph of one operation over its inputs and its weights."""
    held = [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()]
    names = [one.name for one in inputs] + list(weights)
    node = onnx.helper.make_node(operation, names, [one.name for one in outputs])
    made = onnx.helper.make_graph([node], "g", inputs, outputs, held)
    opsets = [onnx.helper.make_opsetid("", 17)]
    return onnx.helper.make_model(made, opset_imports=opsets, ir_version=9)


def opened(made):
    return OnnxModel(open_session(made.SerializeToString()), made.graph.output[0].name)


def linear():
    """2 a - b, of a matrix of two columns."""
    return graph("MatMul", [info("x", DOUBLE, None, 2)], [info("y", DOUBLE, None, 1)], w=WEIGHT)


def product(*shape):
    """The first of two named columns times the second."""
    ends = [info("a", FLOAT, *shape), info("b", FLOAT, *shape)], [info("y", FLOAT, *shape)]
    return graph("Mul", *ends)


def test_a_matrix_is_answered_in_the_order_of_its_columns():
    found = opened(linear())
    assert found.columns is None
    assert found.predict(ROWS).tolist() == [[0.0], [1.0]]
    assert found.predict(pd.DataFrame(ROWS, columns=["p", "q"])).tolist() == [[0.0], [1.0]]


@pytest.mark.parametrize("shape", [(None, 1), (None,)])
def test_named_columns_are_found_wherever_they_stand(shape):
    found = opened(product(*shape))
    assert found.columns == ("a", "b")
    rows = pd.DataFrame({"b": [2.0, 5.0], "more": [0.0, 0.0], "a": [1.0, 3.0]})
    assert found.predict(rows).tolist() == [[2.0], [15.0]]


def test_rows_that_do_not_fit_the_graph_are_refused_in_words():
    with pytest.raises(BadTableError, match="takes 2 columns, the table has 3"):
        opened(linear()).predict(np.zeros((1, 3)))
    with pytest.raises(BadTableError, match="by name; pass a table with names"):
        opened(product(None, 1)).predict(ROWS)
    with pytest.raises(BadTableError, match="wants a column 'b'"):
        opened(product(None, 1)).predict(pd.DataFrame({"a": [1.0]}))


def test_an_input_that_is_no_matrix_of_known_numbers_is_refused():
    small = onnx.TensorProto.INT8
    made = graph("Identity", [info("x", small, None, 2)], [info("y", small, None, 2)])
    with pytest.raises(UnknownModelError, match=r"input 'x' is a tensor\(int8\)"):
        opened(made).predict(ROWS)


def outputs(**types):
    return [SimpleNamespace(name=name, type=kind) for name, kind in types.items()]


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({"label": "tensor(int64)", "z": "seq(map(int64,tensor(float)))"}, "z"),
        ({"score": "tensor(float)", "Probabilities": "tensor(float)"}, "Probabilities"),
        ({"prob_class": "tensor(int64)", "y": "tensor(double)"}, "y"),
    ],
)
def test_probabilities_are_explained_rather_than_labels(given, chosen):
    assert choose_output(outputs(**given)) == chosen


def test_a_graph_without_numbers_is_refused_with_the_name_of_its_file(tmp_path):
    ends = [info("x", WORDS, None, 1)], [info("y", WORDS, None, 1)]
    onnx.save(graph("Identity", *ends), tmp_path / "words.onnx")
    with pytest.raises(UnknownModelError, match=r"words\.onnx cannot be explained: .* y: tensor"):
        load_onnx(tmp_path / "words.onnx")
    (tmp_path / "none.onnx").write_bytes(b"none")
    with pytest.raises(BadFileError, match=r"onnxruntime cannot load .*none\.onnx"):
        load_onnx(tmp_path / "none.onnx")


@pytest.mark.parametrize(("classes", "usual"), [(("no", "yes"), (1,)), (("a", "b", "c"), None)])
def test_of_two_classes_the_second_is_usual_and_answers_are_in_their_order(classes, usual):
    answers = [{name: place / 4 for place, name in enumerate(classes)}] * 2
    session = SimpleNamespace(
        run=lambda *_: [answers],
        get_inputs=lambda: [SimpleNamespace(name="x", shape=[None, 2], type="tensor(float)")],
    )
    found = OnnxModel(session, "prob").recognise(ROWS, None)
    assert found.labels == classes
    assert found.usual_outputs == usual
    assert found.predict(ROWS).tolist() == [[place / 4 for place in range(len(classes))]] * 2


@pytest.mark.skipif(not TAKES_WEIGHTS, reason="weights beside a graph need onnxruntime 1.24")
def test_a_graph_travels_with_the_weights_beside_it_and_with_no_other_file(tmp_path):
    onnx.save(linear(), tmp_path / "m.onnx", **OUTSIDE)
    (tmp_path / "secret.bin").write_bytes(b"secret")
    assert files_beside(tmp_path / "m.onnx") == ["w.bin"]
    sent = pickle.loads(pickle.dumps(load_onnx(tmp_path / "m.onnx")))  # noqa: S301 - our own
    assert sent.predict(ROWS).tolist() == [[0.0], [1.0]]


def test_an_old_onnxruntime_is_told_before_weights_are_sent(tmp_path, monkeypatch):
    monkeypatch.setattr("rhale.models.onnx.TAKES_WEIGHTS", False)
    onnx.save(linear(), tmp_path / "apart.onnx", **OUTSIDE)
    with pytest.raises(UnknownModelError, match=r"onnxruntime 1\.24 or newer.* in one file"):
        pickle.dumps(load_onnx(tmp_path / "apart.onnx"))
    onnx.save(linear(), tmp_path / "whole.onnx")
    sent = pickle.loads(pickle.dumps(load_onnx(tmp_path / "whole.onnx")))  # noqa: S301 - our own
    assert sent.predict(ROWS).tolist() == [[0.0], [1.0]]


def test_weights_outside_of_the_folder_of_the_graph_are_not_read(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "w.bin").write_bytes(b"secret")
    name = b"../w.bin"
    content = b"\n\x08location\x12" + bytes([len(name)]) + name
    for odd in (content, content.replace(b"../", b"./\x00")):
        (tmp_path / "in" / "m.onnx").write_bytes(odd)
        assert files_beside(tmp_path / "in" / "m.onnx") == []
