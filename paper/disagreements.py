"""Where the paper's text, its program and the mathematics disagree: 26 places, with our numbers."""

from __future__ import annotations

import re

import cases
import compare
import numpy as np
import report
import running
import settings
import spread

import problems
import rhale

CLAIM = """\
## Where text, program and mathematics disagree

`paper/disagreements.py`. The published figures come out of the authors' program, so its settings are
what the other sections run. The text differs from it, or from the mathematics, in these 26 places.
"""
VERDICT = """\
**Verdict.** None of the 26 touches the idea of the paper; rows 1, 12, 16, 17 and 25 change what its
numbers can be taken to show, and rows 5, 6, 9, 10 and 11 are truths that are misprinted.
"""
# number: (the text, the program or the truth, section that shows it)
PLACES = {
    1: (
        "discount 0.2 and N/20 rows a bin are typical",
        "0.3 with 10 or 30 rows, 0.5 with 10, 0.1 with 5; N/20 nowhere",
        "settings",
    ),
    2: ("variance with divisor n - 1", "divisor n, in the price and in the bins", "cases"),
    3: (
        "30 runs in both studies",
        "10 runs; every K and RHALE see samples of their own",
        "study_1",
    ),
    4: ("500 rows", "502: both ends of the axis are added", "study_1"),
    5: ("x2 has variance 0.5", "standard deviation 0.5 in study 1, 0.4 in study 2", "study_2"),
    6: (
        "true effects a·x1 and 4 x1²",
        "x2 follows x1, which adds z to the slope: a·x1 + x1²/2 and 4.5 x1²",
        "study_2",
    ),
    7: ("x2 = x1 plus noise of 0.01 in the cases", "no noise: x2 = x1", "cases"),
    8: (
        "g falls as 1 - t",
        "as 1/2 - t, with a jump: same derivatives, other PDP and ICE",
        "cases",
    ),
    9: (
        "the effect falls as 1/4 - x in case a; x2 of case b has slope 2",
        "1/2 - x; slope 1/2",
        "cases",
    ),
    10: ("x3 deviates by 1/4 in case c", "by 1/√12, the deviation of a uniform x1", "cases"),
    11: (
        "derivative 2πz cos(2πz); x3 around 0",
        "2π cos(2πz); x3 around x1",
        "running",
    ),
    12: ("STD(x) is the root of summed squares", "the plain sum, in every figure", "settings"),
    13: ("the curve starts at 0", "it has mean zero over a uniform grid of x", "running"),
    14: (
        "E is a mean square in one place, its root in another",
        "L^rho is the mean over bins of a standard deviation",
        "study_1",
    ),
    15: (
        r"L^mu and L^sigma divide by \|Z\| - 1, L^rho by \|Z\|",
        "means over the bins, all",
        "study_1",
    ),
    16: (
        "a bin's truth is the average of its dense cells",
        "sigma: root of the mean variance; the first dense cell of a bin is left out",
        "study_1",
    ),
    17: (
        "every K from 2 on",
        "runs with a bin of fewer than two rows are dropped silently, so large K rest on few runs",
        "study_1",
    ),
    18: (
        "the recursion mixes its indices",
        "the number of bins is an idle index: T(j) = min T(l) + B(l, j)",
        "run_time",
    ),
    19: (
        "100 cells take seconds, whatever the number of rows",
        "time grows with K³ N; with K² after one pass here",
        "run_time",
    ),
    20: ("rows beyond one deviation are outliers", "beyond three", "california_data"),
    21: ("layers 256, 128, 36; rate 0.02", "256, 128, 32; rate 0.01", "california_data"),
    22: ("table row of y", "describes all 20433 rows, not the 19549 kept", "california_data"),
    23: ("log L", "natural logarithm, standardised units", "california_bins"),
    24: ("x6 is the median income", "x8 is", "california_effects"),
    25: ("nothing", "small bins cost 1e10, which effects in dollars outbid", "settings"),
    26: ("nothing", "rounding splits a constant effect of 0.2 into four bins", "intro"),
}


def numbers() -> dict[int, str]:
    """What we computed, for the places where a number tells."""
    first, second, c = problems.study_1(), problems.study_2(), problems.case_c()
    losses = [
        settings.measure(settings.STUDIES[0], w) for w in ("code, 20 cells", "text, 20 cells")
    ]
    code, text = (runs[:, 1].mean() for runs in losses)
    x1, x3 = (compare.fit(c, n, cases.AUTOMATIC, cases.LIMITS[n]) for n in ("x1", "x3"))
    by_n, by_less = compare.published_std(x1)[0], x1.std[0]
    rows = {problem.name: problem.paper_sample() for problem in (first, second)}
    noise = [np.std(sample[:, 1] - sample[:, 0]) for sample in rows.values()]
    slope = rhale.effect(
        rows["study_2"][:, 0], second.gradient(rows["study_2"])[:, 0], bins=40, limits=(0, 1)
    )
    same = np.ptp(c.paper_sample()[:, 0] - c.paper_sample()[:, 1])
    start = [cases.true_dependence("a", "x1", np.zeros(1), printed=p)[0] for p in (False, True)]
    b = compare.fit(problems.case_b(), "x2", cases.AUTOMATIC, (0, 1))
    run = compare.fit(problems.running(), "x1", running.AUTOMATIC, running.LIMITS)
    both, traps = spread.rows()[0], spread.trap_rows()
    return {
        1: f"L^sigma of study 1: {code:.3f} with the program's, {text:.3f} with the text's",
        2: f"case c, first bin: {by_n:.4f} with n, {by_less:.4f} with n - 1",
        4: f"{len(rows['study_1'])} rows",
        5: f"{noise[0]:.3f} and {noise[1]:.3f} on the plotted rows",
        6: f"study 2 rises by {slope.curve(1.0, center='start'):.3f} on the plotted rows",
        7: f"largest difference {same:g}",
        8: f"PDP of x1 in case a starts at {start[0]:g}, as printed at {start[1]:g}",
        9: f"x2 of case b: {b.mean[0]:g}, {b.mean[1]:g}, {b.mean[2]:g}",
        10: f"{compare.published_std(x3)[0]:.4f} on the rows, {1 / np.sqrt(12):.4f} exact",
        11: f"first bin {run.mean[0]:.2f}; as printed at most π there",
        12: f"x2 of the introduction, 20 bins: {both[1]} by the sum, {both[3]} by the root",
        13: f"starts at {run.curve(-0.5, center='uniform'):.4f}",
        25: f"effects of 1e6: {traps[2][1]}, 60 asked",
        26: traps[3][1],
    }


def link(section: str) -> str:
    """Link to a section of the page by its heading, once its script has run."""
    part = report.PARTS / f"{section}.md"
    if not part.exists():
        return f"`{section}.py`"
    heading = part.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    return f"[{heading.split(':')[0]}](#{anchor})"


def main() -> None:
    """Write the table."""
    ours = numbers()
    rows = [
        [number, said, done, ours.get(number, ""), link(section)]
        for number, (said, done, section) in PLACES.items()
    ]
    header = ("#", "the text says", "the program does, or the truth is", "our number", "shown in")
    report.write_part("disagreements", CLAIM, report.table(header, rows), VERDICT)


if __name__ == "__main__":
    main()
