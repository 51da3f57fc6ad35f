"""Check what `python -m build` left in dist/: contents, clean installs, what is inside, licences.

Run by `make release` with the Python of .venv-release. `--python` names the Python that clean
environments are made with, `--newest` installs the newest dependencies instead of the pinned ones.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
EXTRAS = "trees,files,report,cli"
BESIDE = ("scikit-learn", "pandas")  # for the first example of the README
# Folders and files that whoever has only the source package needs to test, build and cite it.
IN_SOURCE = (
    *("src/rhale/__init__.py", "src/rhale/py.typed", "tests/conftest.py", "examples", "benchmarks"),
    *("accuracy", "paper", "problems", "docs/conf.py", "changelog.d/README.md", "release/check.py"),
    *("requirements/dev.txt", "constraints.txt", "constraints-lowest.txt", "Makefile", ".ci/run"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "CITATION.cff"),
    *("pyproject.toml", ".github/workflows/ci.yml"),
)
# Licences that ask for no more than naming the authors; MPL 2.0 asks it file by file, of its own.
PERMISSIVE = (
    *("MIT", "BSD", "Apache", "Python Software Foundation", "PSF-2.0", "PSFL", "ISC", "HPND"),
    *("Historical Permission Notice", "Unlicense", "Zlib", "CC0", "0BSD", "MIT-CMU"),
    *("Mozilla Public License 2.0", "MPL-2.0"),
)
# Packages whose metadata name no licence; read from the licence file that they bring.
READ_BY_US = {"skops": "MIT"}


def run(*command: str | Path, **options: object) -> str:
    """Run a program, which must succeed, and give back what it printed."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def contents(wheel: Path) -> dict[str, bytes]:
    """Files of a wheel, less the list of their hashes."""
    with zipfile.ZipFile(wheel) as held:
        return {name: held.read(name) for name in held.namelist() if not name.endswith("/RECORD")}


def check_source(source: Path, name: str) -> None:
    """The source package holds everything that is named above."""
    with tarfile.open(source) as held:
        files = [file.removeprefix(f"{name}/") for file in held.getnames()]
    missing = [
        one for one in IN_SOURCE if not any(f"{file}/".startswith(f"{one}/") for file in files)
    ]
    if missing:
        sys.exit(f"{source.name} lacks {', '.join(missing)}")
    print(f"{source.name}: {len(files)} files, nothing is missing")


def check_same(wheel: Path, scratch: Path) -> None:
    """The wheel, which was built from the source package, is the one of this tree."""
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", scratch, ROOT)
    ours, theirs = contents(scratch / wheel.name), contents(wheel)
    differ = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
    if differ:
        sys.exit(f"{wheel.name} from the source package differs from this tree: {differ}")
    print(f"{wheel.name}: {len(ours)} files, the same from the source package and from this tree")


def make_environment(folder: Path, python: str, wanted: list[str], pins: list[str]) -> Path:
    """Make a clean environment, install into it, and give back its Python."""
    run(python, "-m", "venv", folder)
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(inside, "-m", "pip", "install", "--quiet", *pins, *wanted)
    run(inside, "-m", "pip", "check")
    return inside


def smoke(python: Path, script: str, folder: Path, *arguments: str) -> None:
    """Run a script in an empty folder, so that only the installed package can answer."""
    folder.mkdir()
    outside = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}
    outside |= {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    command = (python, "-I", "-W", "error", ROOT / "release" / script, *arguments)
    print(run(*command, cwd=folder, env=outside).splitlines()[-1])


def list_parts(python: Path, name: str) -> None:
    """Write what an installation with extras consists of, as CycloneDX."""
    target = DIST / f"{name}.cdx.json"
    options = ("--pyproject", ROOT / "pyproject.toml", "--mc-type", "library")
    tool = (sys.executable, "-m", "cyclonedx_py", "environment", python)
    run(*tool, *options, "--of", "JSON", "--output-reproducible", "-o", target)
    parts = json.loads(target.read_text(encoding="utf-8"))["components"]
    print(f"{target.name}: {len(parts)} parts")


def licence_of(part: dict[str, str]) -> str:
    """Join what a package says of its licence, in the order that its authors prefer."""
    said = (part["License-Metadata"], part["License-Expression"], part["License-Classifier"])
    named = " ".join(one for one in said if one not in ("UNKNOWN", ""))
    return named or READ_BY_US.get(part["Name"], "")


def check_licences(python: Path) -> None:
    """Write the licences of all parts, and refuse those that ask for more than naming authors."""
    tool = (sys.executable, "-m", "piplicenses", "--python", python, "--from", "all")
    shown = ("--ignore-packages", "pip", "setuptools", "rhale")
    found = json.loads(run(*tool, *shown, "--format", "json"))
    doubtful = [
        f"{part['Name']}: {licence_of(part)[:80] or 'unknown'}"
        for part in found
        if not any(word in licence_of(part) for word in PERMISSIVE)
    ]
    if doubtful:
        sys.exit("licences that release/check.py does not know:\n" + "\n".join(doubtful))
    tool = (sys.executable, "-m", "piplicenses", "--python", python, "--from", "mixed")
    table = run(*tool, *shown, "--format", "markdown", "--with-urls")
    (DIST / "licences.md").write_text(table, encoding="utf-8")
    print(f"licences.md: {len(found)} parts, none asks for more than naming its authors")


def main() -> None:
    """Check everything, in the order of cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--newest", action="store_true")
    asked = parser.parse_args()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    name = f"rhale-{version}"
    wheel = DIST / f"{name}-py3-none-any.whl"
    pins = [] if asked.newest else ["-c", str(ROOT / "constraints.txt")]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        check_source(DIST / f"{name}.tar.gz", name)
        check_same(wheel, scratch)
        bare = make_environment(scratch / "bare", asked.python, [str(wheel)], pins)
        smoke(bare, "smoke_bare.py", scratch / "empty", version)
        wanted = [f"{wheel}[{EXTRAS}]", *BESIDE]
        full = make_environment(scratch / "full", asked.python, wanted, pins)
        smoke(full, "smoke_extras.py", scratch / "room", version, str(ROOT / "README.md"))
        list_parts(full, name)
        check_licences(full)


if __name__ == "__main__":
    main()
