"""The README's first example does what its comments say."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

from pages import blocks_of, run_page


def test_the_readme_has_examples_and_saves_what_it_says(tmp_path):
    blocks = [b for b in blocks_of(README.read_text(encoding="utf-8")) if b.language == "python"]
    assert all("import rhale" in block.code for block in blocks)
    first = blocks[0].code
    next(shown for shown in run_page(README, tmp_path) if shown.block.language == "python")
    assert (tmp_path / "effects.json").exists() == ('save("effects.json")' in first)
