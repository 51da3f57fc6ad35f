"""Two-way partial dependence in files: nothing lost, and nothing believed that cannot be."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.effects.store import FORMAT, VERSION, pack_interactions
from rhale.errors import BadFileError, BadSettingError
from rhale.interaction.moments import PairAxis, PairMoments
from rhale.interaction.pair_profile import PairProfile
from rhale.interaction.storage import fill_profile_cells, list_profile_cells
from rhale.output.storage.values import RECORD
from rhale.stability.result import restore_result
from rhale.stats.arrays import same_fields

RNG = np.random.default_rng(2)
TABLE = pd.DataFrame({"a": RNG.normal(size=60), "s": RNG.choice(["p", "q"], 60)})
TABLE["d"] = np.datetime64("2024-01-01", "us") + RNG.integers(0, 90, 60).astype("m8[D]")
TABLE.loc[:3, "a"] = np.nan


def model(rows):
    a = np.nan_to_num(rows["a"].to_numpy())
    return np.column_stack([a * (rows["s"] == "p").to_numpy(), a**2])


@pytest.fixture(scope="module", params=[None, 1.0])
def ix(request):
    weights = None if request.param is None else RNG.uniform(0.5, 2, 60)
    return rhale.interactions(
        model, TABLE, method="pdp", pairs=[("a", "s"), ("d", "a")], cells=3, weights=weights
    )


def content_of(ix):
    return json.loads(json.dumps({VERSION: FORMAT, **pack_interactions(ix)}, allow_nan=False))


def test_what_is_saved_comes_back(ix, tmp_path):
    ix.save(tmp_path / "ix.json")
    again = rhale.load(tmp_path / "ix.json")
    assert again == ix
    assert {type(pair) for pair in again.values()} == {PairProfile}
    assert again["a", "s", "y0"].strength == ix["a", "s", "y0"].strength


def test_cells_without_rows_are_left_out(ix):
    moments = ix["d", "a", "y0"].moments
    cells = list_profile_cells(moments)
    assert cells.stands.size == np.count_nonzero(moments.count)
    assert same_fields(fill_profile_cells(cells, moments.count.shape), moments)


def shorten_single(pair):
    pair["single"][0]["array"].pop()
    pair["single"][0]["shape"][0] -= 1


def move_stand(pair):
    pair["moments"]["stands"]["array"][-1] = 99


def turn_dependence(pair):
    pair["dependence"]["shape"].reverse()


def grow_height(pair):
    pair["dependence"]["array"][0] = 1e300


def lose_moments(pair):
    del pair["moments"]["places"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shorten_single, r"pairs\[0\]\.single\[0\] has 3 numbers for 4 nodes"),
        (move_stand, r"pairs\[0\]\.moments\.stands are not cells"),
        (turn_dependence, r"pairs\[0\]\.dependence has shape \(2, 4\) for \(4, 2\) nodes"),
        (grow_height, r"pairs\[0\]\.dependence holds 1e\+300"),
        (lose_moments, "places"),
    ],
)
def test_what_does_not_fit_is_refused(ix, damage, message):
    content = content_of(ix)
    damage(content["pairs"][0])
    with pytest.raises(BadFileError, match=message):
        restore_result(content, "it")


def test_profiles_and_numbers_do_not_stand_in_one_file(ix):
    content = content_of(ix)
    index = {RECORD: "pair_index", "names": content["pairs"][0]["names"], "output": "y0"}
    index |= {"method": "h", "strength": 1.0, "variance": 1.0, "h2": 0.5, "n_left_out": 0}
    index["notes"] = []
    content["pairs"][0] = index
    with pytest.raises(BadFileError, match="by another method"):
        restore_result(content, "it")


def test_too_many_cells_are_refused_before_anything_is_written(tmp_path):
    rows = RNG.normal(size=(200, 2))
    ix = rhale.interactions(lambda r: r[:, 0], rows, method="pdp", pairs=[(0, 1)], cells=2)
    wide = PairAxis(np.arange(300.0))
    nothing = np.zeros((299, 299))
    moments = PairMoments(
        nothing.astype(int), nothing, nothing, np.zeros((8, 299, 299)),
        np.zeros((0, 299, 299, 1)), np.zeros((0, 299, 299, 1, 1)),
    )  # fmt: skip
    flat = np.zeros(300)
    pair = PairProfile(
        ("x0", "x1"), "y0", (wide, wide), moments, np.zeros((300, 300)), (flat, flat), 1.0
    )
    with pytest.raises(BadSettingError, match="ask for fewer with cells="):
        replace(ix, pairs=(pair,)).save(tmp_path / "ix.json")
    assert not (tmp_path / "ix.json").exists()
