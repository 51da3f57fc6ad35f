"""For Sphinx: equations as MathML, which browsers draw themselves; no script, no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write an equation that stands in a line."""
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write an equation that stands by itself."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(tex2mathml(node.astext(), as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
