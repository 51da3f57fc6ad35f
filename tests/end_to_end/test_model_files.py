"""Model files: each kind answers as the model in memory, and none of them bites."""

import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer

import rhale
from rhale.errors import BadFileError, UnsafeFileError
from rhale.models.files.load import load_file
from rhale.models.files.pickles import hash_of

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 3)), columns=["a", "b", "c"])
Y = X["a"] * 2 + X["b"] * X["c"]
BITE = "bitten"


class Bite:
    """What a crafted file holds: it leaves a mark when it is read."""

    def __reduce__(self):
        return (os.mkdir, (BITE,))


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert not Path(BITE).exists()


def same_effects(path, model, table=X, **options):
    loaded = load_file(path, **options)
    mine, theirs = rhale.explain(loaded, table), rhale.explain(model, table)
    assert mine.features == theirs.features
    for one, other in zip(mine.values(), theirs.values(), strict=True):
        np.testing.assert_allclose(one.edges, other.edges)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-5, atol=1e-6)
    return mine


# --- each kind, round trip ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["m.json", "m.ubj"])
def test_xgboost(name):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=5, max_depth=3).fit(X, Y)
    model.save_model(name)
    same_effects(name, model)


def test_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(X, Y)
    model.booster_.save_model("m.txt")
    same_effects("m.txt", model)


def test_catboost():
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(n_estimators=5, verbose=0, allow_writing_files=False)
    model.fit(X, Y).save_model("m.cbm")
    same_effects("m.cbm", model)


def test_skops():
    skops = pytest.importorskip("skops.io")
    model = LinearRegression().fit(X, Y)
    skops.dump(model, "m.skops")
    same_effects("m.skops", model)
    by_text, by_path = rhale.explain("m.skops", X), rhale.explain(Path("m.skops"), X)
    assert by_text.effects == by_path.effects


def test_skops_makes_no_type_that_was_not_trusted():
    skops = pytest.importorskip("skops.io")
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, Y)
    skops.dump(model, "m.skops")
    with pytest.raises(UnsafeFileError, match=r"--trust (\S+TreePredictor)") as refused:
        load_file("m.skops")
    same_effects("m.skops", model, trust=str(refused.value).split("--trust ")[1:])


def test_skops_does_not_import_what_it_does_not_trust():
    skops = pytest.importorskip("skops.io")
    skops.dump(FunctionTransformer(os.mkdir), "m.skops")
    with pytest.raises(UnsafeFileError, match="mkdir"):
        load_file("m.skops", trust=["posix.rmdir"])


# --- exported programs of torch ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["m.pt2", "m.skops", "m"])
def test_an_exported_program_is_refused_whatever_its_name(name):
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr("archive/archive_format", "pt2")
        archive.writestr("archive/models/model.json", "{}")
    for allowed in (None, hash_of(Path(name).read_bytes())):
        with pytest.raises(UnsafeFileError, match=rf"{name} is an exported .* pass the module$"):
            load_file(name, allow_pickle=allowed)


def test_a_program_without_a_format_is_refused_by_its_name():
    Path("m.pt2").write_bytes(b"nothing")
    with pytest.raises(UnsafeFileError, match=r"torch.onnx.export"):
        rhale.explain("m.pt2", X)


# --- ONNX --------------------------------------------------------------------------------------


def save_graph(nodes, inputs, outputs, weights=()):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    graph = onnx.helper.make_graph(
        nodes, "g", inputs, outputs, [onnx.numpy_helper.from_array(w, n) for n, w in weights]
    )
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9), "m.onnx")


def test_onnx_of_a_matrix():
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    weight = np.array([[2.0], [0.0], [-1.0]])
    save_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        [make("x", kind, [None, 3])],
        [make("y", kind, [None, 1])],
        [("w", weight)],
    )
    fx = same_effects("m.onnx", lambda rows: rows.to_numpy() @ weight)
    assert fx.provenance["model"] == "ONNX graph"
    with pytest.raises(rhale.RhaleError, match="takes 3 columns, the table has 2"):
        rhale.explain("m.onnx", X[["a", "b"]])


def test_onnx_of_named_columns():
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    save_graph(
        [onnx.helper.make_node("Mul", ["a", "c"], ["y"])],
        [make("a", kind, [None, 1]), make("c", kind, [None, 1])],
        [make("y", kind, [None, 1])],
    )
    assert load_file("m.onnx").columns == ("a", "c")
    shuffled = rhale.explain(load_file("m.onnx"), X[["c", "b", "a"]])  # found by their names
    ordered = same_effects("m.onnx", lambda rows: (rows["a"] * rows["c"]).to_numpy(), X[["a", "c"]])
    assert shuffled.effects == ordered.effects
    assert "'b'" in shuffled.notes[0]


def test_onnx_of_a_classifier_names_its_classes():
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    model = onnx.helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        coefficients=[-1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        intercepts=[0.0, 0.0],
        classlabels_strings=["no", "yes"],
        post_transform="SOFTMAX",
    )
    zipped = onnx.helper.make_node(
        "ZipMap", ["scores"], ["prob"], domain="ai.onnx.ml", classlabels_strings=["no", "yes"]
    )
    prob = onnx.helper.make_value_info(
        "prob",
        onnx.helper.make_sequence_type_proto(
            onnx.helper.make_map_type_proto(
                onnx.TensorProto.STRING, onnx.helper.make_tensor_type_proto(kind, [])
            )
        ),
    )
    label = make("label", onnx.TensorProto.STRING, [None])
    save_graph([model, zipped], [make("x", kind, [None, 3])], [label, prob])
    fx = rhale.explain("m.onnx", X)
    assert fx.outputs == ("yes",)
    assert fx["a"].curve([1.0]) > 0
    np.testing.assert_allclose(fx["b"].mean, 0, atol=1e-6)


def test_an_error_of_onnx_is_one_line_that_names_the_file():
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    tensor = onnx.helper.make_tensor("w", kind, [3], np.zeros(3, np.float32).tobytes(), raw=True)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/passwd")
    node = onnx.helper.make_node("Add", ["x", "w"], ["y"])
    ends = [make("x", kind, [None, 3])], [make("y", kind, [None, 3])]
    graph = onnx.helper.make_graph([node], "g", *ends, [tensor])
    Path("m.onnx").write_bytes(onnx.helper.make_model(graph, ir_version=9).SerializeToString())
    with pytest.raises(BadFileError, match=r"^onnxruntime cannot load m\.onnx: .*") as refused:
        load_file("m.onnx")
    assert "\n" not in str(refused.value)


# --- pickles, in every disguise ----------------------------------------------------------------


def by_joblib(model, path, **options):
    pytest.importorskip("joblib").dump(model, path, **options)


def by_torch(model, path, **options):
    pytest.importorskip("torch").save(model, path, **options)


def by_pickle(model, path, protocol=None):
    Path(path).write_bytes(pickle.dumps(model, protocol))


WRITERS = {
    "pickle": by_pickle,
    "pickle 0": lambda m, p: by_pickle(m, p, 0),
    "pickle 2": lambda m, p: by_pickle(m, p, 2),
    "joblib": by_joblib,
    "torch": by_torch,
    "torch legacy": lambda m, p: by_torch(m, p, _use_new_zipfile_serialization=False),
}
PACKERS = ("zlib", "gzip", "bz2", "xz", "lzma")
SUFFIXES = [".pkl", ".joblib", ".pt", ".skops", ".onnx", ".json", ".txt", ".cbm", ".pt2", ""]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_pickle_is_refused_whatever_its_name(writer):
    for suffix in SUFFIXES:
        path = f"model{suffix}"
        WRITERS[writer](Bite(), path)
        with pytest.raises(UnsafeFileError, match=r"is a pickle .* runs whatever code") as refused:
            load_file(path)
        assert hash_of(Path(path).read_bytes()) in str(refused.value)


@pytest.mark.parametrize("packer", PACKERS)
def test_the_exact_hash_lets_a_compressed_pickle_through(packer):
    model = LinearRegression().fit(X, Y)
    by_joblib(model, "m.joblib", compress=(packer, 3))
    allowed = hash_of(Path("m.joblib").read_bytes())
    loaded = load_file("m.joblib", allow_pickle=allowed)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(UnsafeFileError, match=rf"but m.joblib is {allowed}: it is another file"):
        load_file("m.joblib", allow_pickle="sha256:0")


def test_a_pickle_inside_a_skops_archive_is_refused():
    with zipfile.ZipFile("m.skops", "w") as archive:
        archive.writestr("schema.json", "{}")
        archive.writestr("data", pickle.dumps(Bite()))
    with pytest.raises(UnsafeFileError, match="is a pickle"):
        load_file("m.skops")


@pytest.mark.parametrize("writer", [w for w in WRITERS if "torch" not in w])
def test_the_exact_hash_is_the_way_through(writer):
    model = LinearRegression().fit(X, Y)
    WRITERS[writer](model, "m.pkl")
    allowed = hash_of(Path("m.pkl").read_bytes())
    np.testing.assert_array_equal(
        load_file("m.pkl", allow_pickle=allowed).predict(X), model.predict(X)
    )
    with pytest.raises(UnsafeFileError, match=r"it is another file, or it was changed"):
        load_file("m.pkl", allow_pickle=allowed[:-1] + "g")


def test_the_exact_hash_lets_a_module_of_torch_through():
    torch = pytest.importorskip("torch")
    torch.save(torch.nn.Linear(3, 1), "m.pt")
    allowed = hash_of(Path("m.pt").read_bytes())
    assert isinstance(load_file("m.pt", allow_pickle=allowed), torch.nn.Linear)


def test_python_reads_no_pickle_either():
    by_pickle(Bite(), "m.pkl")
    with pytest.raises(UnsafeFileError, match="is a pickle"):
        rhale.explain("m.pkl", X)


# --- files that are nothing --------------------------------------------------------------------


EMPTY_ARCHIVE = b"PK\x05\x06" + bytes(18)


@pytest.mark.parametrize("content", [b"nothing", EMPTY_ARCHIVE])
def test_a_damaged_archive_is_an_error_that_names_it(content):
    pytest.importorskip("skops")
    Path("m.skops").write_bytes(content)
    with pytest.raises(BadFileError, match=r"m\.skops"):
        load_file("m.skops")


def test_an_unknown_kind_is_answered_with_the_known_ones():
    Path("m.h5").write_bytes(b"\x89HDF")
    with pytest.raises(BadFileError, match=r"ONNX \(.onnx\), .* skops \(.skops\)"):
        load_file("m.h5")


def test_a_file_by_another_name_is_an_error_that_says_what_it_is():
    Path("m.onnx").write_bytes(b"CBM1")
    with pytest.raises(BadFileError, match="named as ONNX, but its content is CatBoost"):
        load_file("m.onnx")


def test_an_explanation_is_no_model():
    rhale.explain(lambda rows: rows["a"].to_numpy(), X).save("effects.json")
    with pytest.raises(BadFileError, match="a saved explanation, not a model"):
        load_file("effects.json")


# --- models that crash, hang or eat memory, as processes ---------------------------------------

CRAFTED = """
import os, signal, sys, time
import numpy as np

def sleeps(rows):
    while True:
        time.sleep(1)

def kills_itself(rows):
    os.kill(os.getpid(), signal.SIGSEGV)

def leaves(rows):
    sys.exit(0)

def hoards(rows):
    kept = [bytearray(2**26) for _ in iter(list, None)]
"""


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("sleeps", "error: the model took longer than 4 seconds and was stopped"),
        ("kills_itself", "error: the model crashed: its process was ended by SIGSEGV"),
        ("leaves", "error: the model ended its process with exit code 0"),
        ("hoards", "error: the model and the table need more than 2 GiB of memory"),
    ],
)
def test_a_crafted_model_is_one_sentence(model, sentence):
    pytest.importorskip("typer")
    Path("crafted.py").write_text(CRAFTED)
    done = explain_process(f"crafted:{model}", "4" if model == "sleeps" else "600")
    assert done.stderr.startswith(sentence)


def test_a_file_that_crashes_its_library_is_one_sentence():
    """Lists in lists, deep enough for the stack of XGBoost's reader to end."""
    pytest.importorskip("typer")
    pytest.importorskip("xgboost")
    Path("deep.json").write_text('{"learner": ' + "[" * 200_000)
    done = explain_process("deep.json")
    assert done.stderr.startswith(("error: the model crashed", "error: xgboost cannot load"))


def explain_process(model, seconds="600"):
    X.to_csv("rows.csv", index=False)
    limits = ["--max-memory", "2G", "--max-seconds", seconds]
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "rhale.cli", "explain", model, "rows.csv", *limits],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    return done
