"""Every Python block of the README runs, from an empty folder."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("block", BLOCKS, ids=range(1, len(BLOCKS) + 1))
def test_a_block_of_the_readme_runs(block, tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    try:
        with mpl.rc_context({"backend": "agg"}):
            exec(compile(block, str(README), "exec"), {"__name__": "readme"})  # noqa: S102
    finally:
        plt.close("all")


def test_the_readme_has_examples_and_saves_what_it_says(tmp_path, monkeypatch):
    assert len(BLOCKS) >= 2
    assert all("import rhale" in block for block in BLOCKS)
    first = BLOCKS[0]
    test_a_block_of_the_readme_runs(first, tmp_path, monkeypatch)
    assert (tmp_path / "effects.json").exists() == ('save("effects.json")' in first)
