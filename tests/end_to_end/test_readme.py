"""Every Python block of the README and of the how-to pages runs, from an empty folder."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


BLOCKS = blocks_of(README)


@pytest.mark.parametrize("block", BLOCKS, ids=range(1, len(BLOCKS) + 1))
def test_a_block_of_the_readme_runs(block, tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    try:
        with mpl.rc_context({"backend": "agg"}):
            exec(compile(block, str(README), "exec"), {"__name__": "readme"})  # noqa: S102
    finally:
        plt.close("all")


@pytest.mark.parametrize(
    "name", ["tables", "scale", "regions", "interactions", "refits", "plots", "units", "compare"]
)
def test_the_blocks_of_a_page_run_one_after_the_other(name, tmp_path, monkeypatch):
    blocks = blocks_of(ROOT / "docs" / f"{name}.md")
    elsewhere = {"from pyspark.sql import SparkSession", "import ray"}  # run in tests/engines
    mine = [block for block in blocks if not elsewhere & set(block.splitlines())]
    test_a_block_of_the_readme_runs("\n".join(mine), tmp_path, monkeypatch)


def test_the_readme_has_examples_and_saves_what_it_says(tmp_path, monkeypatch):
    assert len(BLOCKS) >= 2
    assert all("import rhale" in block for block in BLOCKS)
    first = BLOCKS[0]
    test_a_block_of_the_readme_runs(first, tmp_path, monkeypatch)
    assert (tmp_path / "effects.json").exists() == ('save("effects.json")' in first)
