import io
import json
import math
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

skops = pytest.importorskip("skops.io")

from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer

from rhale.errors import BadFileError, UnsafeFileError
from rhale.models.files.skops import load_skops

PATH = Path("m.skops")
X = np.random.default_rng(0).normal(size=(80, 3))
X[:, 2] = np.arange(80) % 4
Y = X[:, 0] + X[:, 2]
TREE = "sklearn.tree._tree.Tree"


def rewritten(content, change):
    """The archive with members changed: (name, content) -> content."""
    held = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(held, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return held.getvalue()


def test_a_function_is_named_but_not_offered():
    for function in (os.system, math.sin):
        content = skops.dumps(FunctionTransformer(function))
        with pytest.raises(UnsafeFileError, match=f"do anything.*{function.__name__}") as refused:
            load_skops(PATH, content)
        assert "--trust" not in str(refused.value)


@pytest.mark.parametrize("loader", ["ObjectNode", "TypeNode", "TreeNode", "ListNode"])
def test_a_function_in_the_dress_of_a_class_is_not_offered(loader):
    content = skops.dumps(FunctionTransformer(os.system))

    def dressed(name, member):
        if name != "schema.json":
            return member
        return member.replace(b'"FunctionNode"', b'"%s"' % loader.encode())

    with pytest.raises(BadFileError) as refused:
        load_skops(PATH, rewritten(content, dressed))
    assert "--trust" not in str(refused.value)


def test_a_class_of_python_is_not_offered():
    content = skops.dumps(LinearRegression().fit(X, Y))

    def renamed(name, member):
        if name != "schema.json":
            return member
        schema = json.loads(member)
        schema |= {"__class__": "Popen", "__module__": "subprocess"}
        return json.dumps(schema)

    with pytest.raises(UnsafeFileError, match=r"do anything.*subprocess\.Popen") as refused:
        load_skops(PATH, rewritten(content, renamed))
    assert "--trust" not in str(refused.value)


def test_what_models_of_scikit_learn_hold_themselves_is_offered():
    model = HistGradientBoostingRegressor(max_iter=2, categorical_features=[2]).fit(X, Y)
    content = skops.dumps(model)
    with pytest.raises(UnsafeFileError, match="--trust") as refused:
        load_skops(PATH, content)
    trust = str(refused.value).split("--trust ")[1:]
    loaded = load_skops(PATH, content, [name.strip() for name in trust])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_bomb_is_refused_before_skops_reads_it(monkeypatch):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", " " * 2**27)
    monkeypatch.setattr(skops, "get_untrusted_types", None)
    with pytest.raises(BadFileError, match="too large for its size"):
        load_skops(PATH, held.getvalue())


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a":' * 600 + "1" + "}" * 600, "{", "[]", "null"])
def test_a_damaged_schema_is_one_sentence_that_names_the_file(text):
    content = skops.dumps(LinearRegression().fit(X, Y))
    damaged = rewritten(content, lambda n, c: text if n == "schema.json" else c)
    with pytest.raises(
        BadFileError, match=r"^skops cannot load m\.skops.*Save the model again"
    ) as e:
        load_skops(PATH, damaged)
    assert "\n" not in str(e.value)


def test_an_array_that_is_not_as_long_as_it_says_is_refused():
    content = skops.dumps(LinearRegression().fit(X, Y))
    damaged = rewritten(content, lambda n, c: c[:-1] if n.endswith(".npy") else c)
    with pytest.raises(BadFileError, match="not as long as it says"):
        load_skops(PATH, damaged)
