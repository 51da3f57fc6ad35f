"""The one door from results to notebooks: the last line of a cell may be a single result."""

from __future__ import annotations

from typing import Any

# The imports upwards stand inside of the functions, as those of door_to_plots.py do.


def show_result(result: Any) -> str:
    """The result of one feature as a small page."""
    from rhale.report import notebook

    return notebook.effect_as_html(result)


def show_pair(pair: Any) -> str:
    """A pair as a small page."""
    from rhale.report import pair_notebook

    return pair_notebook.pair_as_html(pair)


def show_refit(effect: Any) -> str:
    """One feature in all trainings as a small page."""
    from rhale.report import refit_notebook

    return refit_notebook.refit_as_html(effect)
