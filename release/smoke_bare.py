"""What must work after `pip install rhale`, without any extra. Run by release/check.py."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rhale

VERSION = sys.argv[1]
EXTRAS = (
    "vl_convert",
    "jinja2",
    "typer",
    "rich",
    "pyarrow",
    "numba",
    "treelite",
    "torch",
    "sklearn",
)


def product(rows: np.ndarray) -> np.ndarray:
    """Answer with the product of two columns: average effects of 0, and all of it spread."""
    return rows[:, 0] * rows[:, 1] + 3 * rows[:, 2]


def is_refused(call: object, extra: str) -> None:
    """A missing library is an error that names the extra to install."""
    try:
        call()
    except ImportError as error:
        assert isinstance(error, rhale.RhaleError), error
        assert f"rhale[{extra}]" in str(error), error
    else:
        msg = f"no error that names rhale[{extra}]"
        raise AssertionError(msg)


assert "site-packages" in Path(rhale.__file__).parts, rhale.__file__
assert not [name for name in EXTRAS if find_spec(name)], "this environment is not bare"
assert rhale.__version__ == VERSION, rhale.__version__
assert (Path(rhale.__file__).parent / "py.typed").exists()
assert all(getattr(rhale, name) is not None for name in rhale.__all__)

rows = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
fx = rhale.explain(product, rows)
print(fx)
line = fx["x2"]
assert np.allclose(line.curve([-0.5, 0.5]), [-1.5, 1.5], atol=0.1), line.curve([-0.5, 0.5])
assert line.typical_spread < 0.01
assert fx["x0"].typical_spread > 0.1

fx.plot()
fx.plot("x0")
plt.savefig("x0.png")
assert Path("x0.png").stat().st_size > 10_000

fx.save("effects.json")
again = rhale.load("effects.json")
assert np.array_equal(again["x0"].mean, fx["x0"].mean)
assert str(again) == str(fx)

ix = rhale.interactions(product, rows)
assert ix["x0", "x1"].strength > 0.25, ix["x0", "x1"].strength  # of x y on a square it is 1/3
assert ix["x0", "x2"].strength < 0.05

Path("rows.parquet").write_bytes(b"PAR1")
is_refused(lambda: fx.report("effects.html"), "report")
is_refused(lambda: rhale.explain(product, "rows.parquet"), "files")
command = Path(sys.executable).with_name("rhale.exe" if sys.platform == "win32" else "rhale")
told = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)
assert told.returncode == 1, told
assert "rhale[cli]" in told.stderr, told
print("without extras: good")
