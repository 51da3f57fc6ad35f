"""What a fresh process waits for: importing rhale, and the first page."""

import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage

from measuring import seconds

SLOWEST, LIMIT = 2.5, 0.3
PAGE = 3.0
ROUNDS = 9


def run(code):
    answer = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return answer.stdout.split()


def processor_time(code):
    before = getrusage(RUSAGE_CHILDREN)
    run(code)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turns(*codes, rounds=ROUNDS):
    """Least processor time of each program, in fresh processes that take turns."""
    rounds = [[processor_time(code) for code in codes] for _ in range(rounds)]
    return map(min, zip(*rounds, strict=True))


def test_import_is_quick_and_brings_no_optional_library(ledger):
    loaded = run("import sys, rhale; rhale.explain; print(*sys.modules)")
    assert "rhale.api" in loaded
    optional = {"matplotlib", "sklearn", "torch", "jax", "pandas", "polars", "pyarrow", "tqdm"}
    assert not optional & set(loaded)

    start, *found = in_turns("pass", "import numpy", "import rhale", "import rhale; rhale.explain")
    numpy, rhale, first_call = (one - start for one in found)
    where = "processor time of a fresh process, start of Python taken off"
    ledger.add(
        "import, against `import numpy`",
        where,
        seconds(rhale),
        seconds(numpy),
        f"{rhale / numpy:.2f}",
        "<= 2.5, < 0.3 s",
        met=rhale <= SLOWEST * numpy and rhale < LIMIT,
    )
    ledger.add(
        "import and the call to `explain` looked up, against `import numpy`",
        where,
        seconds(first_call),
        seconds(numpy),
        f"{first_call / numpy:.2f}",
    )


WORK = """
import numpy as np, rhale
fx = rhale.explain(lambda r: r[:, 0] * r[:, 1], np.random.default_rng(0).normal(size=(300, 2)))
"""


def test_the_first_page_of_a_process_is_there_in_seconds(ledger, tmp_path):
    place = tmp_path / "x.html"
    before, page = in_turns(WORK, f"{WORK}fx.report({str(place)!r})", rounds=3)
    assert "x0" in place.read_text(encoding="utf-8")
    ledger.add(
        "first page of a process",
        "processor time beyond explaining 2 features",
        seconds(page - before),
        "",
        "",
        f"<= {PAGE:g} s",
        met=page - before <= PAGE,
    )
