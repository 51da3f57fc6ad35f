import pytest

from rhale.models.files.operations import (
    CONDITIONS,
    FUNCTIONS,
    IN_PLACE,
    INSTEAD,
    calculate,
    is_listed,
)

torch = pytest.importorskip("torch")
KNOWN_TYPES = ("Tensor", "int", "SymInt", "float", "bool", "number", "Device", "str")
WORDS = {  # the only texts that operations take: settings, none of them a path
    *("padding", "approximate", "mode", "rounding_mode", "equation", "interpolation", "indexing"),
    *("reduce", "side", "driver", "UPLO", "ord", "norm", "assert_msg"),
}


def schema(name):
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload)._schema


def operation(name):
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload)


def written(name):
    return [
        k
        for k, argument in enumerate(schema(name).arguments)
        if argument.alias_info and argument.alias_info.is_write
    ]


def test_functions_write_nothing():
    assert [name for name in FUNCTIONS if schema(name).is_mutable] == []


def test_changes_write_their_first_argument_alone():
    assert {name: written(name) for name in IN_PLACE if written(name) != [0]} == {}


def test_nothing_draws_random_numbers_that_no_condition_forbids():
    seeded = torch.Tag.nondeterministic_seeded
    drawing = {name for name in FUNCTIONS | IN_PLACE if seeded in operation(name).tags}
    assert drawing <= set(CONDITIONS)
    assert "dropout.default" in drawing


def test_conditions_are_about_arguments_that_are_there():
    for name, wanted in CONDITIONS.items():
        assert {n for n, _ in wanted} <= {a.name for a in schema(name).arguments}


def test_operations_give_tensors_or_sizes_and_take_no_paths():
    for name in FUNCTIONS | IN_PLACE:
        texts = {a.name for a in schema(name).arguments if "str" in str(a.type)}
        assert texts <= WORDS, name
        answers = " ".join(str(r.type) for r in schema(name).returns)
        assert "Tensor" in answers or answers in ("", "int", "number", "SymInt"), name


def test_what_stands_in_for_others_is_on_the_list():
    assert set(INSTEAD.values()) <= FUNCTIONS


@pytest.mark.parametrize(
    "name",
    [
        *("from_file.default", "save.default", "set_.source_Storage", "resize_.default"),
        *("rand.default", "bernoulli.default", "multinomial.default", "normal_.default"),
        *("as_strided.default", "_unsafe_index.Tensor", "embedding_bag.default"),
        *("mul.left_t", "add.str", "relu.out", "__class__", "linalg_lu_solve.default"),
    ],
)
def test_what_has_side_effects_or_trusts_its_arguments_is_not_on_the_list(name):
    assert not is_listed(name)


@pytest.mark.parametrize(
    ("target", "numbers", "expected"),
    [
        ("_operator.floordiv", [7, 2], 3),
        ("_operator.pow", [2, 10], 1024),
        ("torch.sym_max", [3, 5], 5),
        ("math.ceil", [2.5], 3),
        ("torch.ops.aten._assert_scalar.default", [True, "text"], None),
    ],
)
def test_sizes_are_calculated(target, numbers, expected):
    assert calculate(target, numbers) == expected


def test_sizes_stay_within_64_bits():
    with pytest.raises(OverflowError, match="beyond 64 bits"):
        calculate("_operator.mul", [2**40, 2**40])
    with pytest.raises(OverflowError, match="to the power"):
        calculate("_operator.pow", [9, 9**9])


def test_arithmetic_is_for_numbers_alone():
    with pytest.raises(TypeError, match="other than numbers"):
        calculate("_operator.mul", [[1], 10**9])
    with pytest.raises(TypeError, match="other than numbers"):
        calculate("_operator.mul", ["x", 10**9])
