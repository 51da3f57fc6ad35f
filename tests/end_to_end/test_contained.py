"""A call with the path of a model is done by a process of its own: same bits, and no file ends ours."""

import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from tests.children import PATIENCE

import rhale
from rhale.errors import BadSettingError, CheckpointError, ModelStoppedError, RhaleError
from rhale.models.files import sandbox
from rhale.models.files.load import load_file
from rhale.system import closed

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 3)), columns=["a", "b", "c"])
Y = X["a"] * 2 + X["b"] * X["c"]
SAVED = ["m.txt", "m.json", "m.ubj", "m.cbm", "m.skops", "m.onnx"]
ON_LINUX = pytest.mark.skipif(not closed.can_close(), reason="this system has no Landlock")


def save_lightgbm(path):
    settings = {"verbose": -1, "num_threads": 1, "num_leaves": 4, "min_data_in_leaf": 5}
    lightgbm = pytest.importorskip("lightgbm")
    lightgbm.train(settings, lightgbm.Dataset(X, Y), 3).save_model(path)


def save_xgboost(path):
    model = pytest.importorskip("xgboost").XGBRegressor(n_estimators=3, max_depth=3)
    model.fit(X, Y).save_model(path)


def save_catboost(path):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(n_estimators=3, verbose=0, allow_writing_files=False)
    model.fit(X, Y).save_model(str(path))


def save_skops(path):
    pytest.importorskip("skops.io").dump(LinearRegression().fit(X, Y), path)


def save_onnx(path, node="MatMul", extra=(), weight=((2.0,), (0.0,), (-1.0,))):
    """A graph of one step; weights of more than a kilobyte would stand beside it."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    kind, helper = onnx.TensorProto.DOUBLE, onnx.helper
    ends = [[helper.make_tensor_value_info(n, kind, [None, k])] for n, k in (("x", 3), ("y", 1))]
    steps = [*extra, helper.make_node(node, ["x", "w"], ["y"])]
    weights = [onnx.numpy_helper.from_array(np.array(weight), "w")]
    graph = helper.make_graph(steps, "g", *ends, weights)
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    beside = {"save_as_external_data": True, "location": "w.bin", "size_threshold": 0}
    onnx.save(model, path, **beside)


SAVERS = {
    ".txt": save_lightgbm,
    ".json": save_xgboost,
    ".ubj": save_xgboost,
    ".cbm": save_catboost,
    ".skops": save_skops,
    ".onnx": save_onnx,
}


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def saved(name):
    SAVERS[Path(name).suffix](name)
    return name


def bits(found):
    """All numbers and words of a result but the time it was made."""
    found.save("found.json")
    return re.sub(r'"created", "[^"]*"', "", Path("found.json").read_text())


# --- what comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAVED)
def test_numbers_have_the_bits_of_a_call_with_the_model(name):
    loaded, options = load_file(saved(name)), {"regions": True, "units": {"a": "m"}}
    mine, theirs = (rhale.explain(model, X, **options) for model in (name, loaded))
    assert bits(mine) == bits(theirs)
    assert str(mine) == str(theirs)


def test_interactions_and_pairs_have_the_bits_of_a_call_with_the_model():
    loaded = load_file(saved("m.txt"))
    assert bits(rhale.interactions("m.txt", X)) == bits(rhale.interactions(loaded, X))
    asked = {"features": [("b", "c")], "method": "pdp"}
    mine, theirs = (rhale.explain(model, X, **asked) for model in (Path("m.txt"), loaded))
    assert bits(mine) == bits(theirs)


def test_refits_have_the_bits_of_calls_with_models():
    train = [np.arange(150), np.arange(150, 300)]
    models = [load_file(saved("m.txt"))] * 2
    mine = rhale.refits(["m.txt", "m.txt"], X, train=train, pairs=[("b", "c")])
    theirs = rhale.refits(models, X, train=train, pairs=[("b", "c")])
    assert bits(mine) == bits(theirs)
    own = rhale.refit(LinearRegression(), X, Y, n_refits=2, model="m.txt").own
    assert own.features == ("a", "b", "c")


def test_rows_in_files_and_a_checkpoint_are_read_where_the_model_is():
    Path("rows").mkdir()
    X.to_parquet("rows/one.parquet")
    loaded = load_file(saved("m.txt"))
    expected = bits(rhale.explain(loaded, "rows/*.parquet", checkpoint="usual"))
    expected = expected.replace("'usual'", "'kept'")
    assert bits(rhale.explain("m.txt", "rows/*.parquet", checkpoint="kept")) == expected
    assert list(Path("kept").iterdir())
    assert bits(rhale.explain("m.txt", Path("rows"), checkpoint="kept")) == expected
    with pytest.raises(rhale.errors.UnknownFeatureError, match="wrong"):
        rhale.explain("m.txt", "rows/*.parquet", columns=["wrong"], checkpoint="new")
    assert not Path("new").exists()


def test_progress_notes_warnings_and_errors_are_passed_on(caplog):
    told = []
    rows = X.assign(d=1.0)
    saved("m.skops")
    with pytest.warns(DeprecationWarning, match="spread_window= does nothing") as warned:
        rhale.explain("m.skops", X, spread_window=0.1, progress=lambda *n: told.append(n))
    assert warned[0].filename == __file__
    assert told[-1][0] == told[-1][1] >= len(X)
    with caplog.at_level(logging.WARNING, "rhale"):
        rhale.interactions("m.skops", X, pairs="all")
    assert "pairs='all'" in caplog.text
    with pytest.raises(rhale.errors.UnknownFeatureError, match="did you mean"):
        rhale.explain("m.skops", rows, features=["aa"])
    with pytest.raises(CheckpointError, match="cannot be used"):
        rhale.explain("m.skops", X, checkpoint="/proc/no/such/folder")


def test_what_belongs_to_this_program_alone_is_named(monkeypatch):
    saved("m.skops")
    with pytest.raises(
        BadSettingError, match=r"gradient=.* cannot be passed .*rhale\.models\.load_file"
    ):
        rhale.explain("m.skops", X, gradient=lambda rows: rows)
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(
        ModelStoppedError, match=r"m\.skops cannot be read .*rhale\.models\.load_file"
    ):
        rhale.explain("m.skops", X)


def test_a_table_of_an_engine_is_sent_to_the_other_way():
    frame = pytest.importorskip("dask.dataframe").from_pandas(X, npartitions=2)
    saved("m.skops")
    with pytest.raises(BadSettingError, match=r"a dask table.*rhale\.models\.load_file"):
        rhale.explain("m.skops", frame)
    assert rhale.explain(rhale.models.load_file("m.skops"), frame).features == ("a", "b", "c")


# --- what it may touch ----------------------------------------------------------------------------

PROBE = """
import json, os, resource, socket, sys
sys.path.insert(0, {folder!r})
import closed
print(closed.close_off({reads!r}, {lists!r}, {writes!r}))
def tried(attempt):
    try:
        attempt()
    except PermissionError:
        return False
    return True
print(json.dumps([tried(attempt) for attempt in (
    lambda: open("named.txt").read(),
    lambda: open("other.txt").read(),
    lambda: open("named.txt", "a"),
    lambda: open("own/new.txt", "w"),
    lambda: open("new.txt", "w"),
    lambda: os.listdir("own"),
    lambda: os.listdir("."),
    lambda: os.kill(os.getppid(), 0),
    socket.socket,
    lambda: open(f"/proc/{{os.getppid()}}/environ").read(),
    lambda: os.chmod("other.txt", 0o777),
    lambda: os.utime("other.txt", (1, 1)),
    lambda: os.setxattr("other.txt", "user.a", b"1"),
    os.setsid,
    lambda: os.symlink("other.txt", "own/link"),
    lambda: os.mkfifo("own/pipe"),
    lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (9, 9)),
)]))
import numpy
"""


@ON_LINUX
def test_a_process_that_is_closed_off_reads_and_writes_what_was_named():
    for name in ("named.txt", "other.txt"):
        Path(name).write_text("x")
    Path("own").mkdir()
    folder = str(Path(closed.__file__).parent)
    code = PROBE.format(folder=folder, reads=["named.txt"], lists=[], writes=["own"])
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    missing, found = done.stdout.splitlines()
    named, other, changed, own, new, listed, around, *elsewhere = json.loads(found)
    assert missing == "[]"
    assert (named, own, listed) == (True, True, True)
    assert not any((other, changed, new, around, *elsewhere[1:]))  # the first needs Linux 6.12


@ON_LINUX
def test_a_model_that_reads_files_reads_none_that_was_not_named(tmp_path):
    """skops knows this estimator, and trusts it: it opens the files that cells name."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.pipeline import make_pipeline

    (tmp_path / "secret.txt").write_text("one two")
    path = str(tmp_path / "secret.txt")
    reader = HashingVectorizer(input="filename", n_features=4)
    from sklearn.linear_model import Ridge

    model = make_pipeline(reader, Ridge()).fit([path, path], [1.0, 2.0])
    pytest.importorskip("skops.io").dump(model, "m.skops")
    assert load_file("m.skops").predict([path]).shape == (1,)
    with pytest.raises(RhaleError, match="Permission denied"):
        rhale.explain("m.skops", pd.DataFrame({path: [1.0, 2.0, 3.0]}), method="pdp")


# --- files that lie -------------------------------------------------------------------------------


def refused(path, rows=X):
    """The one sentence about a file, or none where its library reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rhale.explain(path, rows)
        except RhaleError as error:
            return error
    return None


@pytest.fixture
def hasty(monkeypatch):
    """Little time for files that send their readers in circles."""
    monkeypatch.setattr(sandbox, "MAX_SECONDS", 10.0)


def changed(name, old, new):
    content = Path(saved(name)).read_bytes()
    found = re.sub(old, new, content, count=1)
    assert found != content
    if name.endswith(".txt"):  # the list of sizes must still be right
        trees = re.findall(rb"Tree=\d.*?(?=Tree=\d|end of trees)", found, re.DOTALL)
        sizes = b"tree_sizes=" + b" ".join(b"%d" % len(tree) for tree in trees)
        found = re.sub(rb"tree_sizes=.*", sizes, found)
    Path(name).write_bytes(found)
    return name


LIES = {
    "LightGBM: trees without end": ("m.txt", rb"num_tree_per_iteration=1", b"num_tree_per_iteration=%d" % (2**31 - 1)),
    "LightGBM: a child before its parent": ("m.txt", rb"left_child=\S+", b"left_child=0"),
    "LightGBM: a child that is not there": ("m.txt", rb"left_child=\S+", b"left_child=999999999"),
    "LightGBM: a column that is not there": ("m.txt", rb"split_feature=\S+", b"split_feature=999999999"),
    "LightGBM: a leaf too few": ("m.txt", rb"leaf_value=\S+ ", b"leaf_value="),
    "XGBoost: a child that is not there": ("m.json", rb'"left_children":\[\d+', b'"left_children":[99999999'),
    "XGBoost: a child before its parent": ("m.json", rb'"left_children":\[\d+', b'"left_children":[0'),
    "XGBoost: a column that is not there": ("m.json", rb'"split_indices":\[\d+', b'"split_indices":[99999999'),
    "XGBoost: brackets in brackets": ("m.json", rb'"learner":', b'"learner":' + b"[" * 200_000),
    "XGBoost: a list without end": ("m.ubj", rb"L.{8}", b"L\x7f" + b"\xff" * 7),
    "CatBoost: an offset out of the file": ("m.cbm", rb"(?s)^(CBM1.{4}).{4}", rb"\1" + b"\xff\xff\xff\x7f"),
    "ONNX: bytes of something else": ("m.onnx", rb"(?s)MatMul.*", b"MatMul" + b"\xff" * 100),
}  # fmt: skip


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("name", LIES)
def test_a_file_that_lies_is_read_or_one_sentence(name):
    path, old, new = LIES[name]
    error = refused(changed(path, old, new))
    assert error is None or (path in str(error) and "\n" not in str(error))


def test_a_crash_is_one_sentence_that_names_the_file():
    error = refused(changed(*LIES["LightGBM: trees without end"]))
    assert type(error) is ModelStoppedError
    assert re.match(
        r"m\.txt crashed: its process was ended by SIG\w+\.|m\.txt ended its", str(error)
    )


@pytest.mark.parametrize("suffix", [".txt", ".json", ".ubj", ".cbm", ".onnx", ".skops"])
def test_a_file_that_was_cut_off_is_refused(suffix):
    content = Path(saved(f"m{suffix}")).read_bytes()
    Path(f"m{suffix}").write_bytes(content[: len(content) // 2])
    assert refused(f"m{suffix}") is not None


def test_no_reader_takes_a_compressed_pickle():
    joblib = pytest.importorskip("joblib")
    for suffix in (".txt", ".json", ".cbm", ".onnx"):
        joblib.dump(LinearRegression(), f"m{suffix}", compress=("zlib", 3))
        assert refused(f"m{suffix}") is not None


def test_a_model_that_takes_all_memory_is_one_sentence(monkeypatch):
    onnx = pytest.importorskip("onnx")
    size = onnx.helper.make_tensor("s", onnx.TensorProto.INT64, [2], [2**18, 2**14])
    extra = [
        onnx.helper.make_node("Constant", [], ["size"], value=size),
        onnx.helper.make_node("ConstantOfShape", ["size"], ["large"]),
        onnx.helper.make_node("ReduceSum", ["large"], ["unused"]),
    ]
    save_onnx("m.onnx", extra=extra)
    monkeypatch.setattr(sandbox, "usual_memory", lambda: 2**31)
    refused("m.onnx")


def endless():
    """A graph that counts to 2 ** 62."""
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    info = helper.make_tensor_value_info
    inner = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Identity", ["v"], ["u"])],
        "inner",
        [info("i", kinds.INT64, []), info("go", kinds.BOOL, []), info("v", kinds.DOUBLE, None)],
        [info("on", kinds.BOOL, []), info("u", kinds.DOUBLE, None)],
    )
    times = helper.make_tensor("n", kinds.INT64, [], [2**62])
    extra = [
        helper.make_node("Constant", [], ["times"], value=times),
        helper.make_node("Loop", ["times", "", "x"], ["z"], body=inner),
    ]
    save_onnx("m.onnx", extra=extra)
    model = onnx.load("m.onnx")
    model.graph.node[-1].input[0] = "z"
    onnx.save(model, "m.onnx")


@pytest.mark.usefixtures("hasty")
def test_a_model_that_never_answers_is_stopped():
    endless()
    error = refused("m.onnx")
    assert "m.onnx took longer than 10 seconds and was stopped; n_rows= uses fewer" in str(error)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_the_child(monkeypatch):
    endless()
    children, usual = [], sandbox.write_child_request
    monkeypatch.setattr(
        sandbox,
        "write_child_request",
        lambda *sent: (usual(*sent), children.append(sent[0]), begun.set()),
    )
    begun = threading.Event()

    def press():
        begun.wait(PATIENCE)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        rhale.explain("m.onnx", X)
    presser.join()
    assert children[0].returncode is not None


def test_the_command_makes_the_folder_of_a_checkpoint_and_goes_on_from_it():
    pytest.importorskip("typer")
    saved("m.txt")
    X.to_csv("rows.csv", index=False)
    command = [sys.executable, "-m", "rhale.cli", "explain", "m.txt", "rows.csv"]
    command += ["--checkpoint", "new/kept", "--json", "-"]
    runs = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2)]  # noqa: S603
    one, two = (json.loads(run) for run in runs)
    assert one["effects"] == two["effects"]
    assert list(Path("new/kept").iterdir())


def test_a_trusted_tree_that_leads_out_of_its_nodes_is_one_sentence_of_the_command():
    pytest.importorskip("typer")
    skops = pytest.importorskip("skops.io")
    content, held = skops.dumps(DecisionTreeRegressor(max_depth=3).fit(X, Y)), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(held, "w") as new:
        for name in old.namelist():
            member = old.read(name)
            if name.endswith(".npy") and (nodes := np.load(io.BytesIO(member))).dtype.names:
                nodes["left_child"][0] = 10**9
                np.save(again := io.BytesIO(), nodes)
                member = again.getvalue()
            new.writestr(name, member)
    Path("m.skops").write_bytes(held.getvalue())
    X.to_csv("rows.csv", index=False)
    command = [sys.executable, "-m", "rhale.cli", "explain", "m.skops", "rows.csv"]
    command += ["--trust", "sklearn.tree._tree.Tree"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
