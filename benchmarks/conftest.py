"""Collect what every benchmark measured, and print it as one table at the end."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import pytest
from measuring import Ledger, table_of

README = Path(__file__).with_name("README.md")
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
LEDGER = pytest.StashKey[Ledger]()


def pytest_addoption(parser):
    parser.addoption(
        "--write-table",
        action="store_true",
        help="put the measured table into benchmarks/README.md",
    )


def pytest_configure(config):
    config.stash[LEDGER] = Ledger()
    config.option.benchmark_columns = ["min", "median", "rounds"]


@pytest.fixture
def ledger(request):
    return request.config.stash[LEDGER]


def pytest_terminal_summary(terminalreporter, config):
    lines = config.stash[LEDGER].lines
    if not lines:
        return
    table = table_of(lines)
    terminalreporter.section("measured")
    terminalreporter.write_line(table)
    if config.getoption("--write-table"):
        write_table(table)
        terminalreporter.write_line(f"\nwritten to {README.name}")


def write_table(table):
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{START}\n{versions()}\n\n{table}\n{END}{after}", encoding="utf-8")


def versions():
    """Say what was measured, so that a later table can be compared."""
    peers = ("numpy", "scikit-learn", "torch", "effector", "PyALE")
    said = ", ".join(f"{name} {version(name).partition('+')[0]}" for name in peers)
    busy = f"load average {os.getloadavg()[1]:.1f} over the last five minutes"
    return f"Python {platform.python_version()}, {said}; {os.cpu_count()} cores, {busy}."
