"""The pieces of the demo: a network in the data's own units, and files in a folder."""

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

import rhale
from rhale.cli import tour
from rhale.errors import MissingExtraError

ROWS = pd.DataFrame(
    np.random.default_rng(0).normal([50.0, 200.0], [10.0, 30.0], (120, 2)), columns=["age", "bp"]
)
TARGET = 100 + ROWS["age"]


def explained():
    return rhale.explain(lambda rows: rows["age"].to_numpy() + 5 * rows["bp"].to_numpy(), ROWS)


def test_the_network_standardises_its_own_inputs():
    rows, seen = tour.as_tensor(ROWS), []
    network = tour.Network(rows)
    network.layers.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    network(rows)
    assert seen[0].mean(dim=0).numpy() == pytest.approx(np.zeros(2), abs=1e-4)
    assert seen[0].std(dim=0).numpy() == pytest.approx(np.ones(2), rel=1e-4)


def test_it_answers_in_the_units_of_the_target():
    network = tour.Network(tour.as_tensor(ROWS))
    with torch.no_grad():
        network.layers[-1].weight.zero_()
        network.layers[-1].bias.fill_(0.25)
        assert network(tour.as_tensor(ROWS)).unique().tolist() == [175.0]  # 100 (1.5 + 0.25)


def test_training_again_gives_the_same_network():
    first, again = (tour.train_network(ROWS, TARGET).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_the_files_of_a_model_are_named_after_it_and_its_largest_effect(tmp_path):
    written = tour.write_model(tmp_path, "boosted trees", explained())
    assert {path.name for path in written} == {
        "boosted_trees_all_features.png",
        "boosted_trees_bp.png",
        "boosted_trees_bins.csv",
        "boosted_trees.json",
    }
    assert rhale.load(tmp_path / "boosted_trees.json").features == ("age", "bp")


def test_both_models_are_drawn_on_one_axis(tmp_path):
    both = {tour.BOOSTED: explained(), tour.NETWORK: explained()}
    path = tour.write_comparison(tmp_path, both, "age")
    assert path.name == "compare_age.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_page_that_cannot_be_made_is_no_end_of_the_tour(tmp_path, monkeypatch, capsys):
    def refuse(*_, **__):
        raise MissingExtraError("pip install 'rhale[report]'")  # noqa: EM101

    monkeypatch.setattr(rhale.Explanation, "report", refuse)
    assert tour.write_page(tmp_path, "boosted trees", explained()) == []
    assert capsys.readouterr().out == "no report: pip install 'rhale[report]'\n"
