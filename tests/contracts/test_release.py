"""What a release says of itself agrees: version, changelog, citation, lower bounds, workflows."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"highlights", "added", "changed", "fixed", "faster", "removed"}
PIECES = sorted(p for p in (ROOT / "changelog.d").glob("*.md") if p.name != "README.md")
yaml = pytest.importorskip("yaml")


def load_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "release" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def workflow(name):
    held = yaml.safe_load(read(f".github/workflows/{name}.yml"))
    held["on"] = held.pop(True, held.get("on"))  # YAML 1.1 takes the key `on` for a truth value
    return held


PYPROJECT = tomllib.loads(read("pyproject.toml"))
PROJECT = PYPROJECT["project"]


def test_the_citation_names_the_version_of_the_package():
    cited = yaml.safe_load(read("CITATION.cff"))
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]


def test_no_other_file_states_the_version():
    sources = [*ROOT.glob("src/rhale/**/*.py"), ROOT / "docs/conf.py", ROOT / "Makefile"]
    assert not [p for p in sources if PROJECT["version"] in p.read_text(encoding="utf-8")]


def test_the_changelog_begins_with_the_version_or_its_pieces_wait():
    released = re.findall(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", read("CHANGELOG.md"), re.MULTILINE)
    waiting = (ROOT / "changelog.d" / f"{PROJECT['version']}.highlights.md").exists()
    assert waiting or released[0][0] == PROJECT["version"]
    if not waiting:
        assert str(yaml.safe_load(read("CITATION.cff"))["date-released"]) == released[0][1]


def test_problems_come_with_the_source_and_not_with_the_wheel():
    targets = PYPROJECT["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["packages"] == ["src/rhale"]
    assert "/problems" in targets["sdist"]["include"]
    assert (ROOT / "problems" / "__init__.py").exists()
    assert not (ROOT / "src" / "rhale" / "problems").exists()


def test_pieces_of_the_changelog_have_kinds_that_towncrier_knows():
    assert {kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"]} == KINDS
    assert {p.name.rsplit(".", 2)[1] for p in PIECES} <= KINDS


def test_pieces_of_the_changelog_are_one_line_that_ends():
    pieces = [p for p in PIECES if ".highlights." not in p.name]
    texts = {p.name: p.read_text(encoding="utf-8") for p in pieces}
    assert not [n for n, t in texts.items() if "\n" in t.strip() or not t.endswith(".\n")]


def test_tables_of_kinds_for_people_and_for_towncrier_agree():
    assert set(re.findall(r"^\| `(\w+)` \|", read("changelog.d/README.md"), re.MULTILINE)) == KINDS


def test_lower_bounds_are_what_the_lowest_environment_pins():
    bounds = load_script("bounds")
    assert bounds.disagreements() == []
    assert bounds.lower_bounds()["numpy"] == re.search(r'"numpy>=(.*)"', read("pyproject.toml"))[1]


def test_a_bound_that_the_lowest_environment_does_not_pin_is_told(monkeypatch):
    bounds = load_script("bounds")
    monkeypatch.setattr(bounds, "lower_bounds", lambda: {"numpy": "1.0", "absent": "2"})
    told = bounds.disagreements()
    assert [line.split(",")[0] for line in told] == [
        "pyproject.toml says numpy>=1.0",
        "pyproject.toml says absent>=2",
    ]


def test_a_bound_with_or_without_a_last_zero_is_the_same():
    plain = load_script("bounds").plain
    assert plain("1.26") == plain("1.26.0") != plain("1.26.1")
    assert plain("15") == plain("15.0.0")


def test_workflows_try_every_python_that_the_package_names():
    named = [c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    newest, lowest = (workflow("ci")["jobs"][name] for name in ("newest", "lowest"))
    assert newest["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    steps = [s for s in lowest["steps"] if "setup-python" in s.get("uses", "")]
    assert [s["with"]["python-version"] for s in steps] == [named[0]]


@pytest.mark.parametrize("job", ["newest", "lowest"])
def test_workflows_try_three_systems(job):
    systems = workflow("ci")["jobs"][job]["strategy"]["matrix"]["os"]
    assert systems == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_workflows_do_all_that_must_hold_at_a_landing():
    steps = [
        s.get("run", "") for job in workflow("ci")["jobs"].values() for s in job.get("steps", [])
    ]
    must = re.findall(r"^make \S+$", read(".ci/run"), re.MULTILINE)
    assert "make lint" in must
    assert set(must) <= set(steps)


def test_workflows_know_only_targets_and_files_that_exist():
    steps = [
        s.get("run", "")
        for name in ("ci", "release")
        for job in workflow(name)["jobs"].values()
        for s in job.get("steps", [])
    ]
    targets = set(re.findall(r"^([a-z-]+):.*## ", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"make ([a-z-]+)", "\n".join(steps))) <= targets
    files = re.findall(
        r"(?:requirements|release|tests)/[\w./]+|constraints[\w-]*\.txt", "\n".join(steps)
    )
    assert files
    assert not [file for file in files if not (ROOT / file).exists()]


def test_the_lowest_versions_meet_the_same_tests_here_and_in_the_workflow():
    recipe = re.search(r"^test-lowest: \$.*\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)[1]
    here = recipe.replace("\\\n", " ").replace("$(LOWEST)/bin/", "").replace("$(JOBS)", "2")
    steps = [s.get("run", "") for s in workflow("ci")["jobs"]["lowest"]["steps"]]
    commands = [" ".join(line.split()) for line in here.splitlines()]
    assert "pytest" in commands[-1]
    assert commands == steps[-len(commands) :]


def test_actions_have_a_version():
    for name in ("ci", "release"):
        used = [
            s["uses"]
            for j in workflow(name)["jobs"].values()
            for s in j.get("steps", [])
            if "uses" in s
        ]
        assert used
        assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", one) for one in used), used


def test_publishing_is_a_decision_of_its_own():
    release = workflow("release")
    assert "workflow_dispatch" in release["on"]
    publish = release["jobs"]["publish"]
    assert "workflow_dispatch" in publish["if"]
    assert publish["needs"] == "build"
    assert not [
        n
        for n, j in release["jobs"].items()
        if "id-token" in j.get("permissions", {}) and n != "publish"
    ]


def test_the_source_package_includes_what_the_check_asks_for():
    check = load_script("check")
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    patterns = [p.removeprefix("/") for p in included]
    always = {"pyproject.toml", "LICENSE"}  # hatchling adds them by itself
    for one in check.IN_SOURCE:
        assert (ROOT / one).exists(), one
        held = any(Path(one).match(p) or f"{one}/".startswith(f"{p}/") for p in patterns)
        assert one in always or held, one
