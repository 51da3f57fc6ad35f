import numpy as np
import pytest

from rhale.models.trees.links import LINKS

SUMS = np.array([[-3.0, 0.5], [0.0, 2.0]])


def test_the_link_of_a_probability_is_undone_by_its_logarithm():
    p = LINKS["sigmoid"](SUMS, 2.0)
    assert np.log(p / (1 - p)) == pytest.approx(2.0 * SUMS)
    assert LINKS["multiclass_ova"](SUMS, 2.0).tolist() == p.tolist()


def test_probabilities_of_classes_add_up_and_keep_their_ratios():
    p = LINKS["softmax"](SUMS + 1000.0, 1.0)
    assert p.sum(axis=-1) == pytest.approx([1.0, 1.0])
    assert np.log(p[:, 1] / p[:, 0]) == pytest.approx(SUMS[:, 1] - SUMS[:, 0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("identity", SUMS),
        ("identity_multiclass", SUMS),
        ("exponential", np.exp(SUMS)),
        ("signed_square", [[-9.0, 0.25], [0.0, 4.0]]),
        ("logarithm_one_plus_exp", np.log1p(np.exp(SUMS))),
        ("mean_and_variance", [[-3.0, np.exp(1.0)], [0.0, np.exp(4.0)]]),
    ],
)
def test_other_links_are_what_their_names_say(name, expected):
    assert LINKS[name](SUMS, 1.0) == pytest.approx(np.asarray(expected))


@pytest.mark.parametrize("name", LINKS)
def test_links_take_any_number_of_changes_and_far_sums_in_silence(name):
    sums = np.full((3, 4, 2), 1e4)
    assert LINKS[name](sums, 1.0).shape == (3, 4, 2)
    assert LINKS[name](-sums, 1.0).shape == (3, 4, 2)
