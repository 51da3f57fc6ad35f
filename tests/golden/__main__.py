"""`python -m tests.golden save FOLDER`, and `... compare FOLDER FOLDER`: equal to the bit, or where not."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

NOW = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\+00:00| UTC)")  # when a result was made


def save(folder: Path) -> int:
    """Make every call, and write one file for each."""
    from tests.golden.calls import calls
    from tests.golden.outputs import Seen, outputs
    from tests.golden.plain import plain

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        for name, call in (calls(place) | outputs(place)).items():
            seen = call()
            found = json.dumps(seen if isinstance(seen, Seen) else plain(seen), indent=0)
            (folder / f"{name}.json").write_text(NOW.sub("NOW", found) + "\n", encoding="utf-8")
    return 0


def compare(first: Path, second: Path) -> int:
    """Say which calls gave something else."""
    names = sorted({p.name for p in first.glob("*.json")} | {p.name for p in second.glob("*.json")})
    n_other = 0
    for name in names:
        if not ((first / name).exists() and (second / name).exists()):
            print(f"{name}: only in one of the folders")
            n_other += 1
            continue
        one, two = (json.loads((f / name).read_text(encoding="utf-8")) for f in (first, second))
        places = list(differences(one, two, ""))
        n_other += bool(places)
        for place in places[:5]:
            print(f"{name}: {place}")
    print(f"{len(names) - n_other} of {len(names)} calls agree to the bit")
    return 1 if n_other else 0


def differences(one: Any, two: Any, where: str) -> Any:
    """Places where two plain values differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(one.keys() | two.keys()):
            yield from differences(one.get(key), two.get(key), f"{where}.{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for i, pair in enumerate(zip(one, two, strict=True)):
            yield from differences(*pair, f"{where}[{i}]")
    elif one != two:
        yield f"{where}: {one!r:.80} and {two!r:.80}"


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("what", choices=["save", "compare"])
    parser.add_argument("folders", type=Path, nargs="+")
    asked = parser.parse_args()
    return save(*asked.folders) if asked.what == "save" else compare(*asked.folders)


if __name__ == "__main__":
    sys.exit(main())
