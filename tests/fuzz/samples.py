"""Good files, small and of several variants for each reader: what is damaged later.

Each maker fills a folder with one folder for each variant. The bytes are the same in every
session with the same libraries: nothing in them tells the time.
"""

import io
import re
import shutil
import zipfile
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
from tests.fuzz.mutations import zipped

import rhale

N = 60
ADDRESS = re.compile(rb"\d{12,}")  # by which skops names the parts of a model
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
CITIES = ["Bern", "Oslo", "Rome"]
OLD_FORMATS = Path(__file__).parents[1] / "unit" / "samples"
RNG = np.random.default_rng(14)
NUMBERS = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
MIXED = NUMBERS.assign(city=pd.Categorical(RNG.choice(CITIES, N), CITIES))
Y = (2 * NUMBERS["a"] + NUMBERS["b"] * NUMBERS["c"]).to_numpy()
CLASSES = np.digitize(Y, [-1.0, 1.0])
WITH_GAPS = NUMBERS.mask(RNG.random((N, 3)) < 0.1)
ROWS = MIXED.assign(
    gap=WITH_GAPS["a"],
    count=RNG.integers(0, 5, N),
    sold=np.datetime64("2020-01-01", "us") + RNG.integers(0, 900, N).astype("m8[D]"),
    new=RNG.random(N) < 0.4,
    name=[None if i % 9 == 0 else f"n{i % 4}" for i in range(N)],
)


def place(folder, variant, ending):
    """The file of a variant."""
    (folder / variant).mkdir(parents=True)
    return folder / variant / f"{variant}{ending}"


# --- boosters --------------------------------------------------------------------------------------


def make_xgboost(folder, ending):
    xgboost = import_module("xgboost")
    few = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
    models = {
        "numbers": xgboost.XGBRegressor(**few).fit(WITH_GAPS, Y),
        "classes": xgboost.XGBClassifier(**few).fit(NUMBERS, CLASSES),
        "categories": xgboost.XGBRegressor(enable_categorical=True, **few).fit(MIXED, Y),
        "dart": xgboost.XGBRegressor(booster="dart", rate_drop=0.5, **few).fit(NUMBERS, Y),
        "linear": xgboost.XGBRegressor(booster="gblinear", n_estimators=3).fit(NUMBERS, Y),
    }
    for variant, model in models.items():
        model.get_booster().save_model(place(folder, variant, ending))
    models["numbers"].save_model(place(folder, "estimator", ending))


def make_lightgbm(folder):
    lightgbm = import_module("lightgbm")
    few = {"n_estimators": 3, "num_leaves": 6, "verbose": -1, "n_jobs": 1, "min_child_samples": 4}
    few |= {"min_data_per_group": 2, "cat_smooth": 1.0}
    models = {
        "numbers": lightgbm.LGBMRegressor(**few).fit(WITH_GAPS, Y),
        "classes": lightgbm.LGBMClassifier(**few).fit(NUMBERS, CLASSES),
        "categories": lightgbm.LGBMRegressor(**few).fit(MIXED[["city", "a"]], Y),
        "linear": lightgbm.LGBMRegressor(linear_tree=True, **few).fit(NUMBERS, Y),
    }
    for variant, model in models.items():
        model.booster_.save_model(place(folder, variant, ".txt"))


def make_catboost(folder):
    catboost = import_module("catboost")
    few = {"n_estimators": 3, "depth": 3, "verbose": 0, "allow_writing_files": False}
    few |= {"thread_count": 1, "random_seed": 0}
    models = {
        "numbers": catboost.CatBoostRegressor(**few).fit(WITH_GAPS, Y),
        "classes": catboost.CatBoostClassifier(**few).fit(NUMBERS, CLASSES),
        "categories": catboost.CatBoostRegressor(**few, cat_features=["city"]).fit(MIXED, Y),
        "lossguide": catboost.CatBoostRegressor(grow_policy="Lossguide", **few).fit(NUMBERS, Y),
    }
    for variant, model in models.items():
        notes = model.get_metadata()
        for name in ("model_guid", "train_finish_time"):  # by chance, and by the clock
            notes[name] = ""
        for name in ("output_options", "training"):  # a good part of the file, of no use
            notes[name] = "{}"
        model.save_model(place(folder, variant, ".cbm"))


# --- graphs and estimators -------------------------------------------------------------------------


def make_onnx(folder):
    onnx = import_module("onnx")
    make, node = onnx.helper.make_tensor_value_info, onnx.helper.make_node
    rows, answers = make("x", 1, [None, 3]), make("y", 1, [None, 1])
    rng = np.random.default_rng(1)
    weights = {"w": rng.normal(size=(3, 4)), "v": rng.normal(size=(4, 1))}
    layers = [
        node("MatMul", ["x", "w"], ["h"]),
        node("Tanh", ["h"], ["t"]),
        node("MatMul", ["t", "v"], ["y"]),
    ]
    held = [onnx.numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()]
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    tree = node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1,
        nodes_treeids=[0] * 5, nodes_nodeids=[0, 1, 2, 3, 4], nodes_featureids=[0, 1, 0, 0, 0],
        nodes_values=[0.1, -0.2, 0.0, 0.0, 0.0], nodes_hitrates=[1.0] * 5,
        nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 3, 0, 0, 0], nodes_falsenodeids=[2, 4, 0, 0, 0],
        nodes_missing_value_tracks_true=[0] * 5, target_treeids=[0] * 3, target_nodeids=[2, 3, 4],
        target_ids=[0] * 3, target_weights=[1.0, 2.0, -1.0],
    )  # fmt: skip
    classifier = node(
        "LinearClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", intercepts=[0.0, 0.0],
        coefficients=[-1.0, 0.0, 0.5, 1.0, 0.0, -0.5], classlabels_ints=[0, 1], post_transform="SOFTMAX",
    )  # fmt: skip
    graphs = {
        "layers": (layers, [answers], held),
        "beside": (layers, [answers], held),
        "tree": ([tree], [answers], []),
        "classes": ([classifier], [make("label", 7, [None]), make("y", 1, [None, 2])], []),
    }
    for variant, (nodes, outputs, tensors) in graphs.items():
        graph = onnx.helper.make_graph(nodes, "g", [rows], outputs, tensors)
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9)
        beside = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
        onnx.save(model, place(folder, variant, ".onnx"), **(beside if variant == "beside" else {}))


def make_skops(folder):
    skops, sklearn = import_module("skops.io"), import_module("sklearn")
    for name in ("ensemble", "linear_model", "neighbors", "pipeline", "preprocessing", "svm"):
        import_module(f"sklearn.{name}")
    forest = sklearn.ensemble.RandomForestRegressor(3, max_depth=3, random_state=0)
    histogram = sklearn.ensemble.HistGradientBoostingRegressor(
        max_iter=2, max_leaf_nodes=5, random_state=0
    )
    scaled = sklearn.preprocessing.StandardScaler(), sklearn.linear_model.LogisticRegression()
    models = {
        "forest": forest.fit(NUMBERS, Y),
        "histogram": histogram.fit(NUMBERS, Y),
        "pipeline": sklearn.pipeline.make_pipeline(*scaled).fit(NUMBERS, CLASSES),
        "machine": sklearn.svm.SVC().fit(NUMBERS, CLASSES),
        "neighbours": sklearn.neighbors.KNeighborsRegressor(3).fit(NUMBERS, Y),
    }
    for variant, model in models.items():
        path = place(folder, variant, ".skops")
        skops.dump(model, path)
        path.write_bytes(repacked(path.read_bytes()))


def repacked(content):
    """The same archive, without the time of its making and without addresses in memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    known: dict[bytes, bytes] = {}

    def number(found):
        return known.setdefault(found[0], b"%d" % (100 + len(known)))

    members = [(n, ADDRESS.sub(number, d) if n == "schema.json" else d) for n, d in members]
    return zipped([(ADDRESS.sub(number, n.encode()).decode(), d) for n, d in members], {})


# --- tables ----------------------------------------------------------------------------------------


def make_parquet(folder):
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    table = pa.Table.from_pandas(ROWS)
    ROWS.to_parquet(place(folder, "pandas", ".parquet"))
    pq.write_table(table, place(folder, "zstd", ".parquet"), compression="zstd", row_group_size=20)
    plain = {"use_dictionary": False, "compression": "none", "data_page_version": "2.0"}
    pq.write_table(table, place(folder, "plain", ".parquet"), **plain)


def make_arrow(folder):
    pa, feather = import_module("pyarrow"), import_module("pyarrow.feather")
    table = pa.Table.from_pandas(ROWS)
    with pa.ipc.new_file(place(folder, "plain", ".arrow"), table.schema) as file:
        file.write_table(table, max_chunksize=20)
    for packer in ("lz4", "zstd"):
        feather.write_feather(table, place(folder, packer, ".feather"), compression=packer)


def make_stream(folder):
    pa = import_module("pyarrow")
    table = pa.Table.from_pandas(ROWS)
    for packer in (None, "lz4"):
        options = pa.ipc.IpcWriteOptions(compression=packer)
        path = place(folder, packer or "plain", ".arrow")
        with pa.ipc.new_stream(path, table.schema, options=options) as stream:
            stream.write_table(table, max_chunksize=20)


def make_csv(folder, ending):
    ROWS.to_csv(place(folder, "rows", ending), index=False, compression=packing(ending))
    NUMBERS.to_csv(place(folder, "numbers", ending), index=False, compression=packing(ending))


def packing(ending):
    return {"method": "gzip", "mtime": 0} if ending.endswith("gz") else None


# --- results ---------------------------------------------------------------------------------------


def answer(rows):
    """A stand-in for a model: numbers from whatever columns there are."""
    numbers = pd.DataFrame(rows).select_dtypes(["number", "bool"]).to_numpy(dtype=np.float64)
    held = np.clip(np.nan_to_num(numbers), -1e6, 1e6)
    return held.sum(axis=1) + np.prod(np.tanh(held[:, :2]), axis=1)


def two_answers(rows):
    return np.column_stack([answer(rows), answer(rows) ** 2])


def grow_trees(rows):
    """Trees whose jumps are saved."""
    model = import_module("sklearn.ensemble").HistGradientBoostingRegressor(
        max_iter=3, min_samples_leaf=5
    )
    return model.fit(rows, answer(rows))


def make_explanations(folder):
    for version in (1, 2, 3, 4, 5):
        shutil.copy(
            OLD_FORMATS / f"format_{version}.json", place(folder, f"format_{version}", ".json")
        )
    kinds = {
        "numbers": (two_answers, WITH_GAPS, "rhale"),
        "levels": (answer, ROWS[["city", "count", "sold"]], "rhale"),
        "trees": (grow_trees(NUMBERS), NUMBERS, "rhale"),
        **{method: (answer, NUMBERS[["a"]], method) for method in ("ale", "pdp", "ice", "mplot")},
    }
    for variant, (model, table, method) in kinds.items():
        fx = rhale.explain(model, table, method=method)
        made = {**fx.provenance, "created": "2020-01-01T00:00:00+00:00"}
        fx = replace(fx, provenance=made)
        fx.save(place(folder, variant, ".json"))


def table_of(variant):
    """Tables in memory, whose first pass is not kept, and in pieces, of which rows are."""
    if variant != "file":
        return NUMBERS.to_numpy() if variant == "array" else ROWS
    import pyarrow as pa
    from pyarrow import fs, parquet

    disk = fs._MockFileSystem(current_time=EPOCH)  # the same path, size and time every time
    parquet.write_table(pa.Table.from_pandas(ROWS), "rows.parquet", filesystem=disk)
    return import_module("pyarrow.dataset").dataset("rows.parquet", filesystem=disk)


def resume(folder, *, stop=False):
    """Explain with a checkpoint; stop in the middle of the second pass where told so."""
    passed = folder / "effects-20.checkpoint"

    def model(rows):
        if stop and passed.exists():
            raise InterruptedError
        return answer(rows.to_pandas() if hasattr(rows, "to_pandas") else rows)

    return rhale.explain(model, table_of(folder.name), checkpoint=folder, batch_size=20)


def make_checkpoints(folder):
    checkpoint = import_module("rhale.execution.checkpoint.folder")
    checkpoint.EVERY_SECONDS = checkpoint.SPARED_SHARE = 0  # in a process that ends soon
    for variant in ("array", "pandas", "file"):
        (folder / variant).mkdir(parents=True)
        with suppress(rhale.RhaleError):
            resume(folder / variant, stop=True)
        (folder / variant / "lock").unlink()
