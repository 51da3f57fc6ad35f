"""The shell: parse, call, write. Models are held by a process of their own."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich")


def main() -> None:
    """Run the command `rhale`."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        needed = " and ".join(missing)
        print(f'the command rhale needs {needed}: pip install "rhale[cli]"', file=sys.stderr)
        sys.exit(1)
    from rhale.cli.app import run

    run()
