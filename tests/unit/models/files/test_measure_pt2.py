import pytest

from rhale.errors import UnsafeFileError

torch = pytest.importorskip("torch")
measured = pytest.importorskip("rhale.models.files.measure_pt2")

SIMILAR = torch.ops.aten.cosine_similarity.default


def ask(operation, *given, most, **named):
    name = operation._schema.name.partition("::")[2] + "." + operation._overloadname
    measured.measure(operation, name, (list(given), named), most)


def test_what_fits_is_let_through():
    ask(torch.ops.aten.zeros.default, [1000], device=torch.device("cpu"), most=4000)


def test_what_does_not_fit_is_refused_before_it_is_made():
    with pytest.raises(UnsafeFileError, match=r"a tensor of 1099511627776 numbers in aten\.zeros"):
        ask(torch.ops.aten.zeros.default, [2**40], device=torch.device("cpu"), most=4000)


def test_what_is_made_on_the_way_counts_too():
    """50 times 50 answers, each from eight products."""
    one, other = torch.zeros(50, 1, 8), torch.zeros(1, 50, 8)
    assert SIMILAR(one, other, 2).numel() * 4 == 10_000
    with pytest.raises(UnsafeFileError, match="a tensor of 20000 numbers"):
        ask(SIMILAR, one, other, 2, most=20_000)
    ask(SIMILAR, one, other, 2, most=80_000)


def test_tensors_of_the_caller_are_neither_read_nor_changed():
    rows = torch.ones(3)
    ask(torch.ops.aten.add_.Tensor, rows, rows, most=1000)
    assert rows.tolist() == [1.0, 1.0, 1.0]


def test_sizes_that_only_values_tell_are_left_to_the_operation():
    ask(torch.ops.aten.nonzero.default, torch.ones(3), most=10**6)
    ask(torch.ops.aten.index.Tensor, torch.ones(3), [torch.ones(3) > 0], most=10**6)


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        (torch.ops.aten.unbind.int, [torch.zeros(2**15)]),
        (torch.ops.aten.split.Tensor, [torch.zeros(2**15), 1]),
        (torch.ops.aten.split.Tensor, [torch.zeros(2**15), 0]),
        (torch.ops.aten.tensor_split.sections, [torch.zeros(2), 10**9]),
    ],
)
def test_too_many_pieces_are_refused(operation, given):
    with pytest.raises(UnsafeFileError, match="more than 16384 pieces"):
        ask(operation, *given, most=10**9)


def test_a_device_of_its_own_has_no_limit_but_what_rows_need():
    processor, other = torch.device("cpu"), torch.device("cuda")
    assert measured.limit_for(10, processor) == measured.limit_for(10, other)
    assert measured.limit_for(10**5, processor) < measured.limit_for(10**5, other)
