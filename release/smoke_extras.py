"""What must work after `pip install "rhale[trees,files,report,cli]"`. Run by release/check.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import rhale

VERSION, README = sys.argv[1:]
TREE = "sklearn.tree._tree.Tree"  # skops does not know it to be safe, and asks
COMMAND = Path(sys.executable).with_name("rhale.exe" if sys.platform == "win32" else "rhale")


def first_example(page: str) -> str:
    """Cut the first block of Python out of a page."""
    return page.split("```python\n", 1)[1].split("```", 1)[0]


def run(*arguments: str) -> str:
    """Run the command, which must succeed."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"rhale {arguments}: {done.stderr}"
    return done.stdout


assert "site-packages" in Path(rhale.__file__).parts, rhale.__file__
code = compile(first_example(Path(README).read_text(encoding="utf-8")), "README.md", "exec")
exec(code, {"__name__": "__main__"})  # noqa: S102 - our own page

X, y = load_diabetes(return_X_y=True, as_frame=True)
forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(X, y)
fx = rhale.explain(forest, X)
assert not any("asked" in note for note in fx.notes), fx.notes  # trees are walked
fx.report("forest.html")
page = Path("forest.html").read_text(encoding="utf-8")
assert page.lstrip().lower().startswith("<!doctype html>")
assert page.count("<script") > 0

skops.io.dump(forest, "forest.skops")
pd.concat([X, y], axis=1).to_parquet("rows.parquet")
assert run("--version").strip() == VERSION
assert "explain" in run("--help")
asked = ("explain", "forest.skops", "rows.parquet", "--target", "target", "--trust", TREE)
run(*asked, "--json", "effects.json", "--out", "effects.html")
numbers = rhale.load("effects.json")
assert np.allclose(numbers["bmi"].mean, fx["bmi"].mean)
assert json.loads(Path("effects.json").read_text(encoding="utf-8"))
assert Path("effects.html").stat().st_size > 100_000
print("with extras: good")
