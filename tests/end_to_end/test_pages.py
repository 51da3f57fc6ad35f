"""Every block of the README and of every page runs, one after the other, in an empty folder."""

import os
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

from pages import blocks_of, run_page

MADE = ("_live", "gallery", "generated")  # by the build
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not set(page.parts) & set(MADE)]
LIVE = [
    page
    for page in PAGES
    if any(block.language == "python" for block in blocks_of(page.read_text(encoding="utf-8")))
]
QUICK = {"README.md"}  # `make docs` runs all of them at every landing, and `make test-all` does
# `make test-peers` has every library that its pages need, and says so
ALL_BLOCKS = os.environ.get("RHALE_ALL_BLOCKS") == "1"


def by_name(page):
    mark = [] if page.relative_to(ROOT).as_posix() in QUICK else [pytest.mark.slow]
    return pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=mark)


@pytest.mark.parametrize("page", [by_name(page) for page in LIVE])
def test_the_blocks_of_a_page_run(page, tmp_path):
    try:
        shown = list(run_page(page, tmp_path))
    finally:
        plt.close("all")
    assert any(not one.not_run for one in shown)
    left_out = [f"line {one.block.line} {one.not_run}" for one in shown if one.not_run]
    assert not (ALL_BLOCKS and left_out), left_out
    assert_printed_as_written(shown, page.read_text(encoding="utf-8"))


def assert_printed_as_written(shown, text):
    """The build may lack a library, so the page itself has, as text, what such a block prints."""
    written = {
        block.start: below.code
        for block, below in pairwise(blocks_of(text))
        if block.needs and below.language == "text" and not text[block.end : below.start].strip()
    }
    for one in shown:
        if one.block.start in written and not one.not_run:
            assert one.printed == written[one.block.start]


def test_a_page_shows_what_its_blocks_print_and_draw(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# T\n\n```python\na = 2\na + 1\n```\n\n```text\nnot run\n```\n\n"
        "```python\nprint(a)\nimport matplotlib.pyplot as plt\nplt.figure().add_subplot()\n```\n\n"
        "```python needs=no_such_module\nraise RuntimeError\n```\n",
        encoding="utf-8",
    )
    first, second, third = run_page(page, tmp_path)
    assert (first.printed, first.figures) == ("3\n", [])
    assert (second.printed, len(second.figures)) == ("2\n", 1)
    assert third.not_run == "needs no_such_module"


@pytest.mark.parametrize("asked", ['fx.plot("x0")', "fx.plot()", 'fx.plot("x0", kind="curve")'])
def test_a_picture_stands_for_the_panels_that_it_gives_back(asked, tmp_path):
    page = tmp_path / "page.md"
    code = "import numpy as np, rhale\nX = np.arange(60.0).reshape(30, 2)\n"
    code += f"fx = rhale.explain(lambda x: x[:, 0], X)\n{asked}\n"
    page.write_text(f"# T\n\n```python\n{code}```\n", encoding="utf-8")
    (shown,) = run_page(page, tmp_path)
    assert (shown.printed, len(shown.figures)) == ("", 1)


def test_a_block_that_fails_names_its_page_and_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# T\n\n```python\n1 / 0\n```\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError) as failed:
        list(run_page(page, tmp_path))
    last = failed.traceback[-1]
    assert (Path(last.path).name, last.lineno + 1) == ("page.md", 4)


def write_page(folder, needs, answer):
    page = folder / "page.md"
    block = f"```python quiet needs={needs}\nprint(2 + 2)\n```\n"
    text = f"# T\n\n```python\n1\n```\n\n{block}\n```text\n{answer}\n```\n"
    page.write_text(text, encoding="utf-8")
    return page


def test_what_a_block_with_needs_prints_must_be_what_the_page_says(tmp_path):
    test_the_blocks_of_a_page_run(write_page(tmp_path, "numpy", "4"), tmp_path)
    with pytest.raises(AssertionError):
        test_the_blocks_of_a_page_run(write_page(tmp_path, "numpy", "5"), tmp_path)


def test_a_block_that_is_not_run_fails_where_all_must_run(tmp_path, monkeypatch):
    page = write_page(tmp_path, "no_such_module", "4")
    monkeypatch.setattr(sys.modules[__name__], "ALL_BLOCKS", False)
    test_the_blocks_of_a_page_run(page, tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "ALL_BLOCKS", True)
    with pytest.raises(AssertionError, match="no_such_module"):
        test_the_blocks_of_a_page_run(page, tmp_path)


def test_a_misspelt_word_of_a_block_is_refused():
    with pytest.raises(ValueError, match="quiet"):
        blocks_of("```python silent\n1\n```\n")
