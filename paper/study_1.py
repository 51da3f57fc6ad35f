"""Section 4.2, first study: five stretches of constant slope, over all numbers of bins.

f = h(x1) + x1 x2, h with slopes 2, -2, 5, -10, 1/2 and kinks on a grid of 1/20. RHALE beats every
fixed K there; with its text's settings, or with kinks off the grid, it does not.
"""

from __future__ import annotations

import report
import studies

import problems

KINKS = (0.213, 0.387, 0.461, 0.523)
STUDY = studies.Study(
    problems.study_1(),
    std=0.5,
    key="split1",
    n_bins=range(2, 101),
    reference={
        "code, K_max 20": (0.0705, 0.0468, 0.0388, 7.9, 0.089, None, 0.0092),
        "code, K_max 40 (as plotted)": (0.1090, 0.0707, 0.0213, 15.3, None, None, None),
        "text, K_max 20": (0.1267, 0.6377, 0.7310, 6.6, 0.507, 0.422, 0.0329),
        "text, K_max 40": (0.1296, 0.5748, 0.6414, 7.3, None, None, None),
        "text, K_max 100": (0.1259, 0.4590, 0.5031, 8.6, None, None, None),
    },
    oracle={
        "L^mu": (0.0791, 20),
        "L^sigma": (0.0608, 20),
        "i_mu": (0.079, 20),
        "i_sigma": (0.061, None),
        "i_f": (0.0065, None),
    },
)
MOVED = studies.Study(
    problems.study_1(kinks=KINKS),
    std=0.5,
    reference={
        "code, K_max 20": (0.264, 1.238, None, None, 0.802, 0.754, None),
        "code, K_max 40 (as plotted)": (0.270, 0.749, None, None, 0.471, 0.411, None),
        "text, K_max 100": (0.138, 0.387, None, None, 0.224, 0.270, None),
    },
    oracle={
        "L^mu": (0.108, 1),
        "L^sigma": (0.210, 80),
        "i_mu": (0.259, 80),
        "i_sigma": (0.209, 80),
    },
)
CLAIM = """\
## Study 1: a piecewise-linear effect, over all numbers of bins

`paper/study_1.py`. f = h(x1) + x1 x2, where h has the slopes 2, -2, 5, -10 and 1/2 between kinks at
0.2, 0.4, 0.45 and 0.5; x1 uniform on (0, 1), x2 normal around x1 with standard deviation 0.5. The
paper shows that RHALE, which may give every stretch its own bin, estimates the mean effect and the
heterogeneity better than ALE with any fixed number of bins K.

**The plotted sample**, with 40 cells, at least 10 rows a bin, a discount of 0.3
"""
PUBLISHED = """\
**The published protocol**: ten samples of 502 rows for every K and ten others for RHALE (20 cells, at
least 10 rows, discount 0.3, variance with divisor n), compared with a million simulated rows in 1000
cells. The truth of a bin is the average over its cells without the first one; runs in which a bin
has fewer than two rows are dropped: 11 of the 99 numbers of bins are missing, and others near them
stand on a few lucky runs.
"""
FAIR = """\
**A fair protocol**: the same 30 samples of 502 rows for every way of choosing bins, and the exact
truth. L^mu and L^sigma average over the bins that each method chose for itself, so we add errors
that know no bins: i_mu, i_sigma and i_f are means over x of the distance between estimate and truth,
for the mean effect, the heterogeneity and the centred curve. Ours ± standard error; in brackets
numbers that another program found before this library was written (30 samples of another seed; the
integrated errors 60). "Text" is a discount of 0.2, N/20 = 25 rows a bin and divisor n - 1. "Best fixed
K" knows the truth.
"""
OFF_GRID = """\
**Kinks off the grid**: the same with kinks at 0.213, 0.387, 0.461 and 0.523. No limit of 20 or
40 cells is a kink any more. In brackets: 100 samples, and the best of fewer numbers of bins.
"""


def luck(seed: int) -> float:
    """L^mu of RHALE, with the settings of the code, over one set of 30 samples."""
    samples = studies.draw_samples(STUDY, 30, seed)
    return float(studies.measure(STUDY, samples, *studies.WAYS["code, K_max 20"])[:, 0].mean())


def main() -> None:
    """Run both protocols, then the fair one with kinks off the grid; draw and write."""
    lines = studies.repeat_published(STUDY)
    ways, fixed = studies.measure_all(STUDY, studies.draw_samples(STUDY, 30, studies.FAIR_SEED))
    moved, moved_fixed = studies.measure_all(
        MOVED, studies.draw_samples(MOVED, 30, studies.FAIR_SEED)
    )
    off, beaten = studies.farthest(STUDY, lines), studies.beaten_by(lines)
    code, text = (ways[f"{name}, K_max 20"][:, 1].mean() for name in ("code", "text"))
    ahead = []
    for column, error in enumerate(studies.ERRORS):
        if error not in ("L^rho", "bins"):
            rival = fixed[studies.best_fixed(fixed, error)][:, column].mean()
            ours = ways["code, K_max 20"][:, column].mean()
            ahead.append(f"{error} {ours:.4f} against {rival:.4f}")
    kind = sum(luck(seed) <= STUDY.reference["code, K_max 20"][0] for seed in range(1, 101))
    best = studies.best_fixed(moved_fixed, "L^sigma")
    code_off, best_off = moved["code, K_max 20"][:, 1].mean(), moved_fixed[best][:, 1].mean()
    met = f"""\
All {len(lines.fixed)} x 3 points and the three lines differ from the published ones by at most
{off:.0e}, the rounding of the read-off numbers. Fixed K that beat RHALE: {beaten[0]} in L^mu and
{beaten[1]} in L^sigma, as published.
"""
    exact, near = (studies.distance_from_reference(STUDY, way) for way in ("code", "text"))
    fair = f"""\
On the very samples of the numbers in brackets, L^mu, L^sigma and L^rho differ from them by at most
{exact:.0e} with the settings of the code (their rounding) and by {near:.0e} with those of the text, whose
bins lie across kinks. Those samples are kind to RHALE: of 100 other sets of 30, {kind} have an L^mu as
small as theirs. Whether RHALE, with the settings of the code, beats the best fixed K depends on the
error: {", ".join(ahead)}.
"""
    verdict = f"""\
**Verdict: reproduced, but the claim is narrower than it reads**: RHALE beats every fixed K only with
the settings of the code and kinks on its grid; with the settings of the text L^sigma is {text:.2f}
instead of {code:.3f}, and with kinks off the grid {code_off:.2f}, where K = {best} has {best_off:.2f}.
"""
    report.write_part(
        "study_1",
        CLAIM,
        studies.draw_example(STUDY, "study_1_effect"),
        studies.table_of_example(STUDY),
        PUBLISHED,
        studies.draw_lines(STUDY, lines, "study_1_published"),
        met,
        studies.table_of_lines(STUDY, lines),
        FAIR,
        studies.draw_errors(ways, fixed, "study_1_fair"),
        studies.table_of_errors(STUDY, ways, fixed),
        fair,
        OFF_GRID,
        studies.draw_errors(moved, moved_fixed, "study_1_off_grid"),
        studies.table_of_errors(MOVED, moved, moved_fixed),
        verdict,
    )


if __name__ == "__main__":
    main()
