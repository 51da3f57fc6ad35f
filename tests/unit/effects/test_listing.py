from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.unit.effects.with_regions import SPLIT, alone, make_regional

import rhale
from rhale.effects import listing
from rhale.output.labels import Captions
from rhale.output.number_format import write_share
from rhale.output.text import aligned, shorten_name, text_width
from rhale.regions.result import Group, Groups, Partner
from rhale.report.effects import make_page

ROWS = np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * 3), axis=-1).reshape(-1, 3)
TABLE = np.random.default_rng(0).normal(size=(200, 3))


def told_by(*given, **options):
    return str(listing.list_effects(*given, **options))


def weak_strong(rows):
    return 0.1 * rows[:, 0] + 5.0 * rows[:, 2]


@pytest.fixture(scope="module")
def fx():
    return rhale.explain(weak_strong, TABLE)


def lines_of(fx):
    return str(fx).splitlines()


def test_the_text_ranks_the_largest_effect_first(fx):
    title, header, *rows = lines_of(fx)
    assert title == "rhale of a function, 200 rows; effects on prediction"
    assert header.split() == [
        "feature",
        "importance",
        "±",
        "error",
        "typical",
        "spread",
        "bins",
        "notes",
    ]
    assert [row.split()[0] for row in rows[:3]] == ["x2", "x0", "x1"]


def test_the_numbers_in_the_text_are_those_of_the_effects(fx):
    row = lines_of(fx)[2].split()
    error = fx["x2"].importance_error
    assert float(row[1]) == pytest.approx(fx["x2"].importance, abs=error / 20)
    assert float(row[3]) == pytest.approx(error, rel=0.05)
    assert row[5] == str(fx["x2"].mean.size)


def test_a_spread_is_told_with_its_error():
    fx = rhale.explain(lambda r: r[:, 0] * r[:, 1] + r[:, 2], TABLE)
    _, header, *rows = lines_of(fx)
    assert header.split()[1:8] == ["importance", "±", "error", "typical", "spread", "±", "error"]
    told = {row.split()[0]: row.split() for row in rows[:3]}
    spread, error = fx["x0"].typical_spread, fx["x0"].typical_spread_error
    assert float(told["x0"][4]) == pytest.approx(spread, abs=error / 20)
    assert told["x0"][5] == "±"
    assert float(told["x0"][6]) == pytest.approx(error, rel=0.05)
    assert told["x2"][4] == "0"  # nothing that an error could be of
    assert f"typical spread {told['x0'][4]} ± {told['x0'][6]}" in str(fx["x0"])


def test_columns_are_aligned(fx):
    header, *rows = lines_of(fx)[1:5]
    end = header.index("spread") + len("spread")
    assert all(row[end - 1] != " " and row[end] == " " for row in rows)


def test_no_line_ends_in_blanks(fx):
    assert all(line == line.rstrip() for line in lines_of(fx))


def test_notes_are_numbered_once_each():
    effects = [
        replace(rhale.effect([0.0, 1.0], [size, size], name=name), local_notes=notes)
        for name, size, notes in [
            ("a", 1.0, ("shared",)),
            ("b", 3.0, ("own", "shared")),
            ("c", 2.0, ()),
        ]
    ]
    text = told_by(effects, {"method": "rhale", "rows": 2}, ("about the whole",))
    title, _, first, second, third, *footer = text.splitlines()
    assert title == "rhale of a model, 2 rows; effects on prediction"
    assert first.startswith("b ")
    assert first.endswith("1, 2")
    assert second.startswith("c ")
    assert third.endswith(" 2")
    assert footer == ["1  own", "2  shared", "about the whole"]


def test_fewer_rows_than_the_table_has_are_told():
    fx = rhale.explain(weak_strong, np.tile(TABLE, (10, 1)), n_rows=1000)
    assert lines_of(fx)[0].startswith("rhale of a function, 1,000 of 2,000 rows; ")


def test_several_outputs_have_a_column():
    fx = rhale.explain(lambda rows: rows[:, :2], TABLE, features=[0, 1])
    title, header, *rows = lines_of(fx)[:6]
    assert title.endswith("; 2 outputs")
    assert header.split()[:2] == ["feature", "output"]
    words = [fx.captions.output(output) for output in fx.outputs]
    start, end = header.index("output"), header.index("importance")
    found = [(row.split()[0], row[start:end].strip()) for row in rows[:4]]
    assert sorted(found) == sorted(product(["x0", "x1"], words))


def test_profiles_have_points():
    assert "points" in lines_of(rhale.explain(weak_strong, TABLE, method="pdp"))[1]


def test_effects_that_cannot_be_measured_come_last():
    table = TABLE.copy()
    table[:, 0] = 7.0
    _, _, *rows = lines_of(rhale.explain(weak_strong, table))
    assert rows[0].startswith("x2")
    assert any("constant: always 7" in row for row in rows)


def test_long_names_are_cut_and_names_stay_on_one_line():
    pd = pytest.importorskip("pandas")
    names = ["a" * 50, "two\nlines", "  "]
    frame = pd.DataFrame(TABLE, columns=names)
    text = str(rhale.explain(lambda rows: rows.to_numpy()[:, 0], frame))
    assert "a" * 31 + "…" in text
    assert "a" * 32 not in text
    assert "two lines" in text


def test_shorten_cuts_at_the_longest():
    assert shorten_name("abcde", 5) == "abcde"
    assert shorten_name("abcdef", 5) == "abcd…"
    assert shorten_name("a \n b") == "a b"
    assert shorten_name("  ") == "  "


def test_aligned_pads_the_first_left_and_numbers_right():
    rows = [["name", "n", "notes"], ["a", "10", ""], ["long name", "5", "1"]]
    assert aligned(rows, [True, False, True]) == [
        "name        n  notes",
        "a          10",
        "long name   5  1",
    ]


def test_the_text_shows_kinds_levels_and_missing_values(every_kind):
    text = told_by(every_kind, {}, ()).splitlines()
    assert text[1].split()[:2] == ["feature", "kind"]
    assert "bins/levels  if missing (share)" in text[1]
    line = next(line for line in text if line.startswith("categories"))
    assert line.split()[-4:] == ["2", "-1.5", "(20", "%)"]


def test_columns_are_aligned_with_wide_letters_and_accents(make_levels):
    names = ["plain", "日本語", "\U0001f995 dino", "cafe\u0301", "\u202eevil\x1b[31m", "\ud800"]
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    effects = [make_levels(("a", "b"), 1.0, name=name) for name in [*names, family]]
    lines = told_by(effects, {}, ()).splitlines()[2:]
    assert len({text_width(line) for line in lines}) == 1
    assert len({text_width(line.partition("categories")[0]) for line in lines}) == 1
    assert not any(sign in "".join(lines) for sign in "\u202e\x1b\ud800")
    assert text_width(family) == 2


def test_a_cut_name_is_no_wider_than_the_longest():
    assert shorten_name("日" * 40, 10) == "日" * 4 + "…"
    assert shorten_name("e\u0301" * 12, 12) == "e\u0301" * 12


@pytest.fixture(scope="module")
def regional():
    return make_regional()


def test_who_differs_is_a_column_where_that_was_asked_for(regional, fx):
    assert "differs by" not in str(fx)
    headers, *rows = regional._listing().tables[0].texts
    place = headers.index("differs by (in this model)")
    assert [row[place] for row in rows] == [
        "(groups: 50 %)",
        "perhaps x1",
        "gradually with x1, x2 (99 ± 1 %)",
    ]


def changed(tree, **changes):
    return listing.differs_by(replace(tree, **changes))


def test_those_who_differ_are_named_with_their_share(regional):
    tree = regional["x0"].regions
    second = replace(SPLIT, feature="sex")
    assert changed(tree, gradual=None) == "x1, x2 (99 ± 1 %)"
    assert changed(tree, gradual=None, splits=(second,), share=0.4) == "sex (40 ± 1 %)"
    assert changed(tree, gradual=None, splits=(second,) * 3) == "sex (99 ± 1 %)"
    assert changed(tree, gradual=None, standard_error=float("nan")) == "x1, x2 (99 %)"
    four = tuple(replace(SPLIT, feature=name) for name in "abcd")
    assert changed(tree, gradual=None, splits=four) == "a, b, c and 1 more (99 ± 1 %)"
    assert listing.differs_by(None) == ""


def test_what_acts_gradually_has_the_share_of_the_partner(regional):
    tree = regional["x0"].regions
    assert changed(tree, splits=(SPLIT,)) == "gradually with x1 (90 ± 1 %)"
    assert changed(tree, splits=(SPLIT,), partners=()) == "gradually with x1 (99 ± 1 %)"
    partners = (Partner("x1", 0.75, 0.02),)
    assert changed(tree, splits=(), partners=partners) == "gradually with x1 (75 ± 2 %)"


def test_nobody_differs_or_perhaps_somebody_does(regional):
    tree = alone(regional["x1"])
    assert listing.differs_by(tree) == ""
    assert changed(tree, state="doubtful", doubtful=(SPLIT,), share=0.3) == "perhaps x1"
    assert changed(tree, state="doubtful") == ""


def test_groups_have_their_share_alone(regional):
    tree = regional["x2"].regions
    assert listing.name_differing(tree) == "x1"
    assert changed(tree, share=float("nan")) == ""
    assert changed(tree, groups=Groups("x" * 99, 0, (Group(), Group()))) == "(groups: 50 %)"


def test_shares_have_the_decimal_that_their_errors_leave():
    assert write_share(0.5, 0.25) == "50 ± 25 %"
    assert write_share(0.98765, 0.00012) == "98.8 ± 0.1 %"
    assert write_share(-0.02, 0.0) == "-2 %"
    assert write_share(float("nan"), 0.1) == ""
    assert write_share(-0.0001, 0.001) == "0.0 ± 0.1 %"
    assert write_share(-0.001, 0.02) == "0 ± 2 %"
    assert write_share(0.5, float("inf")) == "50 %"
    assert len(write_share(1e300, 1e300)) < 20


def test_shares_are_told_with_and_without_regions(regional):
    """Slopes of 0 and 1 and steps of 1 and 2 are told by regions of x0 and x2."""
    said = next(line for line in lines_of(regional) if "sum of the curves" in line)
    alone, both = regional.explained_variance, regional.explained_with_regions
    assert said == (
        f"the sum of the curves explains {100 * alone:.0f} % of the variance of the predictions, "
        f"{100 * both:.0f} % with regions"
    )
    assert both > 0.97 > alone


def test_shares_of_several_outputs_are_told_by_their_names():
    shares = [(0.25, 0.5), (float("nan"), float("nan")), (0.5, 0.75)]
    (said,) = listing.describe_shares(("a", "b", "c"), shares)
    assert said == (
        "the sum of the curves explains of the variance of the predictions 25 % for 'a' (50 % with "
        "regions), 50 % for 'c' (75 % with regions)"
    )
    assert listing.describe_shares(tuple("abcde"), [(0.1, 0.2)] * 5)[0].endswith("so on for 2 more")
    assert listing.describe_shares(("a",), [(float("nan"),) * 2]) == ()


def test_how_much_the_curves_explain_is_always_printed():
    """Two lines: all of it; without regions nothing is said of them."""
    x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
    fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
    assert str(fx).endswith(
        "the sum of the curves explains 100 % of the variance of the predictions"
    )
    profile = rhale.explain(lambda rows: rows[:, 0], x, method="pdp")
    assert "explains" not in str(profile)


def test_what_some_features_explain_is_not_told_as_of_the_model():
    fx = rhale.explain(lambda rows: rows.sum(axis=1), ROWS, features=[0, 2], regions=True)
    (said,) = (line for line in str(fx).splitlines() if "sum of the curves" in line)
    assert said.startswith("the sum of the curves of these 2 of 3 features explains 67 %")
    whole = rhale.explain(lambda rows: rows.sum(axis=1), ROWS, regions=True)
    assert "the sum of the curves explains 100 %" in str(whole)
    facts = dict(
        make_page(fx.effects, fx.provenance, explained={"y0": fx.explained_variance}).facts
    )
    assert facts["Features"] == "2 of 3"
    assert facts["Explained by the curves of these features"].startswith("66.7 %")


def flat(name, size, **fields):
    effect = rhale.effect([0.0, 1.0], [size, size], name=name)
    return replace(effect, local_notes=(), **fields)


def test_the_largest_of_many_effects_are_listed_and_the_others_counted():
    effects = [flat(f"x{i}", float(i)) for i in range(200)]
    lines = told_by(effects, {}, ("a note",)).splitlines()
    assert [line.split()[0] for line in lines[2:22]] == [f"x{i}" for i in range(199, 179, -1)]
    assert lines[22:] == ["and 180 smaller ones: fx.summary() has all", "a note"]
    whole = told_by(effects, {}, (), most=None).splitlines()
    assert len(whole) == 2 + 200


def test_people_read_captions_and_units():
    captions = Captions({"x0": "Age"}, {"y0": "price"}, {"y0": "$", "x0": "years"})
    effect = flat("x0", 2.0, captions=captions)
    title, _, row = told_by([effect], {"rows": 2}, ()).splitlines()
    assert title.endswith("; effects on price ($)")
    assert row.split()[0] == "Age"
    told = "Age (years) on price ($): 1 bin from 0 to 1, importance 1 ± 0, typical spread 0"
    assert str(effect) == told
    assert repr(effect).startswith("Effect('x0', output='price', 1 bins")


def test_levels_and_dates_are_told_by_their_ends(every_kind):
    told = {effect.name: str(effect) for effect in every_kind}
    assert " levels from b to a" in told["categories"]
    assert "2 bins from 1970-01-01 to 1970-01-11" in told["date"]
    assert all("\n" not in line for line in told.values())


def test_what_is_rounding_beside_the_largest_effect_is_zero():
    effects = [flat("large", 1e6), flat("nothing", 1e-9)]
    last = told_by(effects, {}, ()).splitlines()[-1]
    assert last.split()[1:4] == ["0", "±", "0"]


def test_who_differs_is_named_by_captions(regional):
    tree = regional["x0"].regions
    words = Captions({"x1": "Income"})
    assert listing.differs_by(tree, words) == "gradually with Income, x2 (99 ± 1 %)"
    assert listing.name_differing(regional["x2"].regions, words) == "Income"
    doubtful = replace(tree, state="doubtful", doubtful=(SPLIT,))
    assert listing.name_differing(doubtful, words) == "perhaps Income"
