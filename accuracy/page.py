"""Put the sections that the scripts wrote together into docs/accuracy.md."""

from __future__ import annotations

import sys

from parts import PAGE, PARTS

# the order of the page; each is written by the script of the same name
SECTIONS = ("random_problems", "california_subsets", "curves", "trees", "coverage")
HEAD = """# How accurate the bins, the curve and the intervals are

Everything here is measured against a known truth, or against far more rows than were used.
`make accuracy` writes this page anew; each section names its script. Settings were chosen on some
problems and seeds, and are reported on others.
"""


def main() -> int:
    """Write the page, or say which sections are missing."""
    missing = [name for name in SECTIONS if not (PARTS / f"{name}.md").exists()]
    if missing:
        print(f"no page: run the scripts of these sections first: {', '.join(missing)}")
        return 1
    parts = [(PARTS / f"{name}.md").read_text(encoding="utf-8") for name in SECTIONS]
    PAGE.write_text("\n".join([HEAD, *parts]), encoding="utf-8")
    print(f"wrote docs/{PAGE.name} with {len(parts)} sections")
    return 0


if __name__ == "__main__":
    sys.exit(main())
