"""The house stays as it was drawn: few doors, one purpose a file, data that flow one way."""

import ast
import importlib
import inspect
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rhale
from rhale.kernels import moments

HOUSE = Path(rhale.__file__).parent
TESTS = Path(__file__).resolve().parents[1] / "unit"
MODULES = sorted(HOUSE.rglob("*.py"))
RESULTS = {"Effect", "LevelEffect", "Profile"}
PUBLIC = {  # signatures that users call by keyword
    *("explain", "effect", "ci", "plot", "compare"),
    *("plot_effect", "plot_profile", "plot_all", "plot_compare", "plot_outputs"),
    *("plot_regions", "plot_refits"),
}
COMPILED = {
    "kernels/keys_loop.py",
    "kernels/moments_loop.py",
    "kernels/search_loop.py",
    "models/trees/walk.py",
    "models/trees/jump_walk.py",
    "models/trees/pair_walk.py",
    "gpu/fused_moments.py",
}  # numba and Triton know no keywords
ENTRY = {"__init__.py", "__main__.py"}  # doors: no purpose of their own
SCRIPTS = [  # that no other test imports
    path
    for folder in ("accuracy", "benchmarks")
    for path in sorted((TESTS.parents[1] / folder).glob("*.py"))
]


@cache
def trees():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def nodes(kind):
    return [(p, n) for p, tree in trees().items() for n in ast.walk(tree) if isinstance(n, kind)]


def named(path):
    return path.relative_to(HOUSE).as_posix()


def is_compiled(function):
    marks = map(ast.unparse, function.decorator_list)
    return any("jit" in mark or "compile_for" in mark for mark in marks)


def n_parameters(function):
    a = function.args
    found = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    return len([one for one in found if one.arg not in ("self", "cls")])


def test_the_listing_is_short():
    folders = [p for p in HOUSE.iterdir() if p.is_dir() and (p / "__init__.py").exists()]
    modules = [p.name for p in HOUSE.glob("*.py")]
    # four calls, each with its result: explanation, pairs, trainings, comparison
    assert len(modules) <= 12, modules
    assert len(folders) <= 13, folders


def test_no_two_rooms_have_files_of_one_name():
    counts = Counter(p.name for p in MODULES if p.name not in ENTRY)
    assert [name for name, n in counts.items() if n > 1] == []


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
    # two for pairs where features are named: who makes what; one for words of other libraries
    assert len(own) <= 18, own
    assert len(statements) <= 10


def test_the_kernel_is_five_hops_from_the_public_call(monkeypatch):
    depths, measure = [], moments.measure

    def counted(*arguments):
        frame, names = sys._getframe(1), []
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            if module.startswith("rhale.") and module != "rhale.names":  # that is the door, no step
                names.append(
                    frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else ""
                )
            frame = frame.f_back
        depths.append(names)
        return measure(*arguments)

    monkeypatch.setattr("rhale.measures.binned.measure", counted)
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


def test_functions_take_few_arguments():
    many = [
        f"{named(path)}:{one.name}"
        for path, one in nodes(ast.FunctionDef)
        if n_parameters(one) > 6
        and one.name not in PUBLIC
        and not is_compiled(one)
        and "cli/app.py" not in named(path)
    ]
    assert len(many) <= 4, many


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
            known |= {"numba", "llvmlite"}  # which is numba's compiler
        tree = trees()[path]
        for node in ast.walk(tree):
            found = [node.module] if isinstance(node, ast.ImportFrom) else []
            found += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            assert {name.split(".")[0] for name in found} <= known, path


@pytest.mark.skipif(not TESTS.exists(), reason="an installed package comes without tests")
def test_every_module_has_its_file_of_tests():
    lacking = []
    for path in MODULES:
        name = path.relative_to(HOUSE)
        file = f"test_{name.stem.lstrip('_')}.py"
        mirrors = [TESTS / name.parent / file, TESTS.parent / name.parent / file]  # tests/engines
        if path.name not in ENTRY and not any(mirror.exists() for mirror in mirrors):
            lacking.append(name.as_posix())
    assert lacking == []


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
