"""Every command of docs/how-to/cli.md runs, in an empty folder with its two models."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

for library in ("typer", "skops", "lightgbm", "pyarrow", "vl_convert"):
    pytest.importorskip(library)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "cli.md").read_text(
    encoding="utf-8"
)
COMMANDS = [line for line in PAGE.splitlines() if line.startswith("rhale ")]
LEFT_OUT = ["rhale demo"]  # test_demo.py runs it


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("docs")
    for block in blocks("python"):
        subprocess.run([sys.executable, "-c", block], cwd=place, check=True)  # noqa: S603
    return place


@pytest.mark.slow
def test_every_command_of_the_page_runs(folder):
    assert [line for block in blocks("sh") for line in block.splitlines()] == COMMANDS
    for line in COMMANDS:
        if line in LEFT_OUT:
            continue
        command = [sys.executable, "-m", "rhale.cli", *shlex.split(line)[1:]]
        done = subprocess.run(  # noqa: S603 - our own commands
            command,
            cwd=folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)
    assert (folder / "differences.csv").exists()
    assert len(list((folder / "pictures").iterdir())) == 11


def test_the_page_names_every_command_and_option():
    from typer.main import get_command

    from rhale.cli.app import app

    for name, command in get_command(app).commands.items():
        assert f"rhale {name}" in PAGE
        if name in ("explain", "refit"):
            options = {option for p in command.params for option in p.opts if option[:2] == "--"}
            assert {o for o in options if o not in PAGE} <= {"--help"}
