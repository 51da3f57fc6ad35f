"""The pieces of the demo: files in a folder, and a page that is opened where somebody looks."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

import rhale
from rhale.cli import tour
from rhale.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[3]
ROWS = np.random.default_rng(0).normal([50.0, 200.0], [10.0, 30.0], (120, 2))


def explained():
    return rhale.explain(lambda rows: rows[:, 0] + 5 * rows[:, 1], ROWS)


def test_new_patients_are_none_of_the_known():
    patients = tour.read_patients()
    assert sorted([*patients.known, *patients.new]) == list(range(442))
    assert patients.fit_of(patients.target[patients.new]) == 1.0


def test_the_readme_shows_the_pictures_of_the_demo():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]*\]\((?:[^)]*/)?docs/images/(\w+)\.png\)", text)
    assert set(shown) == set(tour.TOUR_PICTURES)
    assert {path.stem for path in (ROOT / "docs" / "images").iterdir()} == set(shown)


def test_figures_are_copied_from_the_demo():
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    copied = re.search(r"^\tcp (.*) docs/images/$", made, re.MULTILINE)[1].split()
    assert copied == [f"demo/{name}.png" for name in tour.TOUR_PICTURES]


def test_every_file_of_the_tour_is_told_what_for():
    assert {f"{name}.png" for name in tour.TOUR_PICTURES} < set(tour.READING)


def test_numbers_are_written_and_read_back(tmp_path):
    numbers, *_ = tour.write_tour_results(tmp_path, "trees", "boosted trees", explained())
    assert numbers.name == "trees.json"
    assert rhale.load(numbers).features == ("x0", "x1")


def test_a_page_that_cannot_be_made_is_no_end_of_the_tour(tmp_path, monkeypatch, capsys):
    def refuse(*_, **__):
        raise MissingExtraError("pip install 'rhale[report]'")  # noqa: EM101

    monkeypatch.setattr(rhale.Explanation, "report", refuse)
    written = tour.write_tour_results(tmp_path, "trees", "boosted trees", explained())
    assert [path.name for path in written] == ["trees.json"]
    assert capsys.readouterr().out == "no page: pip install 'rhale[report]'\n"


@pytest.mark.parametrize(
    ("platform", "is_terminal", "named", "expected"),
    [
        ("linux", True, {"DISPLAY": ":0"}, True),
        ("linux", True, {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", True, {}, False),
        ("linux", False, {"DISPLAY": ":0"}, False),
        ("linux", True, {"DISPLAY": ":0", "CI": "true"}, False),
        ("darwin", True, {}, True),
        ("darwin", False, {}, False),
    ],
)
def test_a_page_is_opened_before_a_screen_only(platform, is_terminal, named, expected, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "CI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert tour.is_watched() is expected


@pytest.mark.parametrize(
    ("open_page", "opens", "word"),
    [(True, True, "Opened"), (True, False, "Open"), (False, True, "Open")],
)
def test_the_tour_ends_with_the_address_of_its_page(
    open_page, opens, word, tmp_path, monkeypatch, capsys
):
    asked = []
    monkeypatch.setattr(tour, "is_watched", lambda: True)
    monkeypatch.setattr(tour.webbrowser, "open", lambda address: asked.append(address) or opens)
    page = tmp_path / "a page.html"
    tour.open_first_page([page, tmp_path / "other.html"], open_page=open_page)
    address = page.as_uri()
    assert capsys.readouterr().out == f"\n{word} the page: {address}\n"
    assert asked == ([address] if open_page else [])
