"""Graphs as torch.export writes them in JSON; nothing here needs torch."""

import math

import pytest

from rhale.errors import BadFileError, UnsafeFileError
from rhale.models.files.graph_pt2 import (
    Graph,
    Name,
    Place,
    Step,
    Word,
    dtype_of,
    listing,
    names_in,
    read_graph,
    text,
    whole,
)

TANH, RELU = "torch.ops.aten.tanh.default", "torch.ops.aten.relu.default"
BRANCH = "torch.ops.higher_order.cond"


def tensor(name):
    return {"as_tensor": {"name": name}}


def step(target, *arguments, to="y"):
    given = [{"name": "", "arg": argument} for argument in arguments]
    return {"target": target, "inputs": given, "outputs": [tensor(to)]}


def graph(*nodes, of=("x",), to="y"):
    ends = {"inputs": [tensor(name) for name in of], "outputs": [tensor(to)]}
    return {**ends, "nodes": list(nodes)}


def value(argument):
    """An argument as it is read."""
    (only,) = read_graph(graph(step(TANH, argument))).steps
    return only.arguments[0][1]


def test_steps_are_read_in_their_order_from_inputs_to_outputs():
    found = read_graph(graph(step(TANH, tensor("x"), to="h"), step(RELU, tensor("h"))))
    first = Step(TANH, (("", Name("x")),), ("h",))
    assert found == Graph(("x",), (first, Step(RELU, (("", Name("h")),), ("y",))), (Name("y"),))


@pytest.mark.parametrize(
    ("argument", "read"),
    [
        ({"as_none": True}, None),
        ({"as_int": -3}, -3),
        ({"as_floats": [0.5, "-Infinity"]}, [0.5, -math.inf]),
        ({"as_bools": [True, False]}, [True, False]),
        ({"as_string": "ij,jk->ik"}, "ij,jk->ik"),
        ({"as_tensors": [{"name": "x"}]}, [Name("x")]),
        ({"as_optional_tensors": [{"as_none": True}, tensor("x")]}, [None, Name("x")]),
        ({"as_sym_ints": [{"as_int": 2}, {"as_name": "x"}]}, [2, Name("x")]),
        ({"as_device": {"type": "cuda", "index": 7}}, Place()),
        ({"as_layout": 7}, None),
        ({"as_memory_format": 1}, Word("contiguous_format")),
    ],
)
def test_an_argument_is_read_by_its_kind(argument, read):
    assert value(argument) == read


def test_nan_is_a_number():
    assert math.isnan(value({"as_float": "NaN"}))


@pytest.mark.parametrize("name", ["uint8", "int64", "float16", "float64", "bool", "bfloat16"])
def test_kinds_of_numbers_have_the_numbers_that_torch_gives_them(name):
    pytest.importorskip("torch")
    schema = pytest.importorskip("torch._export.serde.schema")
    known = {"uint8": "BYTE", "int64": "LONG", "float16": "HALF", "float64": "DOUBLE"}
    member = known.get(name, name.upper())
    assert dtype_of(int(schema.ScalarType[member])) == Word(name)


def test_notes_for_the_compiler_are_no_steps():
    note = step("torch.ops.aten._assert_tensor_metadata.default", tensor("nowhere"))
    assert len(read_graph(graph(note, step(TANH, tensor("x")))).steps) == 1


def test_a_branch_holds_its_two_graphs():
    inner = {"as_graph": {"graph": graph(step(TANH, tensor("u"), to="v"), of=["u"], to="v")}}
    given = [tensor("x"), inner, inner, {"as_tensors": [{"name": "x"}]}]
    (found,) = read_graph(graph(step(BRANCH, *given))).steps
    assert [type(argument) for _, argument in found.arguments] == [Name, Graph, Graph, list]
    with pytest.raises(BadFileError, match="a branch without its four arguments"):
        read_graph(graph(step(BRANCH, *given[:3])))


def test_a_graph_stands_nowhere_but_in_the_operations_that_take_one():
    inner = {"as_graph": {"graph": graph(of=["u"], to="u")}}
    with pytest.raises(UnsafeFileError, match="graphs at other places of 'torch"):
        read_graph(graph(step(TANH, inner)))


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([step("torch.os.system", tensor("x"))], "holds the operation 'torch.os.system'"),
        ([step(TANH, {"as_operator": "torch.relu"})], "an argument of the kind 'as_operator'"),
        ([step(TANH, {"as_string": "/etc/passwd"})], "the text '/etc/passwd'"),
    ],
)
def test_what_is_not_on_a_list_is_refused_with_advice(nodes, said):
    with pytest.raises(UnsafeFileError, match=f"{said}.*export the model as ONNX"):
        read_graph(graph(*nodes))


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([step(TANH, tensor("h"))], "'h' is used before it is computed"),
        ([step(TANH, tensor("x"), to="x")], "'x' is computed twice"),
        ([], "'y' is used before it is computed"),
    ],
)
def test_a_value_that_is_not_there_by_then_is_damage(nodes, said):
    with pytest.raises(BadFileError, match=f"is damaged: the value {said}") as caught:
        read_graph(graph(*nodes))
    assert not isinstance(caught.value, UnsafeFileError)


@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (whole, 2**63 - 1, 2**63),
        (whole, -1, True),
        (text, "a" * 1000, "a" * 1001),
        (lambda value: listing(value, 2), [1, 2], [1, 2, 3]),
    ],
    ids=["whole", "truth", "text", "listing"],
)
def test_plain_values_have_their_limits(read, good, bad):
    assert read(good) == good
    with pytest.raises(BadFileError, match="where a"):
        read(bad)


def test_names_of_outputs_are_found_however_they_are_nested():
    assert list(names_in(("a", None, ("b", ("c",))))) == ["a", "b", "c"]
