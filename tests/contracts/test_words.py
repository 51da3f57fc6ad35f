"""Texts that users read: the usual words of the field, and arguments in one order everywhere."""

import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import rhale
from rhale.settings import Settings

SOURCE = Path(rhale.__file__).parent
WITHDRAWN = (
    *("at the first question", "the model answered", "goes with nobody", "windows hold"),
    *("many rows stand", "tells regions apart", "to people's units", "does not say of what"),
    *("would it come back", "who with whom", "tell little about", "too little to matter"),
)
GROUPS = (
    ("features", "output", "response", "method", "regions", "partners"),
    ("transform", "output_transform", "limits", "categorical", "weights"),
    ("columns", "feature_names", "output_names", "units"),
    ("bins", "local", "gradient", "window", "seed", "n_rows"),
    ("batch_size", "n_jobs", "device", "checkpoint", "progress"),
)


def texts_of(path):
    """Texts of a module but its docstrings, f-strings with {} for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
            yield "".join(parts)
        elif isinstance(node, ast.Constant) and id(node) not in bare:
            yield str(node.value)


def test_no_text_uses_words_that_readers_would_have_to_guess():
    found = {
        f"{path.name}: {text}"
        for path in SOURCE.rglob("*.py")
        for text in texts_of(path)
        if any(words in text.lower() for words in WITHDRAWN)
    }
    assert found == set()


@pytest.mark.parametrize("call", [rhale.explain, rhale.interactions, rhale.refit, rhale.compare])
def test_arguments_are_documented_in_the_order_of_the_signature(call):
    section = inspect.getdoc(call).split("Parameters\n----------\n")[1].split("\nReturns\n")[0]
    listed = re.findall(r"^(?:\*(?!\*))?(\w[^\n]*?)(?: : |\n {4}As in)", section, re.MULTILINE)
    named = [name for line in listed for name in line.replace("*", "").split(", ")]
    section_names = [*named, *re.findall(r"^\*\*(\w+)$", section, re.MULTILINE)]
    assert section_names == list(inspect.signature(call).parameters)


def test_arguments_come_in_groups_what_scale_names_how_exact_machine():
    order = [name for group in GROUPS for name in group]
    for known in (inspect.signature(rhale.explain).parameters, [f.name for f in fields(Settings)]):
        assert [name for name in known if name in order] == order


def test_the_glossary_has_at_most_forty_words():
    page = SOURCE.parents[1] / "docs" / "explanation" / "glossary.md"
    block = page.read_text(encoding="utf-8").split("```{glossary}\n")[1].split("```")[0]
    words = [line for line in block.splitlines() if line and not line.startswith(" ")]
    assert len(words) == len(set(words)) <= 40
    assert words == sorted(words, key=str.lower)
