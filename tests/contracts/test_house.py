"""What keeps the house easy to live in: one name for one thing, data that flow one way, a short way through."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from fnmatch import fnmatchcase
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
# Names that two modules define. This list may only become shorter: a call of the command is named
# as the call of Python that it makes, and a program that is started has a `main`.
TWICE = {
    "main": {"child", "cli/__init__", "cli/child", "system/closed"},
    "explain": {"api", "cli/app"},
    "interactions": {"cli/app", "interaction/api"},
    "refit": {"cli/app", "stability/api"},
    "Partner": {"regions/partners", "regions/result"},  # both are public
}
# What is above knows what is below, never the reverse; the first pattern that fits a module counts.
LAYERS = (
    "cli/*",
    "child",
    "api interaction/api stability/api",
    "pipeline",
    "models/files/sandbox",
    "stability/result interaction/result comparison/result effects/explanation",
    "report/* */report */charts",
    "plots/* */plot */plot_all",
    "execution/gpu/*",
    (
        "effects/local/* regions/estimate regions/groups interaction/plan interaction/estimate "
        "interaction/differences interaction/partial_dependence interaction/h_statistic "
        "interaction/greenwell"
    ),
    "features/*",
    "execution/*",
    "models/*",
    "data/*",
    "settings",
    "effects/* regions/* interaction/* stability/* comparison/* output/*",
    "naming stats/* system/* errors",
)
# A result is drawn and shown by itself, `fx["age"].plot()`: what is above is imported in functions.
# So are compiled loops, where numba is there.
UPWARDS = {
    ("output/doors", "plots/choice"),
    ("output/doors", "report/notebook"),
    ("output/doors", "interaction/report"),
    ("output/doors", "stability/report"),
    ("stats/jit", "effects/binning/moments_loop"),
    ("stats/jit", "effects/binning/search_loop"),
}


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


def names_at_the_top(tree):
    """Functions, classes and constants that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)):
                if re.fullmatch(r"_?[A-Z][A-Z0-9_]+", name):
                    yield name


def test_one_name_is_defined_in_one_module():
    places = defaultdict(set)
    for path, tree in trees().items():
        for name in names_at_the_top(tree):
            places[name].add(named(path).removesuffix(".py"))
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert twice == TWICE


def imports(path, *, late):
    """Modules of the package that one imports: at its top, or in functions, too."""
    own = {".".join(("rhale", *p.relative_to(HOUSE).with_suffix("").parts)): p for p in MODULES}

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and child.module:
                for one in child.names:
                    inner = f"{child.module}.{one.name}"
                    yield own.get(inner, own.get(child.module))
            elif late or not isinstance(child, ast.FunctionDef):
                yield from visit(child)

    return {found for found in visit(trees()[path]) if found is not None} - {path}


def test_no_modules_import_each_other():
    left = {path: imports(path, late=False) for path in MODULES}
    while free := [path for path, needed in left.items() if not needed & left.keys()]:
        for path in free:
            del left[path]
    assert not left, sorted(map(named, left))


def layer_of(name):
    for i, patterns in enumerate(LAYERS):
        if any(name == p.removesuffix("/*") or fnmatchcase(name, p) for p in patterns.split()):
            return i
    raise AssertionError(name)


def test_data_flow_one_way():
    upwards = set()
    for path in MODULES:
        name = named(path).removesuffix(".py").removesuffix("/__init__")
        if name == "__init__":
            continue
        for found in imports(path, late=True):
            other = named(found).removesuffix(".py").removesuffix("/__init__")
            if other != "__init__" and layer_of(other) < layer_of(name):
                upwards.add((name, other))
    assert upwards == UPWARDS


def trace(call):
    """Functions and modules of the package that a call goes through; what was seen before is warm."""
    call()
    functions = set()

    def look(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        code = frame.f_code
        if event == "call" and name.startswith("rhale") and not code.co_name.startswith("<"):
            functions.add((name, code.co_firstlineno))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(functions), len({name for name, _ in functions})


def function_call():
    rows = np.random.default_rng(0).normal(size=(2000, 4))
    return lambda: rhale.explain(lambda r: r[:, 0] * r[:, 1] + np.sin(r[:, 2]), rows)


def lightgbm_call():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 4))
    model = lightgbm.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=1)
    model.fit(rows, rows[:, 0] * rows[:, 1])
    return lambda: rhale.explain(model, rows)


def effect_call():
    x = np.random.default_rng(0).normal(size=2000)
    return lambda: rhale.effect(x, np.sin(x), bins=rhale.Fixed(20))


@pytest.mark.parametrize(
    ("make", "most_functions", "most_modules"),
    [(function_call, 600, 72), (lightgbm_call, 700, 86), (effect_call, 135, 26)],
)
def test_a_call_goes_a_short_way(make, most_functions, most_modules):
    code = (
        f"import runpy; own = runpy.run_path({__file__!r}); "
        f"print(*own['trace'](own[{make.__name__!r}]()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    functions, modules = map(int, done.stdout.split()[-2:])
    assert functions <= most_functions
    assert modules <= most_modules


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
        and not named(path).startswith(("effects/", "regions/", "comparison/"))
        and RESULTS & {n.id for n in ast.walk(call.args[1]) if isinstance(n, ast.Name)}
    ]
    assert len(asked) <= 10, asked


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
