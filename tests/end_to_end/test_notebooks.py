"""The notebooks in examples/ run as a user runs them, and what they show is looked at."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")
pytest.importorskip("sklearn")
pytest.importorskip("numba")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 100_000  # letters of a small page


def convert(path, folder, *options):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "nbconvert", *options, str(path), "--output-dir", str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        encoding="utf-8",
        timeout=1_200,  # bounds a hang, and nothing else
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def ran(request, tmp_path_factory):
    """A notebook after all its cells were run, and its page."""
    folder = tmp_path_factory.mktemp("notebook")
    convert(request.param, folder, "--to", "notebook", "--execute")
    done = folder / request.param.name
    convert(done, folder, "--to", "html")
    cells = json.loads(done.read_text(encoding="utf-8"))["cells"]
    return cells, done.with_suffix(".html").read_text(encoding="utf-8")


def shown(cells, kind):
    """What cells show in one kind of data, by their last line."""
    return {
        "".join(cell["source"]).splitlines()[-1]: "".join(output["data"][kind])
        for cell in cells
        if cell["cell_type"] == "code"
        for output in cell["outputs"]
        if kind in output.get("data", {})
    }


def test_there_are_three_and_they_are_kept_without_outputs():
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code), path


@pytest.mark.slow
def test_every_result_shows_a_small_page_without_a_script(ran):
    cells, _ = ran
    pages = {
        line: html for line, html in shown(cells, "text/html").items() if "dataframe" not in html
    }
    assert len(pages) >= 2
    for line, html in pages.items():
        assert "<svg" in html, line
        assert "<script" not in html, line
        assert len(html) < LARGEST, line
    one = [html for line, html in pages.items() if re.fullmatch(r"[fir]x\[.*\]", line)]
    assert len(one) >= 1
    assert all('role="img"' in html for html in one)


@pytest.mark.slow
def test_plots_show_a_picture_and_print_no_array(ran):
    cells, _ = ran
    pictures = [line for line in shown(cells, "image/png") if ".plot(" in line]
    assert pictures
    printed = shown(cells, "text/plain")
    assert not any("array(" in printed.get(line, "") for line in pictures)


@pytest.mark.slow
def test_rows_of_a_summary_hold_no_sentences(ran):
    cells, page = ran
    frames = [html for html in shown(cells, "text/html").values() if "dataframe" in html]
    found = [text for html in frames for text in re.findall(r"<td>(.*?)</td>", html)]
    assert max(map(len, found), default=0) <= 40
    assert "Traceback" not in page
