"""Threads of models and libraries: counted while they work, never more than asked for."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rhale.data import open_table
from rhale.errors import MissingExtraError
from rhale.execution import map_in_threads, threads
from rhale.execution.threads import count_jobs, limit_threads
from rhale.models import meet, wrap

MANY = 4  # threads that every library would take by itself
CHUNK_SECONDS = 0.03  # that one thread works on a chunk; there are four
USED = 1e6  # nanoseconds that a thread has worked
BUSY = 0.1  # of the work of all threads; to hand out work takes some too
N_LIMITED = 5  # tries of a limit: threads that ignore it are there in each of them
N_TRIES = 50  # until a thread of a library is seen; a busy machine has others to run
SHARE = Path("/proc/self/task")
N_CORES = count_jobs(-1)
needs_counts = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="threads are counted in /proc"
)


# --- counting -----------------------------------------------------------------------------------


class Counted:
    """Processor time of every thread of this process, those that end included."""

    def __enter__(self):
        self.before, self.used, self.is_over = self.times(), {}, False
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()
        return self

    def __exit__(self, *error):
        self.is_over = True
        self.watcher.join()
        self.used.pop(str(self.watcher.native_id), None)

    def watch(self):
        while not self.is_over:
            time.sleep(0.003)
            self.look()
        self.look()

    def look(self):
        for task, used in self.times().items():
            self.used[task] = used - self.before.get(task, 0)

    @staticmethod
    def times():
        found = {}
        for task in SHARE.iterdir():
            try:
                found[task.name] = int((task / "schedstat").read_text().split()[0])
            except OSError:  # it has ended
                continue
        return found

    def n_used(self):
        return sum(used > USED for used in self.used.values())

    def n_busy(self):
        """Threads that did a good share of the work, however long it took on this machine."""
        return sum(used > BUSY * sum(self.used.values()) for used in self.used.values())


def adapters(x, y):
    """Models that take as many threads as they can get, asked as black boxes; and walked trees."""
    import catboost
    import lightgbm
    import torch
    import xgboost
    from sklearn.ensemble import (
        HistGradientBoostingRegressor,
        RandomForestRegressor,
        VotingRegressor,
    )

    torch.set_num_threads(MANY)
    quiet = {"verbose": False, "allow_writing_files": False}
    cat = catboost.CatBoostRegressor(iterations=50, **quiet).fit(x, y)
    light = lightgbm.LGBMRegressor(n_estimators=20, n_jobs=MANY, verbose=-1)
    forest = RandomForestRegressor(20, max_depth=6, n_jobs=MANY, random_state=0)
    boosted = xgboost.XGBRegressor(n_estimators=50, max_depth=4, n_jobs=MANY).fit(x, y)
    parts = [torch.nn.Linear(8, 256), torch.nn.SiLU(), torch.nn.Linear(256, 256), torch.nn.SiLU()]
    network = torch.nn.Sequential(*parts, torch.nn.Linear(256, 1))
    weights = np.random.default_rng(0).normal(size=(8, 800)), np.ones((800, 800)) / 800
    voting = VotingRegressor([("cat", cat), ("light", light)]).fit(x, y)
    return {
        "forest": wrap(forest.fit(x, y), walk=False),
        "histograms": wrap(HistGradientBoostingRegressor(max_iter=20).fit(x, y), walk=False),
        "XGBoost": wrap(boosted, walk=False),
        "XGBoost Booster": wrap(boosted.get_booster(), walk=False),
        "LightGBM": wrap(light.fit(x, y), walk=False),
        "LightGBM Booster": wrap(light.booster_, walk=False),
        "CatBoost": wrap(cat, walk=False),
        "models in a model": wrap(voting),
        "torch": wrap(network),
        "BLAS": wrap(lambda rows: np.sin(rows @ weights[0]) @ weights[1]),
        "ONNX": wrap(Path(os.environ["GRAPH"])),
        "walked trees": meet(wrap(forest), open_table(x).chunk(0, 40))[0].adapter,
    }


def count_all():
    """Print how many threads each model kept busy, with limits and then without."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 8))
    y = np.sin(x[:, 0]) * x[:, 1]
    made, before, found = adapters(x, y), settings(), {}
    # around all: threads of BLAS that may work look for work, busily
    with limit_threads(wrap(len), 1):
        for name, adapter in made.items():
            chunks = [sized(adapter, x)] * 4
            found[name] = with_limits(adapter, chunks) | {"chunks": chunks}
    is_restored = settings() == before
    for name, adapter in made.items():
        found[name]["free"] = n_free(adapter, found[name].pop("chunks"))
    print(json.dumps({"models": found, "is_restored": is_restored}))  # noqa: T201


def with_limits(adapter, chunks):
    (one, answers), (two, again) = (fewest_busy(adapter, chunks, n) for n in (1, 2))
    return {"one": one, "two": two, "same": answers == again}


def fewest_busy(adapter, chunks, n_threads):
    """Threads that work under a limit: at the fewest, as a busy machine only ever adds some."""
    for _ in range(N_LIMITED):
        with adapter.session(), limit_threads(adapter, n_threads) as model:
            found, answers = asked(model, chunks, n_threads)
        if found.n_busy() <= n_threads:
            break
    return found.n_busy(), answers


def n_free(adapter, chunks):
    """Threads of a model without limits, once more than one was seen at work."""
    for _ in range(N_TRIES):
        found = asked(adapter, chunks, 1)[0].n_used()
        if found > 1:
            break
    return found


def asked(model, chunks, n_threads):
    """Threads that were used, and the answers to the last bit."""
    with Counted() as counted:
        if n_threads == 1:
            found = list(map(work(model), chunks))
        else:
            found = list(map_in_threads(work(model), chunks, n_threads))
    return counted, b"".join(np.ascontiguousarray(f).tobytes() for f in found)


def work(model):
    """What is asked of a model: slopes, if it has some."""
    return (
        (lambda rows: model.gradient(rows, (0,))[1]) if model.is_differentiable else model.predict
    )


def sized(adapter, rows):
    """As many rows as one thread answers for in the time of a chunk."""
    times, rows = [], np.resize(rows, (4_000, rows.shape[1]))
    with adapter.session(), limit_threads(adapter, 1) as model:
        for _ in range(4):
            start = time.thread_time()
            work(model)(rows)
            times.append(time.thread_time() - start)
    return np.resize(rows, (int(len(rows) * CHUNK_SECONDS / min(times)) + 1, rows.shape[1]))


def settings():
    """How many threads each library may start, for this thread and for all."""
    import ctypes

    import torch
    from joblib import effective_n_jobs
    from lightgbm.basic import _LIB
    from threadpoolctl import threadpool_info

    light = ctypes.c_int()
    _LIB.LGBM_GetMaxThreads(ctypes.byref(light))
    pools = sorted((p["filepath"], p["num_threads"]) for p in threadpool_info())
    with ThreadPoolExecutor(1) as other:
        numbers = torch.get_num_threads(), other.submit(torch.get_num_threads).result()
    return pools, numbers, light.value, effective_n_jobs(MANY)


def graph(path):
    """A network of two layers as a file."""
    import onnx

    make, numbers = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(0)
    weights = {"v": rng.normal(size=(8, 800)), "w": rng.normal(size=(800, 800))}
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "v"], ["z"]),
        onnx.helper.make_node("Tanh", ["z"], ["t"]),
        onnx.helper.make_node("MatMul", ["t", "w"], ["y"]),
    ]
    ends = [make("x", numbers, [None, 8])], [make("y", numbers, [None, 800])]
    held = [onnx.numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()]
    made = onnx.helper.make_graph(nodes, "net", *ends, held)
    opsets = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(made, opset_imports=opsets, ir_version=9), path)
    return str(path)


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """What `count_all` prints, from a process whose libraries may start many threads."""
    path = graph(tmp_path_factory.mktemp("graph") / "net.onnx")
    code = f"import runpy; runpy.run_path({__file__!r})['count_all']()"
    many = {f"{name}_NUM_THREADS": str(MANY) for name in ("OMP", "OPENBLAS", "MKL")}
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **many, "OMP_WAIT_POLICY": "passive", "GRAPH": path},
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


MODELS = [
    "forest",
    "histograms",
    "XGBoost",
    "XGBoost Booster",
    "LightGBM",
    "LightGBM Booster",
    "CatBoost",
    "models in a model",
    "torch",
    "BLAS",
    "ONNX",
    "walked trees",
]


@needs_counts
@pytest.mark.parametrize("name", MODELS)
def test_no_more_threads_work_than_were_asked_for(counts, name):
    found = counts["models"][name]
    assert found["one"] == 1
    assert found["two"] <= 2
    assert found["same"]


@needs_counts
@pytest.mark.usefixtures("shared_locks")  # without them joblib starts no threads
@pytest.mark.skipif(N_CORES < 2, reason="some libraries look at the cores")
@pytest.mark.parametrize("name", [name for name in MODELS if name != "walked trees"])
def test_without_limits_these_models_take_more(counts, name):
    assert counts["models"][name]["free"] > 1


@needs_counts
def test_all_numbers_of_threads_are_put_back(counts):
    assert counts["is_restored"]


# --- limits -------------------------------------------------------------------------------------


def test_no_number_leaves_everything_as_it_is(monkeypatch):
    monkeypatch.setattr(threads, "_PROCESS_LIMITS", {"numpy": pytest.fail})
    monkeypatch.setattr(threads, "_THREAD_LIMITS", {"numpy": pytest.fail})
    adapter = wrap(lambda rows: rows[:, 0])
    with limit_threads(adapter, None) as found:
        assert found is adapter


@pytest.fixture
def library(monkeypatch):
    """A library with one number of threads for all, and what was done to it."""
    done = []

    def limit(*_):
        done.append("limited")
        return lambda: done.append("restored")

    monkeypatch.setattr(threads, "_PROCESS_LIMITS", {"numpy": limit})
    return done


def test_limits_are_put_back_by_the_last_of_several_users(library):
    adapter = wrap(lambda rows: rows[:, 0])
    first, second = ExitStack(), ExitStack()
    first.enter_context(limit_threads(adapter, 1))
    second.enter_context(limit_threads(adapter, 2))
    first.close()
    assert library == ["limited"]
    second.close()
    assert library == ["limited", "restored"]


def test_limits_are_put_back_after_an_error(library):
    with pytest.raises(KeyError), limit_threads(wrap(lambda rows: rows[:, 0]), 1):
        raise KeyError
    assert library == ["limited", "restored"]


def test_limits_are_put_back_if_one_of_them_cannot_be_set(library, monkeypatch):
    def fail(*_):
        raise MissingExtraError

    monkeypatch.setitem(threads._PROCESS_LIMITS, "sys", fail)
    with pytest.raises(MissingExtraError), limit_threads(wrap(lambda rows: rows[:, 0]), 1):
        pytest.fail("it was set")
    assert library == ["limited", "restored"]
    assert threads._n_users == 0


@pytest.mark.parametrize("n_threads", [1, 2])
def test_libraries_are_looked_for_once_however_many_are_limited(monkeypatch, n_threads):
    found, threadpoolctl = [], pytest.importorskip("threadpoolctl")

    class Noted(threadpoolctl.ThreadpoolController):
        def __init__(self):
            found.append(self)
            super().__init__()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Noted)
    with limit_threads(wrap(lambda rows: rows[:, 0]), n_threads):
        assert len(found) == 1
        meanwhile = threadpoolctl.ThreadpoolController().info()
        assert {pool["num_threads"] for pool in meanwhile} <= {1}
        del found[:]
        list(map_in_threads(len, ["a", "b", "c"], n_threads))
    assert len(found) == 1  # for all threads of rhale's


@pytest.mark.parametrize(("is_started", "expected"), [(True, [1, 7]), (False, [])])
def test_functions_of_numba_are_kept_to_one_thread_once_its_threads_were_started(
    monkeypatch, is_started, expected
):
    done = []
    numba = SimpleNamespace(get_num_threads=lambda: 7, set_num_threads=done.append)
    pool = SimpleNamespace(_is_initialized=is_started)
    monkeypatch.setitem(sys.modules, "numba", numba)
    monkeypatch.setitem(sys.modules, "numba.np.ufunc.parallel", pool)
    with limit_threads(wrap(lambda rows: rows[:, 0]), 1):
        assert done == expected[:1]
    assert done == expected


def test_a_model_of_catboost_is_left_without_a_trace():
    catboost = pytest.importorskip("catboost")
    x = np.random.default_rng(0).normal(size=(50, 2))
    quiet = {"verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(iterations=2, **quiet).fit(x, x[:, 0])
    before, adapter = set(vars(model)), wrap(model)
    with limit_threads(adapter, 1) as alone:
        assert vars(model)["predict"].keywords == {"thread_count": 1}
        assert alone.predict(x).tolist() == type(model).predict(model, x).tolist()
    assert set(vars(model)) == before


def test_without_the_library_that_bounds_threads_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(
        threads, "find_spec", lambda name: None if name == "threadpoolctl" else find_spec(name)
    )
    with (
        pytest.raises(MissingExtraError, match=r"n_jobs=2 .* pip install threadpoolctl"),
        limit_threads(wrap(lambda rows: rows[:, 0]), 2),
    ):
        pytest.fail("it was not bounded")
