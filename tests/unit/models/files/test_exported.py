import ast
import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rhale
from rhale.errors import BadFileError, NotDifferentiableError, UnsafeFileError, WrongShapeError

torch = pytest.importorskip("torch")
exported = pytest.importorskip("rhale.models.files.exported")
craft = pytest.importorskip("tests.unit.models.files.craft_pt2")
cases = pytest.importorskip("tests.unit.models.files.network_cases")

N = cases.N_COLUMNS
SINGLE = {"rtol": 1e-4, "atol": 1e-5}


def loaded(content):
    return exported.load_exported(Path("m.pt2"), content)


def some_rows(n_rows=7, dtype=torch.float64):
    return torch.randn(n_rows, N, dtype=dtype, generator=torch.Generator().manual_seed(1))


def network(name, dtype):
    torch.manual_seed(0)
    return cases.NETWORKS[name]().eval().to(dtype)


def slopes_of(module, rows):
    asked = rows.clone().requires_grad_()
    answer = module(asked * 1)  # a copy that knows where it came from
    return torch.autograd.grad(answer.sum(), asked, allow_unused=True)[0]


def as_the_module(name, dtype, **options):
    """Answers and slopes of the file are those of the module, and rows stay as they are."""
    module = network(name, dtype)
    rows = some_rows(dtype=dtype)
    kept = rows.clone()
    model = loaded(craft.exported(module, some_rows(5, dtype), **options))
    exact = {} if dtype == torch.float64 else SINGLE
    with torch.no_grad():
        expected = module(rows.clone())
        torch.testing.assert_close(model.module(rows), expected, **exact)
    np.testing.assert_allclose(
        model.predict(rows.numpy()), expected.numpy(), rtol=1e-4 if exact else 1e-9, atol=1e-5
    )
    torch.testing.assert_close(rows, kept, rtol=0, atol=0)
    torch.testing.assert_close(slopes_of(model.module, rows), slopes_of(module, rows), **exact)
    return model


@pytest.mark.parametrize("name", cases.NETWORKS)
def test_a_file_answers_as_the_module_it_came_from(name):
    as_the_module(name, torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.NETWORKS)
def test_a_file_answers_as_the_module_in_single_precision(name):
    as_the_module(name, torch.float32)


DECOMPOSED = ["perceptron", "normalisations", "categories", "LSTM", "attention", "convolutions"]


@pytest.mark.parametrize("name", DECOMPOSED)
def test_a_program_of_core_operations_answers_too(name):
    as_the_module(name, torch.float64, decomposed=True)


def test_a_program_with_branches_takes_the_one_that_its_rows_choose():
    module = cases.Written(lambda _, x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)))
    model = loaded(craft.exported(module, some_rows()))
    rows = some_rows().abs()
    torch.testing.assert_close(model.module(rows), rows.sin())
    torch.testing.assert_close(model.module(-rows), rows.cos())
    torch.testing.assert_close(slopes_of(model.module, rows), rows.cos())


def test_a_program_computes_where_its_rows_are():
    def elsewhere(program):
        for node in craft.graph_of(program)["nodes"]:
            for argument in node["inputs"]:
                if "as_device" in argument["arg"]:
                    argument["arg"] = {"as_device": {"type": "cuda", "index": 3}}

    module = network("constants", torch.float64)
    content = craft.exported(module, some_rows())
    moved = craft.with_json(content, elsewhere)
    assert moved != content
    torch.testing.assert_close(loaded(moved).module(some_rows()), module(some_rows()))


def test_one_row_is_answered_like_many():
    model = loaded(craft.exported(network("residual", torch.float64), some_rows(5)))
    one, all_of_them = some_rows()[:1], some_rows()
    torch.testing.assert_close(model.module(one), model.module(all_of_them)[:1])


def test_a_program_for_one_row_is_asked_one():
    content = craft.exported(network("perceptron", torch.float64), some_rows(1), dynamic=False)
    assert loaded(content).module(some_rows(1)).shape == (1, 2)
    with pytest.raises(WrongShapeError, match=r"exactly 1 rows; make it with torch.export"):
        loaded(content).module(some_rows(3))


def test_other_columns_than_the_program_knows_are_told():
    model = loaded(craft.exported(network("perceptron", torch.float64), some_rows()))
    with pytest.raises(WrongShapeError, match="exactly 6 columns, not 4"):
        model.module(some_rows()[:, :4])
    with pytest.raises(WrongShapeError, match="exported for 2 dimensions"):
        model.module(some_rows()[None])


@pytest.mark.parametrize(("most", "what"), [(64, "10 to 64"), (None, "at least 10")])
def test_other_numbers_of_rows_than_the_program_knows_are_told(simple, most, what):
    def limit(program):
        for limits in program["range_constraints"].values():
            limits.update(min_val=10, max_val=most)

    model = loaded(craft.with_json(simple, limit))
    assert model.module(some_rows(20, torch.float32)).shape == (20, N)
    with pytest.raises(WrongShapeError, match=f"exported for {what} rows; make it with"):
        model.module(some_rows(9, torch.float32))


def test_codes_are_asked_as_whole_numbers():
    module = cases.Written(
        lambda s, x: s.table(x).flatten(1), table=torch.nn.Embedding(2**10, 2)
    ).double()
    model = loaded(craft.exported(module, torch.zeros(4, N, dtype=torch.int64)))
    codes = np.full((3, N), 1023.0)
    np.testing.assert_array_equal(
        model.predict(codes), np.tile(module.table.weight[1023].detach(), (3, N))
    )


def test_a_model_without_slopes_says_so_as_the_module_does():
    module = cases.Written(lambda _, x: x.floor().detach().sum(1))
    model = loaded(craft.exported(module, some_rows()))
    with pytest.raises(NotDifferentiableError):
        model.gradient(some_rows().numpy(), [0])


def test_several_outputs_are_told_as_the_module_tells_them():
    module = cases.Written(lambda _, x: (x.sum(1), x.mean(1)))
    model = loaded(craft.exported(module, some_rows()))
    with pytest.raises(WrongShapeError, match="returned tuple"):
        model.predict(some_rows().numpy())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])  # noqa: S301
def test_a_program_travels(copied):
    model = loaded(craft.exported(network("categories", torch.float64), some_rows()))
    again = copied(model)
    torch.testing.assert_close(again.module(some_rows()), model.module(some_rows()))


def test_an_explanation_of_the_file_is_that_of_the_module(tmp_path):
    module = network("feature transformer", torch.float64)
    (tmp_path / "m.pt2").write_bytes(craft.exported(module, some_rows()))
    table = some_rows(200).numpy()
    mine = rhale.explain(tmp_path / "m.pt2", table, features=[0, 1])
    theirs = rhale.explain(module, table, features=[0, 1])
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(one.edges, other.edges)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-12)


# --- what is not answered ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nn.Sequential(torch.nn.Linear(N, 4), torch.nn.Dropout(0.5)),
        lambda: torch.nn.Sequential(torch.nn.Linear(N, 4), torch.nn.RReLU()),
        lambda: torch.nn.Sequential(torch.nn.Linear(N, 4), torch.nn.Dropout(0.5, inplace=True)),
        lambda: torch.nn.BatchNorm1d(N),
    ],
)
def test_a_module_in_training_is_refused_with_advice(make):
    content = craft.exported(make().train(), some_rows(dtype=torch.float32))
    with pytest.raises(UnsafeFileError, match=r"m.pt2 holds .*model.eval\(\)"):
        loaded(content)


@pytest.fixture(scope="module")
def simple():
    """A network of one layer, whose weights are `p_weight` and `p_bias`, its rows `input`."""
    return craft.exported(torch.nn.Linear(N, N), some_rows(dtype=torch.float32))


def changing(target, view=None):
    """Steps that change a value, or a view of it, in place."""
    seen = craft.node("torch.ops.aten.t.default", [("self", craft.named(target))], "seen")
    place = "seen" if view else target
    change = craft.node(
        "torch.ops.aten.add_.Scalar", [("self", craft.named(place)), ("other", {"as_int": 1})]
    )
    return [seen, change] if view else [change]


@pytest.mark.parametrize("view", [None, "transposed"])
def test_a_program_that_changes_its_weights_is_refused(simple, view):
    model = loaded(craft.with_steps(simple, *changing("p_weight", view)))
    with pytest.raises(UnsafeFileError, match=r"changes its own weights.*model.eval\(\)"):
        model.predict(some_rows().numpy())


@pytest.mark.parametrize("view", [None, "transposed"])
def test_a_program_that_changes_its_rows_changes_no_one_elses(simple, view):
    model = loaded(craft.with_steps(simple, *changing("input", view)))
    rows = some_rows(dtype=torch.float32)
    kept, first = rows.clone(), model.module(rows)
    torch.testing.assert_close(rows, kept, rtol=0, atol=0)
    torch.testing.assert_close(model.module(rows), first, rtol=0, atol=0)
    table = rows.numpy().astype(np.float64)
    before = table.copy()
    model.predict(table)
    np.testing.assert_array_equal(table, before)


def test_arguments_that_an_operation_does_not_have_are_damage(simple):
    strange = craft.node("torch.ops.aten.tanh.default", [("path", {"as_string": "x"})])
    twice = craft.node("torch.ops.aten.tanh.default", [("self", craft.named("input"))] * 2)
    for step in (strange, twice):
        with pytest.raises(BadFileError, match=r"m.pt2 is damaged: .*other arguments"):
            loaded(craft.with_steps(simple, step))


def test_a_torch_without_an_operation_says_so(simple, monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.6.0")
    monkeypatch.setattr("rhale.models.files.graph_pt2.is_listed", lambda _: True)
    step = craft.node("torch.ops.aten.of_the_future.default", [])
    with pytest.raises(
        BadFileError, match=r"'of_the_future.default', which torch 2.6.0 does not have"
    ):
        loaded(craft.with_steps(simple, step))


@pytest.mark.parametrize("version", ["2.5.1+cpu", "2.2.0", "1.13.1"])
def test_a_torch_that_is_too_old_is_told(simple, monkeypatch, version):
    monkeypatch.setattr(torch, "__version__", version)
    with pytest.raises(BadFileError, match=r"m.pt2 needs torch 2.6 or newer, and this is"):
        loaded(simple)


def test_a_check_of_the_program_itself_that_fails_is_told(simple):
    given = [("", {"as_bool": False}), ("", {"as_string": "rows are 'positive' <= 0"})]
    step = craft.node("torch.ops.aten._assert_scalar.default", given, [])
    with pytest.raises(RuntimeError, match="own check failed: rows are 'positive'"):
        loaded(craft.with_steps(simple, step)).module(some_rows(dtype=torch.float32))


# --- sizes -------------------------------------------------------------------------------------


def made(target, *arguments):
    return craft.node(f"torch.ops.aten.{target}", arguments)


INPUT = ("self", craft.named("input"))
BOMBS = {
    "zeros": made("zeros.default", ("size", {"as_ints": [2**20, 2**20]})),
    "arange": made("arange.default", ("end", {"as_int": 2**45})),
    "full on a named device": made(
        "full.default", ("size", {"as_ints": [2**40]}), ("fill_value", {"as_int": 1}),
        ("device", {"as_device": {"type": "cpu", "index": None}}),
    ),
    "expand": made("expand.default", ("self", craft.named("p_bias")), ("size", {"as_ints": [2**40, N]})),
    "repeat": made("repeat.default", INPUT, ("repeats", {"as_ints": [2**20, 2**20]})),
    "pad": made("constant_pad_nd.default", INPUT, ("pad", {"as_ints": [0, 2**40]})),
    "one_hot": made("one_hot.default", INPUT, ("num_classes", {"as_int": 2**50})),
    "empty": made("empty.memory_format", ("size", {"as_ints": [2**40]})),
    "pieces": made("tensor_split.sections", INPUT, ("sections", {"as_int": 10**9})),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_sizes_that_would_take_the_memory_are_refused(simple, name):
    model = loaded(craft.with_steps(simple, BOMBS[name]))
    with pytest.raises((UnsafeFileError, RuntimeError)) as error:
        model.predict(some_rows().numpy())
    if name != "one_hot":  # it wants whole numbers, and says so first
        assert isinstance(error.value, UnsafeFileError)


def test_sizes_that_follow_from_values_are_measured_each_time(simple):
    """The first rows ask for a small tensor, the next ones for all the memory."""
    first = craft.node("torch.ops.aten.amax.default", [INPUT], "largest")
    size = [{"as_sym_float": {"as_name": "size"}}]
    number = craft.node("torch.ops.aten.item.default", [("self", craft.named("largest"))], size)
    whole = [{"as_sym_int": {"as_name": "whole"}}]
    count = craft.node("torch.sym_int", [("", {"as_sym_float": {"as_name": "size"}})], whole)
    sizes = {"as_sym_ints": [{"as_name": "whole"}]}
    zeros = made("zeros.default", ("size", sizes))
    model = loaded(craft.with_steps(simple, first, number, count, zeros))
    rows = np.ones((7, N))
    model.predict(rows)
    with pytest.raises(UnsafeFileError, match="makes a tensor of"):
        model.predict(rows * 2.0**40)


def test_a_mask_with_numbers_beside_it_is_refused(simple):
    mask = made("gt.Scalar", INPUT, ("other", {"as_int": 0}))
    index = {
        "as_optional_tensors": [{"as_tensor": {"name": "extra"}}, {"as_tensor": {"name": "places"}}]
    }
    places = craft.node("torch.ops.aten.arange.default", [("end", {"as_int": 4})], "places")
    chosen = craft.node("torch.ops.aten.index.Tensor", [INPUT, ("indices", index)], "chosen")
    with pytest.raises(UnsafeFileError, match="by a mask and by numbers"):
        loaded(craft.with_steps(simple, mask, places, chosen)).predict(some_rows().numpy())


# --- at random ---------------------------------------------------------------------------------

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
EVENTS = {
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.mkdir", "os.remove", "os.rename"),
    *("subprocess.Popen", "socket.connect", "socket.bind", "ctypes.dlopen", "pickle.find_class"),
}
watched = {"on": False, "seen": []}


def watch(event, arguments):
    if watched["on"] and (event in EVENTS or (event == "open" and (arguments[2] or 0) & WRITES)):
        watched["seen"].append(f"{event} {arguments}")


def ask_in_fork(content, folder):
    """What comes of a file: the kind of answer, and every deed that it should not do."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        torch.set_num_threads(1)  # a pool of threads does not survive a fork
        try:
            watched["on"] = True
            found = _ask(content)
        finally:
            watched["on"] = False
            os.write(writing, repr((found, watched["seen"][:3])).encode()[:4000])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        text = answers.read()
    _, status = os.waitpid(child, 0)
    return text, status


def _ask(content):
    try:
        model = loaded(content)
    except BadFileError as error:
        return "refused" if "\n" not in str(error) else f"several lines: {error}"
    except BaseException as error:  # noqa: BLE001 - whatever else it is, it is wrong
        return f"{type(error).__name__} at loading: {error}"
    try:
        model.predict(some_rows().numpy())
    except Exception:  # noqa: BLE001 - a program may fail, as any model
        return "failed"
    return "answered"


def tried(n_files, folder):
    """Random changes of some programs; how many of them were refused, failed, or answered."""
    sys.addaudithook(watch)
    names = ["perceptron", "categories", "without_slopes", "assignments"]
    programs = [craft.exported(network(name, torch.float64), some_rows()) for name in names]
    for program in programs:
        _ask(program)  # what is imported at first use is imported now
    targets, counts = craft.all_targets(), {}
    for seed in range(n_files):
        generator = craft.generator_of(seed)
        content = craft.mutated(generator.choice(programs), generator, targets)
        text, status = ask_in_fork(content, folder)
        assert status == 0, seed
        assert text in ("('refused', [])", "('failed', [])", "('answered', [])"), (seed, text)
        counts[text] = counts.get(text, 0) + 1
    assert list(folder.iterdir()) == []
    return counts


def tried_apart(n_files, folder):
    """The same in a process of its own: forks of one that has threads may never end."""
    code = f"from {__name__} import *; print(tried(int(sys.argv[1]), Path(sys.argv[2])))"
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "ignore", "-c", code, str(n_files), str(folder)],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout.splitlines()[-1])


forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")


@forking
def test_programs_changed_at_random_do_nothing_but_answer(tmp_path):
    assert len(tried_apart(40, tmp_path)) > 1


@pytest.mark.slow
@forking
def test_many_programs_changed_at_random_do_nothing_but_answer(tmp_path):
    assert tried_apart(2000, tmp_path)["('refused', [])"] > 500
