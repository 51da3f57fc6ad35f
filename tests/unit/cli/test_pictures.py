from contextlib import contextmanager

import numpy as np
import pytest

import rhale

pytest.importorskip("matplotlib")

from rhale.cli.pictures import file_name, write_comparisons, write_pictures

ROWS = np.linspace(0.0, 1.0, 60).reshape(30, 2)


@contextmanager
def as_it_is(path):
    yield path


def explain(factor):
    return rhale.explain(lambda rows: factor * rows[:, 0], ROWS)


@pytest.mark.parametrize("feature", ["../../etc/passwd", "a/b\\c", "", "\x00", "ж" * 500])
def test_no_feature_leads_out_of_the_folder(feature):
    name = file_name(1, feature)
    assert name.startswith("01_")
    assert not set("/\\\x00") & set(name)
    assert len(name) < 80


def test_there_is_a_picture_of_all_and_one_of_each(tmp_path):
    assert write_pictures(explain(1.0), tmp_path, as_it_is) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "01_x0.png",
        "02_x1.png",
        "all_features.png",
    ]


def test_comparisons_are_drawn_in_the_order_of_the_rows(tmp_path):
    pair, rows = (explain(1.0), explain(2.0)), {"feature": ["x1", "x0"]}
    assert write_comparisons(pair, ("a", "a"), rows, tmp_path, as_it_is) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["01_x1.png", "02_x0.png"]
