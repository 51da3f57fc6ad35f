"""For Sphinx: equations as MathML, which browsers draw themselves; no script, no network."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def as_mathml(node: nodes.Element, *, as_block: bool = False) -> str:
    """Write an equation; one that cannot be read is a warning, and stands there as it was typed."""
    text = node.astext()
    try:
        return str(tex2mathml(text, as_block=as_block))
    except MathError as error:
        LOGGER.warning("the equation %s cannot be drawn: %s", text, error, location=node)
        return f"<code>{escape(text)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write an equation that stands in a line."""
    self.body.append(as_mathml(node))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write an equation that stands by itself."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(as_mathml(node, as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
