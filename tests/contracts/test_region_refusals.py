"""What bad input gets where regions are asked for."""

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import BadPredictionError, BadSettingError, BadTableError

N = 400
RNG = np.random.default_rng(53)
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(size=N),
        "income": RNG.uniform(-1, 1, N),
        "city": pd.Series(RNG.choice(["Bern", "Rome"], N), dtype="str"),
    }
)


def gate(rows):
    """The slope of age is 3 where income is positive, and -1 elsewhere."""
    return rows["age"].to_numpy() * np.where(rows["income"].to_numpy() > 0, 3.0, -1.0)


def square(rows):
    return rows["age"].to_numpy() ** 2


def regions_of(table=TABLE, model=gate, feature="age", *, regions=True, **options):
    options = {"features": [feature], **options}
    return rhale.explain(model, table, regions=regions, **options)[feature].regions


def assert_found(tree):
    assert tree.state == "found"
    assert tree.splitters == ("income",)
    return tree


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"splitters": ["incom"]}, "there is no feature 'incom'; did you mean 'income'"),
        (
            {"splitters": [7]},
            "a splitter of regions is not a column of the table: there is no feature 7",
        ),
        ({"splitters": ["age"]}, "is the explained feature itself; name others, or leave"),
        ({"splitters": []}, r"splitters=\[\] of regions names no feature"),
        ({"splitters": "income"}, "is one name; pass a list"),
        ({"depth": 0}, "depth=0 of regions is none of 1, 2 and 3"),
        ({"depth": 4}, "depth=4 of regions is none of 1, 2 and 3"),
        ({"depth": True}, "depth=True of regions is none of 1, 2 and 3"),
        ({"min_share": 0.0}, "min_share=0.0 of regions is not a share between 0 and 0.5"),
        ({"min_share": 0.5}, "min_share=0.5 of regions is not a share"),
        ({"min_gain": 1.0}, "min_gain=1.0 of regions is not a share"),
        ({"min_total": -0.1}, "min_total=-0.1 of regions is not a share"),
        ({"min_rows": 0}, "min_rows"),
    ],
)
def test_settings_that_make_no_sense_are_refused(asked, words):
    with pytest.raises(BadSettingError, match=words):
        regions_of(regions=rhale.Regions(**asked))


@pytest.mark.parametrize("regions", ["income", 2, ["income"], rhale.Regions])
def test_what_is_no_request_for_regions_is_refused(regions):
    with pytest.raises(BadSettingError, match="is not understood; pass True"):
        regions_of(regions=regions)


@pytest.mark.parametrize("method", ["pdp", "ice", "mplot"])
@pytest.mark.parametrize("regions", [True, rhale.By("city")])
def test_profiles_have_no_regions(method, regions):
    with pytest.raises(BadSettingError, match=f"method='{method}' has none"):
        rhale.explain(gate, TABLE, method=method, regions=regions)
    assert rhale.explain(gate, TABLE, features="age", method=method, bins=4)["age"].regions is None


# --- rows and columns ------------------------------------------------------------------------------


def test_too_few_rows_are_not_searched():
    tree = regions_of(TABLE[:199])
    assert (tree.state, len(tree), tree.why) == (
        "none",
        1,
        "there are too few rows to check a split (199)",
    )
    assert (tree[0].rule, tree[0].count, tree[0].share_of_rows) == ("all rows", 199, 1.0)
    assert_found(regions_of(TABLE[:200]))


def test_rows_without_a_value_do_not_check():
    table = TABLE.assign(age=np.where(np.arange(N) < 250, np.nan, TABLE["age"]))

    def model(rows):
        return np.nan_to_num(gate(rows))

    assert regions_of(table, model).why == "there are too few rows to check a split (150)"


@pytest.mark.parametrize(
    "others",
    [{}, {"same": np.ones(N)}, {"gone": np.full(N, np.nan)}, {"same": ["x"] * N, "k": [3] * N}],
)
def test_there_may_be_no_other_feature_to_split_by(others):
    tree = regions_of(TABLE[["age"]].assign(**others), square)
    assert (tree.state, len(tree), tree.why) == ("none", 1, "there is no other feature to split by")


def test_columns_of_one_value_or_none_are_skipped():
    table = TABLE.assign(same=1.0, gone=np.nan, word="x")
    assert_found(regions_of(table, regions=rhale.Regions(splitters=["same", "gone", "income"])))
    tree = regions_of(table, regions=rhale.Regions(splitters=["same", "gone", "word"]))
    assert tree.why == "there is no other feature to split by"


def test_text_of_many_levels_is_pooled_as_elsewhere():
    names = np.where(np.arange(N) % 2, "even", [f"n{k}" for k in range(N)])
    table = TABLE.assign(name=pd.Series(names, dtype="str"))

    def model(rows):
        return rows["age"].to_numpy() * np.where(rows["name"] == "even", 3.0, -1.0)

    tree = regions_of(table, model)
    (split,) = tree.splits
    assert (split.feature, split.levels + split.others) in [
        ("name", ("even", "other (200 levels)")),
        ("name", ("other (200 levels)", "even")),
    ]
    assert sorted(region.count for region in tree) == [200, 200]
    np.testing.assert_array_equal(np.bincount(tree.locate(table)), [r.count for r in tree])
    new = table[:1].assign(name="never seen")
    assert tree.locate(new) == tree.locate(table[:1])  # one more of the rare ones


def test_a_side_whose_rows_weigh_nothing_is_no_side():
    weights = (TABLE["income"] > 0).to_numpy(dtype=float)
    tree = regions_of(weights=weights)
    assert (tree.state, tree.why) == ("none", "rows hardly differ")
    groups = regions_of(weights=weights, regions=rhale.By("income", cuts=[0.0]))
    assert [r.rule for r in groups] == ["income > 0"]
    assert (groups[0].count, groups[0].share_of_rows) == (weights.sum(), 1.0)


def test_local_effects_that_are_no_numbers_are_refused_as_ever():
    def slopes(rows):
        found = np.zeros((len(rows), 3))
        found[3, 0] = np.inf
        return found

    for regions in (None, True):
        with pytest.raises(BadPredictionError, match="the gradient is inf in row"):
            rhale.explain(gate, TABLE, gradient=slopes, local="gradient", regions=regions)


def test_a_column_that_is_constant_has_one_region():
    fx = rhale.explain(gate, TABLE.assign(same=1.0), regions=True)
    tree = fx["same"].regions
    assert (tree.state, len(tree)) == ("none", 1)
    assert tree[0].count == N
    assert tree.why


def test_splitters_may_be_among_columns_that_are_not_explained():
    tree = assert_found(regions_of(regions=rhale.Regions(splitters=["income"])))
    assert tree.partners[0].feature == "income"
    none = regions_of(regions=rhale.Regions(splitters=["city"]))
    assert none.state == "none"
    assert_found(regions_of(regions=rhale.Regions(splitters=["age", "income"])))


UNREADABLE = {
    "lists": [[1.0]] * N,
    "infinite": np.where(np.arange(N) == 7, np.inf, 1.0 * np.arange(N)),
    "huge": 1e160 * RNG.normal(size=N),
    "ids": 2**60 + np.arange(N),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("feature", ["age", "city"])
def test_columns_that_cannot_be_read_are_no_splitters_unless_they_are_named(name, feature):
    table = TABLE.assign(**{name: UNREADABLE[name]})

    def model(rows):
        return gate(rows) + (rows["city"] == "Rome").to_numpy() * rows["income"].to_numpy()

    tree = regions_of(table, model, feature, batch_size=150)
    assert tree.splitters == ("income",)
    assert name not in [partner.feature for partner in tree.partners]
    for regions in (rhale.Regions(splitters=[name, "income"]), rhale.By(name)):
        with pytest.raises(BadTableError, match=f"'{name}'"):
            regions_of(table, model, feature, regions=regions)


# --- groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (rhale.By("income"), "has 400 values or more, and at most 20 groups are possible"),
        (rhale.By("incom"), "there is no feature 'incom'; did you mean 'income'"),
        (rhale.By("city", cuts=[1]), "cuts numbers, but the column has levels; unite them"),
        (rhale.By("city", groups={"x": ["Bärn"]}), "'Bärn' in group 'x', which no row has; did"),
        (rhale.By("city", groups={"x": ["Bern", "Bern"]}), "'Bern' in group 'x' a second time"),
    ],
    ids=repr,
)
def test_groups_that_make_no_sense_are_refused(by, words):
    with pytest.raises(BadSettingError, match=words):
        regions_of(regions=by)


def test_groups_of_the_feature_itself_are_none():
    tree = regions_of(regions=rhale.By("age", cuts=[0]))
    assert (tree.state, tree.why) == ("none", "the groups are made of this feature itself")


def test_a_group_of_one_row_has_no_effect_and_its_row_is_in_no_region():
    bern = (TABLE["city"] == "Bern").to_numpy()
    table = TABLE.assign(age=np.where(bern & (np.cumsum(bern) > 1), np.nan, TABLE["age"]))

    def model(rows):
        return np.nan_to_num(gate(rows))

    tree = regions_of(table, model, regions=rhale.By("city", groups={"capital": ["Bern"]}))
    assert [region.count for region in tree] == [(~bern).sum()]
    np.testing.assert_array_equal(tree.locate(table), np.where(bern, -1, 0))
