"""All arguments of a call in one record: checked, told by name, and written as Python again."""

import inspect
import json
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import BadSettingError, UnknownFeatureError
from rhale.settings import IDENTITY, Settings, describe_bins, name_keys, partition_for, source_of

X = np.random.default_rng(0).normal(size=(200, 3))
FX = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], X, bins=4)


def test_the_record_has_every_argument_of_explain_with_the_same_default():
    arguments = list(inspect.signature(rhale.explain).parameters.values())[2:]
    found = {a.name: a.default for a in arguments}
    of_pairs = "pairing"  # arguments that interactions alone has
    assert found == {f.name: f.default for f in fields(Settings) if f.name != of_pairs}
    assert set(IDENTITY) <= {*found, of_pairs}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"method": "shap"}, "method='shap' is not known; use one of rhale, dale"),
        ({"local": "both"}, "local='both' is not known"),
        ({"local": "gradiant"}, "did you mean 'gradient'"),
        ({"response": "logit"}, "response='logit' is not known; did you mean 'log_odds'"),
        ({"window": 0}, "window=0 is not a share"),
        ({"method": "dale", "local": "secant"}, "'dale' is defined by gradients"),
        ({"method": "ale", "local": "gradient"}, "'ale' is defined by secants"),
        ({"seed": -1}, "seed=-1 is not a whole number"),
        ({"seed": True}, "seed=True is not a whole number"),
        ({"n_rows": 1}, "n_rows=1 leaves one row"),
        ({"n_rows": 2.5}, "n_rows=2.5 is not a positive whole number"),
        ({"batch_size": 0}, "batch_size=0 is not a positive whole number"),
        ({"gradient": 3}, "gradient=3 is not callable"),
    ],
)
def test_what_cannot_be_is_refused_at_once(asked, message):
    with pytest.raises(BadSettingError, match=message):
        Settings(**asked)


def test_a_window_of_the_spread_is_asked_for_no_more():
    with pytest.warns(
        DeprecationWarning, match="spread_window= does nothing any more.*leave it out"
    ):
        asked = Settings(spread_window=0.3)
    assert asked.spread_window is None


def test_what_is_deprecated_is_told_where_it_was_asked_for():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(DeprecationWarning, match="spread_window=") as told:
        rhale.explain(lambda r: r[:, 0] * r[:, 1], rows, spread_window=0.3)
    with pytest.warns(DeprecationWarning, match="min_noise=") as also:
        rhale.Regions(min_noise=2.0)
    assert {told[0].filename, also[0].filename} == {__file__}


def test_usual_bins_belong_to_the_method():
    for method, bins in {
        "rhale": rhale.Adaptive(),
        "dale": rhale.Fixed(20),
        "ale": rhale.Quantile(20),
    }.items():
        assert Settings(method=method).partition("x", "y") == bins


def test_positions_become_names():
    assert name_keys({1: 5, "a": 6}, ["a", "b"]) == {"b": 5, "a": 6}
    assert name_keys(rhale.Fixed(3), ["a"]) == rhale.Fixed(3)
    named = Settings(bins={0: 3}, limits={1: (0, 1)}).by_name(["a", "b"])
    assert (named.bins, named.limits) == ({"a": 3}, {"b": (0, 1)})
    with pytest.raises(UnknownFeatureError, match="'c'"):
        name_keys({"c": 1}, ["a", "b"])


def test_bins_are_found_for_a_feature():
    assert partition_for(None, "a", "y") is None
    assert partition_for(7, "a", "y") == rhale.Fixed(7)
    assert partition_for({"a": rhale.Quantile(3)}, "a", "y") == rhale.Quantile(3)
    assert partition_for({"a": 3}, "b", "y") is None
    own = FX["x0"]
    copied = partition_for({"x0": FX}, "x0", "y0")
    assert copied == rhale.Edges(own.edges, own.closed, linear=own.linear)


@pytest.mark.parametrize("bins", ["many", 2.5, True, rhale.Fixed, [1, 2]])
def test_bins_that_are_none_are_refused(bins):
    with pytest.raises(BadSettingError, match="is not understood; pass Adaptive"):
        partition_for(bins, "a", "y")


def test_few_whole_numbers_are_binned_where_something_is_asked_that_needs_it():
    assert not Settings().wants_numbers("a")
    assert Settings(bins=3).wants_numbers("a")
    assert not Settings(bins={"b": 3}).wants_numbers("a")
    assert Settings(limits=(0, 1)).wants_numbers("a")
    assert not Settings(limits={"b": (0, 1)}).wants_numbers("a")
    assert Settings(method="dale").wants_numbers("a")


def test_levels_of_another_explanation_are_no_bins():
    rows = pd.DataFrame({"c": ["u", "v", "w"] * 30, "x": np.arange(90.0)})
    fx = rhale.explain(lambda r: r["x"] * (r["c"] == "u"), rows, categorical={"c": ["w", "v", "u"]})
    asked = Settings(bins=fx)
    assert asked.level_order("c") == ("w", "v", "u")
    assert asked.level_order("x") == asked.level_order("elsewhere") == ()
    assert not asked.wants_numbers("c")
    assert partition_for(fx, "c", "y0") is None


def test_bins_are_described_for_people():
    assert describe_bins(rhale.Fixed(3)) == "Fixed(n_bins=3, closed='left')"
    assert describe_bins({"a": 5}) == "{'a': 5}"
    assert describe_bins(FX) == "another explanation"


# --- the same call again ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, 2.5, "x", [1, "a"], (1,), (1, 2), {"a": (0, 1)}, {"a": [True, None]}),
        *(rhale.Adaptive(), rhale.Optimal(30), rhale.Fixed(4), rhale.Quantile(5)),
        *(rhale.Edges([0, 1, 2.5], linear=[True, False]), {"a": rhale.Fixed(2), "b": 3}),
    ],
    ids=repr,
)
def test_sources_give_the_value_back(value):
    assert eval(source_of(value), {"rhale": rhale}) == value  # noqa: S307 - our own text


def test_dates_are_written_as_text_that_is_read_as_dates():
    day = pd.Timestamp("2020-06-01 12:00")
    assert source_of({"since": (day, np.datetime64("2021-01-01"))}) == (
        "{'since': ('2020-06-01T12:00:00', '2021-01-01')}"
    )


@pytest.mark.parametrize("value", [len, FX, np.zeros((2, 2)), np.zeros(500), [len], {"a": len}])
def test_what_has_no_source_has_none(value):
    assert source_of(value) is None


def test_only_what_is_not_usual_is_written_and_the_rest_by_its_name():
    asked = Settings(bins=FX, weights=np.ones(500), seed=3, progress=True, checkpoint="here")
    assert asked.sources() == {"bins": "bins", "weights": "weights", "seed": "3"}


def test_a_usual_value_is_known_by_what_it_is_and_not_by_where_it_came_from():
    spelled = json.loads('"auto"')  # equal to the default, and another object, as from a command
    assert spelled is not Settings().response
    assert Settings(response=spelled, local=spelled, seed=np.int64(0)).sources() == {}


def test_words_are_taken_in_any_case():
    asked = Settings(method="ALE", local="Secant", response="LOG_ODDS")
    assert (asked.method, asked.local, asked.response) == ("ale", "secant", "log_odds")


LIMITS = [
    ([18, 25, 30], (18.0, 25.0, 30.0)),
    ((18, 25.5), (18.0, 25.5)),
    (np.array([1, 2]), (1.0, 2.0)),
    (range(3), (0.0, 1.0, 2.0)),
    (pd.Series([1.0, 2.0]), (1.0, 2.0)),
    (pd.to_datetime(["1970-01-02", "1970-01-04"]), (1.0, 3.0)),
]


@pytest.mark.parametrize(("bins", "edges"), LIMITS, ids=[type(b).__name__ for b, _ in LIMITS])
def test_limits_that_are_listed_are_edges(bins, edges):
    assert Settings(bins=bins).bins == rhale.Edges(edges)
    assert Settings(bins={"x0": bins, "x1": 5}).bins == {"x0": rhale.Edges(edges), "x1": 5}


@pytest.mark.parametrize("bins", [[3, 2], [1], [], ["a", "b"], [[1, 2], [3, 4]], [1, [2, 3]]])
def test_lists_that_are_no_limits_are_refused(bins):
    with pytest.raises(BadSettingError, match=r"bins=\[.* lists no limits of bins: "):
        Settings(bins=bins)


def test_listed_limits_are_the_bins_of_every_call():
    limits, model = [-1, 0, 1.5], lambda rows: rows[:, 0] ** 2
    for bins in (limits, {"x0": limits}):
        fx = rhale.explain(model, X, bins=bins, features="x0")
        assert fx["x0"].edges.tolist() == limits
        assert fx.rebin(limits)["x0"].edges.tolist() == limits
    inside = X[(X[:, 0] >= -1) & (X[:, 0] <= 1.5), 0]
    assert rhale.effect(inside, inside, bins=limits).edges.tolist() == limits


def test_columns_that_will_move_are_known_by_name():
    names = ["a", "b", "c"]
    asked = Settings(
        features=[2, "a"],
        categorical={0: True},
        regions=rhale.Regions(splitters=[1]),
    ).without_positions(names)
    assert asked.features == ["c", "a"]
    assert asked.categorical == {"a": True}
    assert asked.splitters == ("b",)
    asked = Settings(features=1, categorical=[0], regions=rhale.By(2)).without_positions(names)
    assert (asked.features, asked.categorical, asked.splitters) == (["b"], ["a"], ("c",))
    assert Settings(features="z").without_positions(names).features == ["z"]
    assert Settings().without_positions(names).features is None
