"""The scripts of the synthetic sections: they run, write their part, and their tables hold."""

import importlib
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import problems
import rhale

PAPER = Path(__file__).resolve().parents[2] / "paper"
FIGURES = {
    "intro": {"intro_x1", "intro_x2", "intro_x3"},
    "running": {"running_methods", "running_equal_bins"},
    "cases": {"cases_a", "cases_b", "cases_c"},
    "settings": {"settings_bins", "settings_spread"},
    "disagreements": set(),
}
each_script = pytest.mark.parametrize("name", FIGURES)


def script(name):
    if str(PAPER) not in sys.path:
        sys.path.insert(0, str(PAPER))  # the scripts find each other as they do when run
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a script once, into a folder of its own: gives its text and the folder."""

    @cache
    def once(name):
        report, folder = script("report"), tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(report, "PAGE", folder / "page")
            patch.setattr(report, "PARTS", folder / "parts")
            script(name).main()
        return (folder / "parts" / f"{name}.md").read_text(encoding="utf-8"), folder

    return once


def rows_of(text, first):
    """Cells of the rows of the table whose first heading is `first`."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


@each_script
def test_a_script_writes_its_section_with_a_heading_and_a_verdict(name, run):
    text = run(name)[0]
    assert text.startswith("## ")
    assert f"`paper/{name}.py`" in text
    assert "**Verdict" in text


@each_script
def test_a_script_draws_its_figures_and_shows_every_one(name, run):
    text, folder = run(name)
    drawn = {f.name for f in folder.glob("page/*")}
    assert drawn == {f"{figure}.{kind}" for figure in FIGURES[name] for kind in ("png", "svg")}
    assert set(re.findall(r"\]\((\w+)\.png\)", text)) == FIGURES[name]


@each_script
def test_every_row_of_a_table_is_as_long_as_its_heading(name, run):
    for block in run(name)[0].split("\n\n"):
        if block.startswith("|"):
            lengths = {len(re.split(r"(?<!\\)\|", line)) for line in block.strip().split("\n")}
            assert len(lengths) == 1, block


@pytest.mark.parametrize("name", ["intro", "running", "cases"])
def test_differences_on_the_page_are_those_of_reading_off_a_drawing(name, run):
    fits = rows_of(run(name)[0], "figure")
    assert len(fits) == {"intro": 6, "running": 4, "cases": 9}[name]
    for figure, bins, limits, effects, stds, curve, band in fits:
        if figure == "x1/rhale":
            assert (bins, limits, effects, stds) == ("1 / 4", "n/a", "n/a", "n/a")
        else:
            assert float(limits) <= 1e-6
            assert max(float(effects), float(stds)) <= 2e-7
        assert float(curve.split(" / ")[-1]) <= 2e-6
        assert float(band.split(" / ")[-1]) <= 2e-6


def test_the_running_example_says_where_bins_without_rows_are_filled_in_otherwise(run):
    text = run("running")[0]
    assert "17 bins have no row and 16 have one" in text
    assert len(rows_of(text, "bin")) == 7


def test_partial_dependence_on_the_rows_of_the_cases_is_near_its_closed_form(run):
    rows = rows_of(run("cases")[0], "PDP of")
    assert len(rows) == 9
    assert all(float(row[-1]) < 3 for row in rows)


def test_the_settings_of_the_text_fail_study_1_and_moved_kinks_fail_the_program(run):
    rows = rows_of(run("settings")[0], "problem")
    sigma = {(row[0], row[1]): float(row[3].split()[0]) for row in rows}
    assert sigma["study 1", "code, 20 cells"] < 0.06
    assert sigma["study 1", "text, 20 cells"] > 0.4
    assert sigma["study 1, kinks moved", "code, 20 cells"] > 1.0
    assert sigma["study 1, kinks moved", "equal bins, K = 80"] < 0.25


# 30 runs on other samples, computed independently: means and standard errors
@pytest.mark.parametrize(
    ("study", "way", "losses", "errors"),
    [
        (0, "code, 20 cells", (0.0705, 0.0468), (0.0036, 0.0027)),
        (0, "text, 20 cells", (0.1267, 0.6377), (0.0123, 0.0713)),
        (1, "code, 20 cells", (0.0653, 0.0497), (0.0022, 0.0013)),
    ],
)
def test_losses_with_exact_truth_agree_with_other_samples(study, way, losses, errors):
    settings = script("settings")
    runs = settings.measure(settings.STUDIES[study], way)[:, :2]
    error = np.hypot(errors, runs.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    assert np.all(np.abs(runs.mean(axis=0) - losses) < 2 * error)


def test_the_two_formulas_for_the_spread_differ_unless_there_is_one_bin(run):
    found = {row[0]: row[1:] for row in rows_of(run("settings")[0], "fit")}
    assert found == {
        "intro x2, 20 bins": ["7.927", "7.927", "1.930"],
        "intro x2, 1 bin": ["9.968", "9.968", "9.968"],
        "running x1, 7 bins": ["1.757", "1.757", "0.918"],
        "study 2, 30 bins": ["0.376", "0.376", "0.075"],
    }


def test_fewest_rows_hold_in_any_unit_and_a_constant_effect_is_one_bin(run):
    found = [row[1] for row in rows_of(run("settings")[0], "asked")]
    assert len(set(found[:3])) == 1
    assert int(re.search(r"with (\d+) rows", found[0])[1]) >= 60
    assert found[3:] == ["1 bin"] * 3


def test_all_26_disagreements_are_there_in_order(run):
    rows = rows_of(run("disagreements")[0], "#")
    assert [row[0] for row in rows] == [str(number) for number in range(1, 27)]
    assert all(row[1] and row[2] and row[4] for row in rows)


def test_a_disagreement_links_to_the_heading_of_the_section_that_shows_it(tmp_path, monkeypatch):
    (tmp_path / "cases.md").write_text("## Cases a, b: PDP-ICE (all)\n\ntext\n", encoding="utf-8")
    monkeypatch.setattr(script("report"), "PARTS", tmp_path)
    assert script("disagreements").link("cases") == "[Cases a, b](#cases-a-b-pdp-ice-all)"
    assert script("disagreements").link("run_time") == "`run_time.py`"


# --- partial dependence and curves of single rows against algebra ---------------------------------

CASES = {"a": problems.case_a, "b": problems.case_b, "c": problems.case_c}
MIDPOINTS = (np.arange(4000) + 0.5) / 4000
PAIRED = np.column_stack([MIDPOINTS, MIDPOINTS, np.zeros(4000)])


def profile_of(problem, rows, column, limits, method="pdp"):
    fx = rhale.explain(
        problem.predict, rows, method=method, features=column, bins=50, limits=limits
    )
    return fx[0]


def test_closed_forms_of_case_a_are_the_printed_polynomials():
    low, high = np.linspace(0, 0.5, 11), np.linspace(0.5, 1, 11)
    form = script("cases").true_dependence
    assert form("a", "x1", low) == pytest.approx(-(low**2) / 2, abs=1e-15)
    assert form("a", "x1", high) == pytest.approx((high**2 - high) / 2, abs=1e-15)
    assert form("c", "x1", low, printed=True) == pytest.approx(0.25 - low**2 / 2, abs=1e-15)
    assert form("c", "x1", high, printed=True) == pytest.approx((1 - high) ** 2 / 2, abs=1e-15)


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("feature", ["x1", "x2", "x3"])
@pytest.mark.parametrize("case", CASES)
def test_partial_dependence_of_a_case_is_its_closed_form(case, feature, printed):
    cases, problem = script("cases"), CASES[case](continuous=printed)
    column = problem.names.index(feature)
    profile = profile_of(problem, PAIRED, column, cases.LIMITS[feature] if column < 2 else None)
    if column == 2:  # x3 is 0 in these rows: take others
        rows = PAIRED + np.array([0.0, 0.0, 1.0]) * np.linspace(-2, 2, 4000)[:, None]
        profile = profile_of(problem, rows, column, (-2, 2))
    exact = cases.true_dependence(case, feature, profile.grid, printed=printed)
    assert profile.mean == pytest.approx(exact, abs=5e-4)


@pytest.mark.parametrize(("case", "weights"), [("a", (1.0, 1.0)), ("b", (2.0, 0.5))])
@pytest.mark.parametrize(("printed", "top"), [(False, 0.5), (True, 1.0)])
def test_curves_of_single_rows_of_a_case_are_g_of_the_weighted_sum(case, weights, printed, top):
    rows = PAIRED[::40]
    profile = profile_of(CASES[case](continuous=printed), rows, 0, (0, 1), method="ice")
    total = weights[0] * profile.grid + weights[1] * profile.curve_x[:, None]
    g = np.where(total <= 0.5, total, np.where(total < 1, top - total, 0.0))
    assert profile.ice() == pytest.approx(g, abs=1e-12)


def test_centred_curves_of_x3_in_case_c_are_straight_lines_of_slope_x1():
    rows = np.column_stack([MIDPOINTS, MIDPOINTS, MIDPOINTS])[::40]  # so that curve_x is x1 too
    profile = profile_of(problems.case_c(), rows, 2, (0, 1), method="ice")
    expected = profile.curve_x[:, None] * profile.grid
    assert profile.ice(center="start") == pytest.approx(expected - expected[:, :1], abs=1e-12)


def test_partial_dependence_of_the_running_example_is_its_closed_form():
    problem, side = problems.running(), np.repeat([-0.1, -0.2, -0.3, -0.4, -0.05, 0.2], 20)
    x2 = np.tile([-1.0, 1.0], 60)  # mean 0, and x3 negative in five of six rows
    rows = np.column_stack([side, x2, side])
    profile = profile_of(problem, rows, 0, (-0.5, 0.5))
    exact = script("running").true_dependence(profile.grid)
    assert profile.mean == pytest.approx(exact, abs=1e-12)
