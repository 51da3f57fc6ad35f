"""The house stays as it was drawn: few doors, one purpose a file, data that flow one way."""

import ast
import importlib
import inspect
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rhale
from rhale.effects.binning import moments

HOUSE = Path(rhale.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(HOUSE.rglob("*.py"))
RESULTS = {"Effect", "LevelEffect", "Profile"}
COMPILED = {
    "stats/hash_loop.py",
    "effects/binning/moments_loop.py",
    "effects/binning/search_loop.py",
    "models/trees/walk.py",
    "models/trees/jump_walk.py",
    "models/trees/pair_walk.py",
}  # numba knows no keywords
SCRIPTS = [  # that no other test imports
    path for folder in ("accuracy", "benchmarks") for path in sorted((ROOT / folder).glob("*.py"))
]


@cache
def trees():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def nodes(kind):
    return [(p, n) for p, tree in trees().items() for n in ast.walk(tree) if isinstance(n, kind)]


def named(path):
    return path.relative_to(HOUSE).as_posix()


def test_no_public_function_shadows_a_module():
    for name in rhale.__all__:
        if inspect.isfunction(getattr(rhale, name)):
            assert not (HOUSE / f"{name}.py").exists()
            assert not (HOUSE / name).exists()


def test_explain_reads_as_a_list_of_steps():
    tree = trees()[HOUSE / "_explain.py"]
    imports = [n for n in tree.body if isinstance(n, ast.ImportFrom)]
    own = [a.name for n in imports if n.module.startswith("rhale") for a in n.names]
    *overloads, explain = [n for n in tree.body if getattr(n, "name", "") == "explain"]
    assert all(n.decorator_list for n in overloads)
    statements = [n for s in explain.body[1:] for n in ast.walk(s) if isinstance(n, ast.stmt)]
    # two for pairs where features are named: who makes what; one for words of other libraries;
    # one for models in files; the last step blames a checkpoint where that is to blame
    assert len(own) <= 19, own
    assert len(statements) <= 11


def test_the_kernel_is_five_hops_from_the_public_call(monkeypatch):
    depths, measure = [], moments.measure_moments

    def counted(*arguments):
        frame, names = sys._getframe(1), []
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            is_door = module in ("rhale.naming", "rhale.models.files.sandbox")  # no step
            if module.startswith("rhale.") and not is_door:
                names.append(
                    frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else ""
                )
            frame = frame.f_back
        depths.append(names)
        return measure(*arguments)

    monkeypatch.setattr("rhale.effects.local.binned.measure_moments", counted)
    rhale.explain(lambda rows: rows[:, 0], np.random.default_rng(0).normal(size=(100, 2)))
    assert len(depths) == 2
    assert len(depths[0]) <= 5, depths[0]


def test_calls_name_their_arguments():
    long = [
        f"{named(path)}:{call.lineno}"
        for path, call in nodes(ast.Call)
        if len([a for a in call.args if not isinstance(a, ast.Starred)]) >= 8
        and named(path) not in COMPILED
    ]
    assert long == []


def test_nobody_asks_which_class_a_result_is():
    asked = [
        f"{named(path)}:{call.lineno}"
        for path, call in nodes(ast.Call)
        if getattr(call.func, "id", "") == "isinstance"
        and not named(path).startswith("results/")
        and RESULTS & {n.id for n in ast.walk(call.args[1]) if isinstance(n, ast.Name)}
    ]
    assert len(asked) <= 10, asked


def test_kernels_know_numpy_alone():
    for path in (HOUSE / "kernels").glob("*.py"):
        known = {"numpy", "rhale", *sys.stdlib_module_names}
        if path.name.endswith("_loop.py"):  # numba's rooms; only `when_compiled` opens them
            known |= {"numba"}
        tree = trees()[path]
        for node in ast.walk(tree):
            found = [node.module] if isinstance(node, ast.ImportFrom) else []
            found += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            assert {name.split(".")[0] for name in found} <= known, path


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_scripts_name_only_what_there_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "rhale":
            try:
                room = importlib.import_module(node.module)
            except ModuleNotFoundError as error:
                if str(error.name).startswith("rhale"):
                    raise
                pytest.skip(f"{node.module} needs {error.name}")
            for one in node.names:
                if not hasattr(room, one.name):
                    importlib.import_module(f"{node.module}.{one.name}")
