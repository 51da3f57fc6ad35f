"""Every example of the gallery says what it shows, and leaves a picture."""

import ast
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
SECTIONS = sorted(folder for folder in GALLERY.iterdir() if folder.is_dir())
SECTIONS = [folder for folder in SECTIONS if folder.name != "__pycache__"]
EXAMPLES = sorted(GALLERY.glob("*/plot_*.py"))
EXTRAS = {"plot_torch.py": "torch", "plot_jax.py": "jax", "plot_libraries.py": "catboost"}


def name_of(path):
    return path.relative_to(GALLERY).as_posix()


def read(example):
    return ast.parse(example.read_text(encoding="utf-8"), filename=str(example))


def words_of(example):
    """The title of an example, its underline, and what stands below."""
    title, line, *rest = ast.get_docstring(read(example)).splitlines()
    return title, line, " ".join(rest).strip()


each = pytest.mark.parametrize("example", EXAMPLES, ids=name_of)


def test_there_are_many_examples():
    assert len(EXAMPLES) >= 24


@pytest.mark.parametrize("section", SECTIONS, ids=name_of)
def test_a_section_has_a_title_a_sentence_and_examples(section):
    title, line, _, sentence, *_ = (section / "README.txt").read_text("utf-8").splitlines()
    assert line == "-" * len(title)
    assert sentence.endswith(".")
    assert list(section.glob("plot_*.py"))


@each
def test_an_example_has_a_title_and_says_what_its_picture_answers(example):
    title, line, text = words_of(example)
    assert line == "=" * len(title)
    sentences = text.replace("? ", ". ").split(". ")
    assert len(sentences) > 1
    assert text.endswith(".")


@each
def test_an_example_is_short_and_uses_rhale(example):
    names = {
        alias.name
        for node in ast.walk(read(example))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert "rhale" in names
    assert 15 <= len(example.read_text(encoding="utf-8").splitlines()) <= 45


@each
def test_an_example_runs_where_it_stands(example):
    text = example.read_text(encoding="utf-8")
    compile(text, str(example), "exec")
    assert "__name__" not in text  # the build reads code at the level of the module


def test_titles_are_distinct():
    titles = [words_of(example)[0] for example in EXAMPLES]
    assert len(set(titles)) == len(titles)


@pytest.mark.slow
@each
def test_an_example_leaves_a_picture(example, tmp_path, monkeypatch):
    if example.name in EXTRAS:
        pytest.importorskip(EXTRAS[example.name])
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    plt.close("all")
    try:
        code = compile(example.read_text(encoding="utf-8"), str(example), "exec")
        exec(code, {"__name__": "__main__"})  # noqa: S102 - our own example
        figures = [plt.figure(number) for number in plt.get_fignums()]
        assert figures
        assert all(figure.axes for figure in figures)
    finally:
        plt.close("all")
    assert not list(tmp_path.iterdir())
