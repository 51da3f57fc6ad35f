"""The network of the demo has the data's own units."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from rhale.cli import tour_network

ROWS = np.random.default_rng(0).normal([50.0, 200.0], [10.0, 30.0], (120, 2))


def test_the_network_standardises_its_own_inputs():
    rows, seen = tour_network.as_network_tensor(ROWS), []
    network = tour_network.Network(rows)
    network.layers.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    network(rows)
    assert seen[0].mean(dim=0).numpy() == pytest.approx(np.zeros(2), abs=1e-4)
    assert seen[0].std(dim=0).numpy() == pytest.approx(np.ones(2), rel=1e-4)


def test_it_answers_in_the_units_of_the_target():
    network = tour_network.Network(tour_network.as_network_tensor(ROWS))
    with torch.no_grad():
        network.layers[-1].weight.zero_()
        network.layers[-1].bias.fill_(0.25)
    assert np.unique(tour_network.predict(network, ROWS)).tolist() == [175.0]  # 100 (1.5 + 0.25)


def test_training_again_gives_the_same_network():
    target = 100 + ROWS[:, 0]
    first, again = (tour_network.train_network(ROWS, target).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)
