"""`make fuzz`: thousands of cases for each reader, a table of what they found."""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.fuzz.readers import READERS
from tests.fuzz.runner import BAD, GOOD, ROOT, Result, run_cases

NUMBERS, PAGE = ROOT / "docs" / "fuzzing.json", ROOT / "docs" / "fuzzing.md"
MARK = "<!-- {} of the tables: `make fuzz` writes them -->"
SHOWN = 5  # numbers of cases that are kept for each outcome
Found = dict[str, dict[str, list[int]]]  # reader -> outcome -> numbers of the cases


def main(arguments: list[str]) -> int:
    """Run one case, or many; the exit code says whether all ended well."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--reader", action="append", choices=READERS, help="all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=2000, help="for each reader")
    parser.add_argument("--case", type=int, action="append", help="run these numbers only")
    parser.add_argument("--keep", default="", help="folder to leave the damaged files in")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", metavar="NAME", help="keep the numbers under a name in docs/")
    asked = parser.parse_args(arguments)
    numbers = asked.case or range(asked.cases)
    one = partial(run_reader, seed=asked.seed, numbers=numbers, keep=asked.keep)
    names = asked.reader or list(READERS)
    with ThreadPoolExecutor(asked.jobs) as pool:
        found: Found = dict(zip(names, pool.map(one, names), strict=True))
    numbers_found = counted(found, asked.seed)
    print(table(numbers_found))
    if asked.write:
        write(asked.write, numbers_found)
    return int(any(outcome in BAD for outcomes in found.values() for outcome in outcomes))


def run_reader(name: str, *, seed: int, numbers: Iterable[int], keep: str) -> dict[str, list[int]]:
    """Cases of one reader by outcome; faults are printed, and single cases whatever they are."""
    found: dict[str, list[int]] = {}
    try:
        for result in run_cases(name, seed, numbers, keep=keep):
            outcome = "raw" if is_bad_control(result) else result.outcome
            found.setdefault(outcome, []).append(result.number)
            if outcome in BAD or not isinstance(numbers, range):
                print(f"{name} {result}", flush=True)
    except RuntimeError as error:  # a fault, too; what other readers found is not lost
        found.setdefault("crashed", []).append(-1)
        print(error, flush=True)
    print(name, *(f"{outcome} {len(cases)}" for outcome, cases in found.items()), flush=True)
    return found


def is_bad_control(result: Result) -> bool:
    """Tell whether a good file was not read: then the suite tries nothing."""
    return not result.mutations and result.outcome in GOOD[1:]


def counted(found: Found, seed: int) -> dict[str, Any]:
    """How often each outcome was met, and the first cases of each fault."""
    return {
        name: {
            "seed": seed,
            "outcomes": {o: len(outcomes[o]) for o in (*GOOD, *BAD) if o in outcomes},
            "first": {o: outcomes[o][:SHOWN] for o in BAD if o in outcomes},
        }
        for name, outcomes in found.items()
    }


def table(readers: dict[str, Any]) -> str:
    """The numbers as a table of Markdown."""
    rows = [["reader", "seed", "cases", *GOOD, *BAD], ["---"] * (3 + len(GOOD) + len(BAD))]
    for name, numbers in readers.items():
        outcomes = numbers["outcomes"]
        counts = [sum(outcomes.values()), *(outcomes.get(o, 0) for o in (*GOOD, *BAD))]
        rows.append([name, str(numbers["seed"]), *(f"{n:,}" for n in counts)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write(label: str, readers: dict[str, Any]) -> None:
    """Keep the numbers beside those of other runs, and put all tables into the page."""
    runs = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    runs[label] = {**runs.get(label, {}), **readers}
    NUMBERS.write_text(json.dumps(runs, indent=1) + "\n")
    begin, end = (MARK.format(word) for word in ("Beginning", "End"))
    before, _, rest = PAGE.read_text().partition(begin)
    tables = (f"### {name}\n\n{table(known)}" for name, known in runs.items())
    PAGE.write_text("\n\n".join([before + begin, *tables, end]) + rest.partition(end)[2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
