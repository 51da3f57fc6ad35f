import numpy as np
import pandas as pd
from tests.compared_by_hand import explained, with_everything

import rhale


def kinds(cx):
    return {note.kind: note for note in cx.notes}


def test_what_only_some_have_is_named():
    fx = explained()
    part = rhale.explain(lambda t: t["x0"].to_numpy(), pd.DataFrame({"x0": np.arange(60.0)}))
    assert kinds(rhale.compare(fx, part))["features"] == "features only in first: x1"
    notes = [note for note in with_everything().notes if note.kind == "levels"]
    assert 'city: level only in "last": Paris' in notes
    assert 'city: level only in "base" and "next": Rome' in notes


def test_one_value_kinds_and_stretches_are_reasons_not_to_compare():
    assert "one (one value only" in kinds(with_everything())["constant"]
    apart = kinds(rhale.compare(explained(), explained(shift=5.0)))
    assert "not compared: x0 (no stretch" in apart["apart"]
    assert kinds(rhale.compare(explained(), explained(shift=0.8)))["overlap"].startswith("x0 is ")


def test_numbers_here_and_names_there_are_not_compared():
    x = np.random.default_rng(0).uniform(size=100)
    one, two = (
        rhale.explain(lambda t: t["a"].to_numpy(), pd.DataFrame({"a": x, "b": b}))
        for b in (x, np.where(x > 0.5, "high", "low"))
    )
    assert "not compared: b (categories" in kinds(rhale.compare(one, two))["kind"]


def test_the_same_rows_and_other_methods_are_told():
    fx = explained()
    assert "explain the same rows" in kinds(rhale.compare(fx, explained((2.0, 1.0))))["same rows"]
    assert "same rows" not in kinds(rhale.compare(fx, explained(shift=0.1)))
    x = np.random.default_rng(0).uniform(size=(100, 2))
    made = [rhale.explain(lambda r: r[:, 0], x, method=m) for m in ("rhale", "ale")]
    assert "first by rhale, second by ale" in kinds(rhale.compare(*made))["methods"]
