"""Arguments of a wrong type are answered by errors of ours, whatever method they are given to."""

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import RhaleError

D = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
FX = rhale.explain(lambda rows: rows["a"].to_numpy() * rows["b"].to_numpy(), D)
IX = rhale.interactions(lambda rows: rows["a"].to_numpy() * rows["b"].to_numpy(), D, pairs=1)
MODELS = [lambda rows: rows["a"].to_numpy(), lambda rows: 2 * rows["a"].to_numpy()]
RX = rhale.refits(MODELS, D, train=[np.arange(100), np.arange(100, 200)])
CX = rhale.compare(FX, FX)
CALLS = {
    "names of a comparison": lambda: rhale.compare(FX, FX, names=5),
    "edges of a number": lambda: rhale.Edges(2.5),
    "edges of nothing": lambda: rhale.Edges(None),
    "load a number": lambda: rhale.load(5),
    "save nowhere": lambda: FX.save(None),
    "report to a number": lambda: FX.report(5),
    "report of a number": lambda: FX.report("page.html", interactions=5),
    "report of refits that are none": lambda: FX.report("page.html", refits=5),
    "three keys": lambda: FX["a", "y0", "z"],
    "three keys of refits": lambda: RX["a", "y0", "z"],
    "three keys of a comparison": lambda: CX["a", "y0", "z"],
    "axes of an effect": lambda: FX["a"].plot(ax=5),
    "axes of all effects": lambda: FX.plot(ax=(1, 2, 3)),
    "axes of refits": lambda: RX.plot(ax=5),
    "two panels": lambda: IX.plot(ax=5),
    "a pair": lambda: IX.plot(5),
    "kind of a pair": lambda: IX.plot(("a", "b"), kind=[None]),
    "a number for a feature": lambda: FX.plot(1.5),
    "level": lambda: FX["a"].ci(0.0, level=None),
    "a text for a place": lambda: FX["a"].difference("zz", 1.0),
    "places": lambda: FX["a"].places(1.5),
    "places of refits": lambda: RX["a"].trace(n_points=1.5),
    "features of SHAP": lambda: rhale.Interactions.from_shap(np.zeros((9, 2, 2)), 5),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_wrong_argument_is_told_in_words(call):
    with pytest.raises(RhaleError):
        call()
