import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.interaction.plan import screen_pairs

ROWS = np.random.default_rng(0).normal(size=(1_500, 4))


def product(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


def slopes(rows):
    return np.column_stack([rows[:, 1], rows[:, 0], np.ones(len(rows)), np.zeros(len(rows))])


@pytest.fixture(scope="module")
def fx():
    return rhale.explain(product, ROWS, gradient=slopes)


def test_partners_need_no_regions(fx):
    told = fx.partners("x0")
    assert told[0].feature == "x1"
    assert told[0].share > 0.9
    assert told[0].part == pytest.approx(fx["x0"].typical_spread, rel=0.05)
    assert told.rows == 1_500
    assert len(fx.partners("x2")) == 0
    assert fx.partner_matrix.names == fx.features


def test_they_ask_the_model_nothing():
    asked = [
        rhale.explain(product, ROWS, partners=which).provenance["rows_asked"]
        for which in (True, False)
    ]
    assert asked[0] == asked[1]


def test_whoever_does_not_want_them_gets_none():
    fx = rhale.explain(product, ROWS[:300], partners=False)
    assert fx.partner_matrix is None
    with pytest.raises(BadSettingError, match="partners=False was asked for"):
        fx.partners("x0")
    with pytest.raises(BadSettingError, match="partners='no' is not known"):
        rhale.explain(product, ROWS, partners="no")


def test_effects_are_the_same_with_and_without():
    with_partners, without = (
        rhale.explain(product, ROWS[:400], partners=which) for which in (True, False)
    )
    assert with_partners.effects == without.effects
    np.testing.assert_array_equal(with_partners.sample_x, without.sample_x)


def test_profiles_have_none():
    fx = rhale.explain(product, ROWS[:100], method="pdp")
    with pytest.raises(BadSettingError, match="method='pdp' has none"):
        fx.partners("x0")


def test_regions_are_looked_at_by_their_splitters():
    fx = rhale.explain(product, ROWS, features=["x0"], regions=True)
    assert fx.partner_matrix.names == ("x0", "x1", "x2", "x3")
    assert fx.partners("x0")[0].feature == "x1"
    assert screen_pairs(fx) == []
    alone = rhale.explain(product, ROWS, features=["x0"])
    assert len(alone.partners("x0")) == 0


@pytest.mark.parametrize("method", ["rhale", "ale"])
def test_black_boxes_have_partners(method):
    fx = rhale.explain(product, ROWS, method=method)
    assert screen_pairs(fx)[0][:2] == ("x0", "x1")
    assert fx.partners("x1")["x0"].share > 0.9


def test_outputs_levels_and_constants_have_rows_of_their_own():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": rng.normal(size=1_000),
            "sex": rng.choice(["f", "m"], size=1_000),
            "one": 1.0,
            "flag": rng.integers(3, size=1_000),
        }
    )

    def model(rows):
        first = rows["age"] * (rows["sex"] == "f")
        return np.column_stack([first, rows["flag"] * (rows["sex"] == "m")])

    fx = rhale.explain(model, table)
    assert fx.partner_matrix.share.shape == (8, 3)  # a constant is nobody's partner
    assert fx.partners("age", 0)[0].feature == "sex"
    assert fx.partners("sex", 0)[0].feature == "age"
    assert fx.partners("flag", 1)[0].feature == "sex"
    assert len(fx.partners("flag", 0)) == 0
    assert len(fx.partners("one", 0)) == 0
    assert [pair[:2] for pair in screen_pairs(fx)[:2]] == [("age", "sex"), ("sex", "flag")]


def test_saved_partners_come_back(fx, tmp_path):
    fx.save(tmp_path / "fx.json")
    again = rhale.load(tmp_path / "fx.json")
    assert again == fx
    assert again.partners("x0") == fx.partners("x0")
