import json

import pytest

pytest.importorskip("vl_convert")
pytest.importorskip("vl_convert")

from rhale.interaction.charts import MAP, compile_map, compile_pair_charts
from rhale.report.charts import all_marks


def test_only_what_is_needed_is_made():
    assert compile_pair_charts(set()) == {}
    assert set(compile_pair_charts({"curve"})) == {"regions", MAP}
    assert set(compile_pair_charts({"dates", "levels"})) == {
        "date regions",
        "level regions",
        MAP,
    }


def test_a_map_has_cells_of_three_inks_and_no_ink_of_its_own():
    made = compile_map()
    names = {mark.get("name", "").partition(" ")[0] for mark in all_marks(made)}
    assert {"zero-cell", "low-cell", "high-cell", "here-cell"} <= names
    assert {source["name"] for source in made["data"]} >= {"zero", "low", "high", "here"}


def test_the_page_sets_ends_ticks_and_words_of_both_sides():
    signals = {signal["name"] for signal in compile_map()["signals"]}
    wanted = {f"{side}_{what}" for side in "xy" for what in ("ends", "ticks", "words")}
    assert wanted <= signals
    assert len(json.dumps(compile_map())) < 12_000
