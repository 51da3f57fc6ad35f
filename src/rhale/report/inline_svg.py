"""A picture of Matplotlib's as one SVG element of a notebook: no script, no style sheet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import PolyCollection

from rhale.plots import canvas

TAG = re.compile(r"<\w[^<>]*>")  # user words are escaped, and have neither sign
SVG_COORDINATES = re.compile(r' (?:d|x|y)="[^"]*"')
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
MAX_SVG_POINTS = 3_000  # of a coloured area: beyond, an image is smaller
DPI = 160  # of these images
STYLE = "max-width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt"


def draw_inline_svg(draw: Callable[..., Any], description: str, *what: Any, **options: Any) -> str:
    """Draw by one of the plots, and write the figure as an element of HTML."""
    # Small and of bounded size, whatever is drawn. Letters stay text, in fonts that the
    # reader has. pyplot does not know the figure, so that the notebook does not show it
    # again.
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "rhale"}
    text = StringIO()
    with mpl.rc_context(settings), canvas.unlisted():
        panels = np.ravel(np.asarray(draw(*what, **options), dtype=object))
        figure = panels[0].figure
        for artist in figure.findobj(PolyCollection):
            if sum(len(path) for path in artist.get_paths()) > MAX_SVG_POINTS:
                artist.set_rasterized(True)
        figure.savefig(text, format="svg", dpi=DPI, metadata=NO_METADATA)
    # Make one element of a file that Matplotlib wrote. Its style sheet would hold for the whole
    # notebook, so that its words move to the element. Names of parts begin with the fingerprint of
    # the picture: pictures in one notebook share none. Coordinates keep a hundredth of a point.
    svg = text.getvalue()
    mark = hashlib.sha256(svg.encode()).hexdigest()[:12]
    called = set(re.findall(r"""(?:url\(#|href="#)([^)"]+)""", svg))
    body = svg[svg.index("<svg") :]
    body = re.sub(
        r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL
    )

    def tidy(tag: re.Match[str]) -> str:
        text = tag[0]
        name = re.search(r' id="([^"]*)"', text)
        if name and name[1] not in called:
            text = text.replace(name[0], "")
        text = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>r{mark}-", text)
        return SVG_COORDINATES.sub(round_coordinates, text)

    body = TAG.sub(tidy, body)
    head = f'<svg role="img" aria-label="{escape(description)}" style="{STYLE}"'
    return head + body.removeprefix("<svg").rstrip()


def round_coordinates(places: re.Match[str]) -> str:
    """Coordinates on one line, with two decimals."""
    line = LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", places[0])
    return " " + " ".join(line.split())
