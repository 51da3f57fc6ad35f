"""`import rhale` is light, and exports what it says."""

import ast
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import rhale

OPTIONAL = [
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "torch",
    "jax",
    "sklearn",
    "scipy",
    "xgboost",
    "lightgbm",
    "catboost",
    "numba",
    "treelite",
    "onnxruntime",
    "jinja2",
    "vl_convert",
    "typer",
    "rich",
    "skops",
    "dask",
    "pyspark",
    "ray",
]


def modules_after(code):
    script = f"import sys; {code}; print(*{{m.partition('.')[0] for m in sys.modules}})"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    return set(ran.stdout.split())


def test_importing_rhale_imports_no_optional_library():
    assert not modules_after("import rhale") & set(OPTIONAL)


def test_explaining_a_function_of_an_array_imports_no_optional_library():
    work = (
        "import rhale, numpy; X = numpy.arange(40.0).reshape(20, 2); "
        "fx = rhale.explain(lambda r: r[:, 0], X); print(fx, file=sys.stderr)"
    )
    assert not modules_after(work) & set(OPTIONAL)


def test_every_public_name_is_there():
    assert len(set(rhale.__all__)) == len(rhale.__all__)
    for name in rhale.__all__:
        assert getattr(rhale, name) is not None


def test_nothing_else_is_public():
    """What a star import gives is __all__; modules of the package do not count."""
    given = {}
    exec("from rhale import *", given)  # noqa: S102 - a star import is not allowed in a function
    assert set(given) - {"__builtins__"} == set(rhale.__all__)
    public = {n for n, v in vars(rhale).items() if not n.startswith("_") and not _is_module(v)}
    assert public == set(rhale.__all__) - {"models"}


def _is_module(value):
    return type(value) is type(sys)


def test_a_name_comes_from_the_room_that_type_checkers_read():
    tree = ast.parse(Path(rhale.__file__).read_text(encoding="utf-8"))
    told = {
        name.name: line.module.removeprefix("rhale").removeprefix(".")
        for block in tree.body
        if isinstance(block, ast.If)
        for line in block.body
        for name in line.names
    }
    assert told.pop("models") == ""
    assert told == rhale._ROOMS


def test_importing_loads_no_calls_and_the_listing_names_them_all():
    code = (
        "import rhale, sys; assert 'rhale.pipeline' not in sys.modules; "
        "print(*dir(rhale)); from rhale import explain; assert rhale.explain is explain"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert set(done.stdout.split()) >= {*rhale.__all__, "__version__", "plots", "style"}


@pytest.mark.parametrize("name", rhale._MODULES)
def test_a_room_opens_by_its_name(name):
    assert getattr(rhale, name).__name__ == f"rhale.{name}"


def test_plots_and_the_version_come_on_first_use():
    code = "import rhale, sys; assert 'matplotlib' not in sys.modules; print(rhale.plots.__name__)"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "rhale.plots"
    assert rhale.__version__ == installed_version()


def installed_version():
    try:
        return version("rhale")
    except PackageNotFoundError:
        return "unknown"


def test_an_unknown_name_is_refused_as_usual():
    with pytest.raises(AttributeError, match="no attribute 'plot'"):
        rhale.plot  # noqa: B018
    assert {*rhale.__all__} < {*dir(rhale)}
    assert not {name for name in dir(rhale) if name.startswith("_") and name != "__version__"}
    assert not {"pipeline", "execution", "system", "child"} & {*dir(rhale)}
    assert all(hasattr(rhale, name) for name in dir(rhale))
