"""Print the lower bounds of pyproject.toml as exact versions: what `make test-lowest` pins.

`python release/bounds.py` prints them; `--check` compares them with constraints-lowest.txt.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BOUND = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[a-z,]+\])?>=(?P<version>[0-9.]+)$")
ELSEWHERE = {
    "torch": "older builds need hardware and an index of their own; the pinned one runs instead",
    "pyspark": "tests of Spark have an environment of their own",
    "ray": "tests of Ray have an environment of their own",
}


def direct_requirements(project: dict) -> list[str]:
    """What rhale asks for, extras included, and not rhale's own extras."""
    extras = project["optional-dependencies"].values()
    every = [*project["dependencies"], *(one for extra in extras for one in extra)]
    return [one for one in every if not one.startswith("rhale[")]


def lower_bounds() -> dict[str, str]:
    """Read the bounds: `numpy>=1.26` becomes `{"numpy": "1.26"}`."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = {}
    for one in direct_requirements(tomllib.loads(text)["project"]):
        match = BOUND.match(one)
        if match is None:
            msg = f"{one!r} has no plain lower bound; write it as name>=version"
            raise ValueError(msg)
        found[match["name"]] = match["version"]
    return found


def pinned(file: Path) -> dict[str, str]:
    """Read a file of constraints: `numpy==1.26.0` becomes `{"numpy": "1.26.0"}`."""
    lines = file.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return {name.strip().lower(): version.strip() for name, version in pairs}


def plain(version: str) -> tuple[int, ...]:
    """Compare 1.26 and 1.26.0 as equal."""
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def disagreements() -> list[str]:
    """Bounds that constraints-lowest.txt does not pin at exactly their version."""
    pins = pinned(ROOT / "constraints-lowest.txt")
    return [
        f"pyproject.toml says {name}>={bound}, constraints-lowest.txt {pins.get(name, 'nothing')}"
        for name, bound in lower_bounds().items()
        if name not in ELSEWHERE and (name not in pins or plain(pins[name]) != plain(bound))
    ]


if __name__ == "__main__":
    if "--check" in sys.argv:
        wrong = disagreements()
        print("\n".join(wrong) or "constraints-lowest.txt pins the lower bounds")
        sys.exit(bool(wrong))
    bounds = {name: at for name, at in lower_bounds().items() if name not in ELSEWHERE}
    print("\n".join(f"{name}=={version}" for name, version in bounds.items()))
