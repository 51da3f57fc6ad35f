"""Put the sections that the scripts wrote together into docs/paper/README.md."""

from __future__ import annotations

import sys

from report import PAGE, PARTS, assemble

# the order of the page; each is written by the script of the same name
SECTIONS = (
    "intro",
    "running",
    "cases",
    "study_1",
    "study_2",
    "settings",
    "california_data",
    "california_effects",
    "california_bins",
    "run_time",
    "disagreements",
)
HEAD = """# The paper, reproduced

Every figure and number of the RHALE paper (Gkolemis, Dalamagas, Ntoutsi and Diou, ECAI 2023) that
can be computed, computed by `rhale`. `make paper` writes this page and its figures anew; each
section names its script. Published numbers were read from the vector files of the paper's figures.
"""

if __name__ == "__main__":
    sys.exit(assemble(HEAD, SECTIONS, PARTS, PAGE / "README.md"))
