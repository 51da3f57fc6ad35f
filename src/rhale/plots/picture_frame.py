"""What every picture may be given, whatever it shows: colours, size, legend, title."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from rhale.errors import BadSettingError
from rhale.plots import theme
from rhale.plots.lettering import LITERAL, drawable

FRAME = ("colors", "figsize", "legend", "title")
AXES_OPTIONS = ("ax", "axes")  # where a plot draws, if not on a new figure


class Frame(NamedTuple):
    """Colours, size and legend as changes of the theme, and the title."""

    changes: dict[str, Any]
    title: str | None

    @property
    def figsize(self) -> tuple[float, float] | None:
        """Inches of the new figure, where they are asked for."""
        return self.changes.get("figsize")

    def hold(self) -> AbstractContextManager[None]:
        """Let the theme be so inside of a block."""
        return theme.changed(**self.changes)

    def write_title(self, drawn: Any, *, is_new: bool) -> None:
        """Write the title above a new figure, or above the one panel that was given."""
        if self.title is None:
            return
        panels = np.ravel(np.asarray(drawn, dtype=object))
        if is_new:
            figure = panels[0].figure
            said = "\n".join(filter(None, [self.title, figure.get_suptitle()]))
            figure.suptitle(said, fontsize="large", **LITERAL)
        elif len(panels) == 1:
            note = panels[0].get_title("left")  # how large the effect is: below the title
            lines = len(note.splitlines())
            panels[0].set_title(self.title + "\n" * lines, **LITERAL)
        else:
            msg = (
                f"title= stands above a new figure or one panel, and ax= has {len(panels)}; "
                "write it yourself: ax[0].figure.suptitle(...)"
            )
            raise BadSettingError(msg)


def read_frame(options: Mapping[str, Any]) -> Frame:
    """Read the options of every plot; those that were not given change nothing."""
    changes = theme.read_colors(options.get("colors"))
    if options.get("figsize") is not None:
        changes["figsize"] = theme.require_size(options["figsize"])
    if options.get("legend") is not None:
        changes["legend"] = require_flag("legend", options["legend"])
    title = options.get("title")
    if title is not None and not isinstance(title, str):
        msg = f"title={title!r} is no text"
        raise BadSettingError(msg)
    return Frame(changes, None if title is None else drawable(title))


def require_flag(name: str, flag: Any) -> bool:
    """Refuse what is neither True nor False."""
    if not isinstance(flag, bool | np.bool_):
        msg = f"{name}={flag!r} is neither True nor False"
        raise BadSettingError(msg)
    return bool(flag)
