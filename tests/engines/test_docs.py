"""The blocks about Spark and Ray of the page on large tables run, after those that make the rows."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"


@pytest.mark.parametrize("engine", ["spark", "ray"])
def test_the_block_about_an_engine_runs(engine, request, tmp_path, monkeypatch):
    request.getfixturevalue(engine)
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (own,) = [
        block for block in blocks if re.search(rf"^(from py|import ){engine}", block, re.MULTILINE)
    ]
    names = {"__name__": "docs"}
    exec(compile(blocks[0] + own, str(PAGE), "exec"), names)  # noqa: S102
    assert names["fx"].features == ("age", "income", "city")
