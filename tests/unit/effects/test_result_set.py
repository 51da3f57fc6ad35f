"""Explanations, interactions, refits and comparisons are mappings from names to results."""

import numpy as np
import pytest

import rhale
from rhale.errors import UnknownFeatureError, UnknownOutputError

X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))


def two_outputs(rows):
    return np.column_stack([rows[:, 0] + rows[:, 1], rows[:, 0] * rows[:, 1]])


def containers(model, **names):
    fx = rhale.explain(model, X, **names)
    return {
        "fx": fx,
        "ix": rhale.interactions(model, X, cells=3, **names),
        "rx": rhale.refits([model, model], X, train=[range(100), range(100, 200)], **names),
        "cx": rhale.compare({"old": fx, "new": rhale.explain(model, X[:150], **names)}),
    }


@pytest.fixture(scope="module")
def one():
    return containers(lambda rows: rows[:, 0] * rows[:, 1])


@pytest.fixture(scope="module")
def several():
    return containers(two_outputs)


@pytest.fixture(scope="module")
def named():
    return containers(two_outputs, output_names=["sum", "product"])


KINDS = ["fx", "ix", "rx", "cx"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_finds_its_own_result(one, several, named, kind):
    for held in (one[kind], several[kind], named[kind]):
        assert len(held) == len(held.keys()) == len(held.values())
        for key, result in zip(held.keys(), held.values(), strict=True):
            assert held[key] is result
            assert key in held
            assert held.get(key) is result
        assert dict(held) == dict(held.items())


def test_keys_name_the_output_where_there_are_several(one, several, named):
    assert (
        list(one["fx"].keys()) == list(one["rx"].keys()) == list(one["cx"].keys()) == ["x0", "x1"]
    )
    assert list(one["ix"].keys()) == [("x0", "x1")]
    keys = [("x0", "y0"), ("x0", "y1"), ("x1", "y0"), ("x1", "y1")]
    assert [list(several[kind].keys()) for kind in ("fx", "rx", "cx")] == [keys] * 3
    assert list(several["ix"].keys()) == [("x0", "x1", "y0"), ("x0", "x1", "y1")]
    assert list(named["ix"].keys()) == [("x0", "x1", "sum"), ("x0", "x1", "product")]
    assert list(named["cx"].keys())[:2] == [("x0", "sum"), ("x0", "product")]


@pytest.mark.parametrize("kind", KINDS)
def test_iteration_gives_results_and_warns_that_it_will_give_keys(one, kind):
    held = one[kind]
    with pytest.warns(DeprecationWarning, match=rf"{kind}\.keys\(\).*{kind}\.values\(\)"):
        found = list(held)
    assert all(mine is other for mine, other in zip(found, held.values(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_there_is_refused_with_near_names(several, kind):
    held = several[kind]
    first = next(iter(held.keys()))
    near = ("x00", *first[1:])
    assert near not in held
    assert held.get(near, "none") == "none"
    with pytest.raises(UnknownFeatureError, match="did you mean 'x0'"):
        held[near]
    with pytest.raises(UnknownOutputError, match="there is no output 'y7'"):
        held[(*first[:-1], "y7")]
    with pytest.raises(
        UnknownOutputError, match=rf"several outputs, name one: {kind}\['x0', .*'y0'\]"
    ):
        held[first[:-1] if kind == "ix" else first[0]]


def test_membership_knows_names_and_no_positions(one, several):
    assert "x0" in several["fx"]
    assert ("x0", "y1") in several["fx"]
    assert ("x0", "y2") not in several["fx"]
    assert 0 not in one["fx"]
    assert None not in one["fx"]
    assert ("x1", "x0") in one["ix"]
    assert "x0" not in one["ix"]


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_outputs_serve_everywhere_and_labels_still_do(named, several, kind):
    held = named[kind]
    assert held.output_names == ("sum", "product")
    assert held.outputs == several[kind].outputs == ("y0", "y1")
    for place, name in enumerate(held.output_names):
        key = next(iter(held.keys()))[:-1]
        found = held[(*key, name)]
        assert found is held[(*key, f"y{place}")]
        assert found is held[(*key, place)]
        assert found.output == f"y{place}"
    with pytest.raises(
        UnknownOutputError, match=r"no output 'summ'; did you mean 'sum'.*'product'"
    ):
        held[(*key, "summ")]
    with pytest.raises(UnknownOutputError, match=r"name one: .*'sum'.*Known: 'sum', 'product'"):
        held[key if kind == "ix" else key[0]]


def test_shares_of_the_variance_are_by_the_names_of_outputs(named, several):
    for held, names in ((named, {"sum", "product"}), (several, {"y0", "y1"})):
        assert held["fx"].explained_variance.keys() == names
        assert held["fx"].explained_with_regions.keys() == names
        assert held["ix"].explained.keys() == names
    assert list(named["fx"].explained_variance.values()) == list(
        several["fx"].explained_variance.values()
    )


def test_a_single_result_says_the_name_of_its_output(named):
    assert "output='product'" in repr(named["fx"]["x0", "product"])
    assert "output='product'" in repr(named["rx"]["x0", "product"])
    profile = rhale.explain(two_outputs, X, method="pdp", output_names=["sum", "product"])
    assert "output='sum'" in repr(profile["x0", "sum"])
    steps = rhale.explain(two_outputs, np.round(X), output_names=["sum", "product"])
    assert "output='sum'" in repr(steps["x0", "sum"])


def test_the_name_of_a_target_names_none_of_several_outputs():
    fx = rhale.explain(two_outputs, X, output_names="price")
    assert fx.output_names == ("y0", "y1")
    assert rhale.explain(lambda rows: rows[:, 0], X, output_names="price").output_names == (
        "price",
    )


def test_names_that_are_labels_of_other_outputs_are_no_keys():
    fx = rhale.explain(two_outputs, X, output_names=["y1", "y0"])
    assert fx.output_names == ("y0", "y1")
    assert fx["x0", "y0"].output == "y0"


def test_frames_keep_labels_and_add_names(named):
    frame = named["fx"].summary("pandas")
    assert set(frame["output"]) == {"y0", "y1"}
    assert set(frame["output_label"]) == {"sum", "product"}


@pytest.mark.parametrize("kind", KINDS)
def test_containers_are_equal_by_value(one, named, kind):
    assert one[kind] == one[kind]
    assert one[kind] != named[kind]
    assert one[kind] != "another"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one[kind])


def test_comparisons_of_the_same_explanations_are_equal(one):
    pair = {"old": one["fx"], "new": one["fx"]}
    assert rhale.compare(pair) == rhale.compare(dict(pair))
    assert rhale.compare(pair) != rhale.compare(pair, level=0.9)


def test_all_but_comparisons_have_a_file_of_their_own(one):
    assert [kind for kind in KINDS if hasattr(one[kind], "save")] == ["fx", "ix", "rx"]


@pytest.mark.parametrize("kind", ["fx", "ix", "rx"])
def test_what_is_saved_is_equal_when_it_is_read(named, kind, tmp_path):
    named[kind].save(tmp_path / "one.json")
    again = rhale.load(tmp_path / "one.json")
    assert again == named[kind]
    assert again.keys() == named[kind].keys()


@pytest.mark.parametrize("kind", KINDS)
def test_the_ranking_of_one_output_is_a_part_of_that_of_all(named, kind):
    held = named[kind]
    everything = held.ranked()
    assert held.ranked("product") == [one for one in everything if one.output == "y1"]
    assert sorted(map(id, everything)) == sorted(map(id, held.values()))


def test_every_result_says_what_its_values_are():
    """A loop over all results of all containers asks none of them which class it is."""
    columns = {
        "number": np.linspace(0, 1, 200),
        "steps": np.tile([1.0, 2.0, 3.0, 4.0], 50),
        "categories": np.tile(["b", "a", "c", "b"], 50),
        "date": np.datetime64("2024-01-01") + np.arange(200).astype("timedelta64[h]"),
        "duration": np.arange(200).astype("timedelta64[s]"),
    }
    table = pytest.importorskip("pandas").DataFrame(columns)

    def model(rows):
        return rows["number"].to_numpy() * (1 + rows["steps"].to_numpy())

    fx = rhale.explain(model, table)
    assert {name: effect.kind for name, effect in fx.items()} == {name: name for name in columns}
    cx = rhale.compare({"old": fx, "new": rhale.explain(model, table[:150])})
    assert {name: one.kind for name, one in cx.items()} == {name: name for name in columns}
    rx = rhale.refits([model, model], table, train=[range(100), range(100, 200)])
    assert {name: one.kind for name, one in rx.items()} == {name: name for name in columns}
    pairs = [("number", "steps"), ("categories", "date")]
    ix = rhale.interactions(model, table, pairs=pairs)
    assert all(pair.kind == key for key, pair in ix.items())
    found = rhale.explain(model, table, method="pdp", features=pairs)
    assert all(pair.kind == key for key, pair in found.items())
    by_number = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], X, method="h")
    assert by_number["x0", "x1"].kind == ("unknown", "unknown")
    assert all(
        one.kind == "number"
        for one in rhale.explain(
            model, table[["number", "steps"]], method="pdp", features=["number"]
        ).values()
    )
