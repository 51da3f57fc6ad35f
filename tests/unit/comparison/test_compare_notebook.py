import re

import numpy as np
import pandas as pd
from tests.compared_by_hand import explained, straight, with_everything

import rhale
from rhale.output.colours import ROW_COUNT_COLOUR

NASTY = "<img src=x onerror=alert(1)>"


def test_the_table_is_there_without_scripts():
    text = straight()._repr_html_()
    assert text.count("<tr>") == 3
    assert "<script" not in text
    assert "new compared with old" in text


def test_hostile_names_are_words():
    text = rhale.compare({NASTY: explained(names=(NASTY, "b")), "c": explained(names=(NASTY, "b"))})
    assert NASTY not in text._repr_html_()


def test_a_difference_that_is_not_significant_is_drawn_in_grey_and_not_as_a_flat_line():
    rng = np.random.default_rng(3)
    frames = [pd.DataFrame({"x0": rng.normal(size=80), "x1": rng.normal(size=80)}) for _ in "ab"]
    one, two = (
        rhale.explain(lambda t, s=s: np.sin(s * t["x0"]).to_numpy() + s * t["x1"].to_numpy(), frame)
        for s, frame in zip((1.0, 1.02), frames, strict=True)
    )
    cx = rhale.compare(one, two)
    alike = [c for c in cx.values() if not c.differs and c.against().peak.difference]
    assert alike
    paths = re.findall(rf'd="([^"]*)" fill="none" stroke="{ROW_COUNT_COLOUR}"', cx._repr_html_())
    assert len(paths) == len(alike)
    for path in paths:
        heights = {point.split()[1] for point in path[1:].split("L")}
        assert len(heights) > 1


def test_several_explanations_have_rows_of_their_own():
    assert with_everything()._repr_html_().count("<tr>") == 9  # four features, twice, and heads
