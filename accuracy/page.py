"""Put the sections that the scripts wrote together into docs/accuracy.md."""

from __future__ import annotations

import sys

from parts import PAGE, PARTS
from report import assemble

# the order of the page; each is written by the script of the same name
SECTIONS = (
    "random_problems",
    "two_looks",
    "oracle",
    "additive",
    "california_subsets",
    "curves",
    "audit",
    "trees",
    "spreads",
    "tree_regions",
    "jumps",
    "intervals",
    "regions",
    "pairs",
    "refits",
    "comparisons",
)
HEAD = """# How accurate the bins, the curve and the intervals are

Everything here is measured against a known truth, or against far more rows than were used.
`make accuracy` writes this page anew; each section names its script. Settings were chosen on some
problems and seeds, and are reported on others.
"""

if __name__ == "__main__":
    sys.exit(assemble(HEAD, SECTIONS, PARTS, PAGE))
