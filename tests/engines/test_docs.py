"""The blocks about Spark and Ray of the pages run, after those that make the rows."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

from pages import blocks_of, run_python

NEEDS = {"spark": "pyspark", "ray": "ray"}
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if any(set(b.needs) & set(NEEDS.values()) for b in blocks_of(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("engine", NEEDS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_about_an_engine_run(page, engine, request, tmp_path, monkeypatch):
    """The first block of a page makes the rows."""
    request.getfixturevalue(engine)
    monkeypatch.chdir(tmp_path)
    first, *others = [
        b for b in blocks_of(page.read_text(encoding="utf-8")) if b.language == "python"
    ]
    own = [block for block in others if NEEDS[engine] in block.needs]
    names = {"__name__": "__page__"}
    for block in (first, *own):
        run_python(block, str(page), names)
    assert own
    assert isinstance(names["fx"].features, tuple)
