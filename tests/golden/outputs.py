"""What people see of results: texts, notebook views, pages, pictures, files, the command, errors."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.golden import tables as t
from tests.golden.plain import value

import rhale

Call = Callable[[], Any]
VERSIONS = {"versions", "rhale", "python"}  # of a saved file


class Seen(dict[str, Any]):
    """What was seen, as what JSON holds."""


def outputs(folder: Path) -> dict[str, Call]:
    """Every way to look at every kind of result, by name; files are made in `folder`."""
    looks = {"text": _text, "notebook": _notebook, "frames": _frames}
    written = {"page": partial(_page, folder), "file": partial(_saved, folder)}
    found = dict[str, Call]()
    for name, make in results().items():
        for look, see in (looks | {"picture": _picture} | written).items():
            if look in written and name.startswith("one "):
                continue
            found[f"{look} of {name}"] = partial(_look, see, make)
    return found | {f"command, {name}": call for name, call in commands(folder).items()} | errors()


def _look(see: Callable[[Any], Any], make: Call) -> Seen:
    return Seen({"seen": see(make())})


def results() -> dict[str, Call]:
    """Results of every kind, made once."""
    x, mixed = t.numbers(), t.mixed()
    explain = partial(rhale.explain, progress=False, n_jobs=1)
    made: dict[str, Call] = {
        "numbers": lambda: explain(t.smooth, x, regions=True),
        "slopes, units": lambda: explain(
            t.smooth, x, gradient=t.smooth_slopes, units={"x0": "m", "prediction": "EUR"}
        ),
        "steps": lambda: explain(t.steps, x, regions=True, weights=t.weights()),
        "mixed columns": lambda: explain(t.priced, mixed, regions=True),
        "two outputs": lambda: explain(t.two, x),
        "boosting": lambda: explain(t.fitted("hist"), t.coded(mixed)),
        "a far value": lambda: explain(np.tanh, _far()),
        "hostile names": lambda: explain(t.smooth, x, feature_names=HOSTILE),
        "profiles": lambda: explain(t.priced, mixed, method="ice", bins=5),
        "pairs": lambda: rhale.interactions(t.steps, x, progress=False),
        "pairs, mixed": lambda: rhale.interactions(
            t.priced, mixed, features=["city", "member", "income", "rooms"], progress=False
        ),
        "H": lambda: rhale.interactions(t.smooth, x[:60], method="h", progress=False),
        "refits": lambda: _refits(),
        "refits with pairs": lambda: _refits(pairs="all"),
        "comparison": lambda: rhale.compare(
            {"smooth": explain(t.smooth, x), "steps": explain(t.steps, x)}
        ),
    }
    kept: dict[str, Call] = {name: cache(make) for name, make in made.items()}
    single = {
        "one number": lambda: kept["numbers"]()[0],
        "one column of names": lambda: kept["mixed columns"]()["city"],
        "one column with gaps": lambda: kept["mixed columns"]()["income"],
        "one pair": lambda: kept["pairs"]()["x1", "x2"],
        "one profile": lambda: kept["profiles"]()["age"],
        "one effect of refits": lambda: kept["refits"]()["x0"],
        "one effect of two arrays": lambda: rhale.effect(x[:, 0], x[:, 1], name="a"),
    }
    return kept | single


HOSTILE = ["<b>x</b>", "a\x1b[31mb", "$x_1$ & y", "n" * 90]


def _far() -> np.ndarray:
    far = t.numbers()[:, :1].copy()
    far[0] = 1e6
    return far


def _refits(**options: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(max_iter=15, random_state=0)
    return rhale.refit(
        model, t.numbers(), t.target(), n_refits=4, n_jobs=1, progress=False, **options
    )


def _text(found: Any) -> list[str]:
    return [*str(found).splitlines(), *repr(found).splitlines()]


def _notebook(found: Any) -> list[str]:
    return re.split(r"(?<=>)", found._repr_html_()) if hasattr(found, "_repr_html_") else []


def _frames(found: Any) -> Any:
    """Every table that a result gives."""
    seen = dict[str, Any]()
    for name in ("to_frame", "summary", "splits_frame", "cells_to_frame"):
        if hasattr(found, name):
            with contextlib.suppress(rhale.RhaleError):
                made = getattr(found, name)("pandas")
                seen[name] = value({str(k): made[k].tolist() for k in made})
    return seen


def _page(folder: Path, found: Any) -> Any:
    """The page, piece by piece, and the numbers in it."""
    path = folder / "page.html"
    if not hasattr(found, "report"):
        return None
    found.report(path)
    return re.split(r"(?<=>)|(?<=\},)", path.read_text(encoding="utf-8"))


def _saved(folder: Path, found: Any) -> Any:
    """What a saved file holds, without versions."""
    if not hasattr(found, "save"):
        return None
    path = folder / "saved.json"
    found.save(path)
    return _without(json.loads(path.read_text(encoding="utf-8")))


def _without(found: Any) -> Any:
    if isinstance(found, dict):
        return {k: _without(v) for k, v in found.items() if k not in VERSIONS}
    return [_without(v) for v in found] if isinstance(found, list) else value(found)


def _picture(found: Any) -> Any:
    """Texts and data of a picture's parts, not its pixels."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    if not hasattr(found, "plot"):
        return None
    found.plot()
    seen = [list(_artists(plt.figure(number))) for number in plt.get_fignums()]
    plt.close("all")
    return seen


def _artists(figure: Any) -> Iterator[Any]:
    """Kind, text and data of every visible part."""
    figure.canvas.draw()
    for artist in figure.findobj():
        kind = type(artist).__name__
        if not artist.get_visible():
            continue
        if hasattr(artist, "get_text"):
            words = artist.get_text()
            if isinstance(words, str) and words:
                yield [kind, words]
        elif hasattr(artist, "get_xydata"):
            yield [kind, _rounded(artist.get_xydata())]
        elif hasattr(artist, "get_paths"):
            yield [kind, [_rounded(path.vertices) for path in artist.get_paths()[:50]]]
            yield [kind, _rounded(artist.get_offsets())]


def _rounded(numbers: Any) -> Any:
    return [float(f"{number:.9g}") for number in np.ravel(np.ma.filled(numbers, np.nan))]


def commands(folder: Path) -> dict[str, Call]:
    """Calls of the command, on files; what it prints, and how it ends."""
    made = cache(lambda: _files_of_command(folder))
    lines = {
        "explain": "explain {model} {rows} --out {folder}/a.json",
        "explain, some": "explain {model} {rows} --features x0,x1",
        "interactions": "interactions {model} {rows}",
        "check": "check {model} {rows}",
        "report": "report {saved} --out {folder}/p.html",
        "compare": "compare {saved} {saved}",
        "no model": "explain {folder}/none.txt {rows}",
        "no rows": "explain {model} {folder}/none.csv",
        "a pickle": "explain {pickle} {rows}",
        "an unknown option": "explain {model} {rows} --nonsense",
        "an unknown feature": "explain {model} {rows} --features zz",
        "help": "--help",
        "help of explain": "explain --help",
        "help of interactions": "interactions --help",
        "help of refit": "refit --help",
        "help of compare": "compare --help",
    }
    return {name: partial(_command, made, line, folder) for name, line in lines.items()}


def _files_of_command(folder: Path) -> dict[str, str]:
    import pickle

    import pandas as pd
    from lightgbm import LGBMRegressor

    names = [f"x{i}" for i in range(4)]
    rows = pd.DataFrame(t.numbers(), columns=names)
    rows.to_csv(folder / "command.csv", index=False)
    model = LGBMRegressor(n_estimators=15, n_jobs=1, verbose=-1).fit(rows, t.target())
    model.booster_.save_model(folder / "model.txt")
    (folder / "model.pkl").write_bytes(pickle.dumps({"a": 1}))
    rhale.explain(model, rows, progress=False, n_jobs=1).save(folder / "command.json")
    made = {"rows": "command.csv", "model": "model.txt", "pickle": "model.pkl"}
    made |= {"saved": "command.json", "folder": ""}
    return {name: str(folder / file) for name, file in made.items()}


def _command(made: Callable[[], dict[str, str]], line: str, folder: Path) -> Seen:
    import os
    import subprocess
    import sys

    arguments = line.format(**made()).split()
    given = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    ended = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "rhale.cli", *arguments],
        capture_output=True,
        text=True,
        env=given,
        check=False,
    )
    both = [
        re.sub(
            r"\b(a|\d+(\.\d+)?) (s|ms|seconds?|minutes?)\b",
            "SOME TIME",
            out.replace(str(folder), "FOLDER"),
        )
        for out in (ended.stdout, ended.stderr)
    ]
    return Seen({"code": ended.returncode, "said": [out.splitlines() for out in both]})


def errors() -> dict[str, Call]:
    """Bad calls: the class and the words of what they raise."""
    x, mixed, ask = t.numbers(), t.mixed(), t.smooth
    kept = cache(lambda: rhale.explain(ask, x, progress=False, n_jobs=1))
    bad: dict[str, Call] = {
        "no rows": lambda: rhale.explain(ask, x[:0]),
        "one dimension": lambda: rhale.explain(ask, x[:, 0]),
        "text as rows": lambda: rhale.explain(ask, "nowhere.csv"),
        "no model": lambda: rhale.explain(None, x),
        "a number as model": lambda: rhale.explain(3, x),
        "unknown feature": lambda: rhale.explain(ask, x, features="x9"),
        "feature out of range": lambda: rhale.explain(ask, x, features=7),
        "unknown method": lambda: rhale.explain(ask, x, method="shap"),
        "unknown bins": lambda: rhale.explain(ask, x, bins="many"),
        "no bins": lambda: rhale.explain(ask, x, bins=0),
        "edges that fall": lambda: rhale.Edges([1, 0]),
        "one edge": lambda: rhale.Edges([1]),
        "unknown weight": lambda: rhale.Adaptive(weight="area"),
        "no cells": lambda: rhale.Fixed(0),
        "discount": lambda: rhale.Optimal(20, discount=2),
        "unknown local": lambda: rhale.explain(ask, x, local="best"),
        "unknown output": lambda: rhale.explain(t.two, x, output=5),
        "unknown response": lambda: rhale.explain(ask, x, response="odds"),
        "weights too short": lambda: rhale.explain(ask, x, weights=[1.0]),
        "negative weights": lambda: rhale.explain(ask, x, weights=-np.ones(len(x))),
        "limits that fall": lambda: rhale.explain(ask, x, limits=(1.0, 0.0)),
        "window": lambda: rhale.explain(ask, x, window=3),
        "too many rows": lambda: rhale.explain(ask, x, n_rows=-5),
        "batch": lambda: rhale.explain(ask, x, batch_size=0),
        "jobs": lambda: rhale.explain(ask, x, n_jobs=0),
        "names too few": lambda: rhale.explain(ask, x, feature_names=["a"]),
        "names twice": lambda: rhale.explain(ask, x, feature_names=["a"] * 4),
        "a model that raises": lambda: rhale.explain(_raises, x),
        "a model of nan": lambda: rhale.explain(lambda r: np.full(len(r), np.nan), x),
        "a model of one number": lambda: rhale.explain(lambda _: 1.0, x),
        "a model of text": lambda: rhale.explain(lambda r: ["a"] * len(r), x),
        "gradient of another shape": lambda: rhale.explain(ask, x, gradient=lambda r: r[:, :2]),
        "categorical unknown": lambda: rhale.explain(t.priced, mixed, categorical=["zip"]),
        "pairs of one": lambda: rhale.interactions(ask, x, pairs=[("x0", "x0")]),
        "pairs unknown": lambda: rhale.interactions(ask, x, pairs=[("x0", "q")]),
        "method of pairs": lambda: rhale.interactions(ask, x, method="lift"),
        "refit of a function": lambda: rhale.refit(ask, x, t.target()),
        "refit, target too short": lambda: rhale.refit(_learner(), x, t.target()[:9]),
        "refit once": lambda: rhale.refit(_learner(), x, t.target(), n_refits=1),
        "refit, unknown scheme": lambda: rhale.refit(_learner(), x, t.target(), scheme="jack"),
        "compare one": lambda: rhale.compare(kept()),
        "compare numbers": lambda: rhale.compare(1, 2),
        "compare, level": lambda: rhale.compare(kept(), kept(), level=95),
        "effect, other sizes": lambda: rhale.effect([1.0, 2.0], [1.0]),
        "effect of text": lambda: rhale.effect(["a"], ["b"]),
        "unknown name": lambda: kept()["x7"],
        "load nothing": lambda: rhale.load("nowhere.json"),
        "curve of text": lambda: kept()[0].curve(["a"]),
        "centre": lambda: kept()[0].curve(x[:3, 0], center="median"),
        "regions by unknown": lambda: rhale.explain(ask, x, regions=rhale.By("q")),
    }
    return {f"error, {name}": partial(_raised, call) for name, call in bad.items()}


def _raises(_: np.ndarray) -> np.ndarray:
    msg = "the model is out of order"
    raise ValueError(msg)


def _learner() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _raised(call: Call) -> Seen:
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            call()
        except Exception as error:  # noqa: BLE001 - whatever it is
            kinds = [kind.__name__ for kind in type(error).__mro__[:-1]]
            notes = getattr(error, "__notes__", [])
            return Seen({"kinds": kinds, "said": str(error).splitlines(), "notes": notes})
    return Seen({"kinds": [], "said": ["nothing was raised"]})
