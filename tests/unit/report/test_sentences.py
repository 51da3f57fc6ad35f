from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.effects.result import Difference
from rhale.effects.staircase import Jump
from rhale.effects.table import Missing
from rhale.output.labels import Captions
from rhale.report.sentences import describe_effect, differ, turning_points, zigzag

X = np.linspace(0.0, 10.0, 401)


def effect_of(d, bins=20):
    return rhale.effect(X, d, bins=bins)


def test_a_straight_effect_is_one_sentence():
    assert describe_effect(effect_of(np.full(401, 2.0))) == (
        "From 0 to 10 the prediction rises by 20; rows hardly differ.",
    )


def test_a_peak_is_two_sentences():
    first, second = describe_effect(effect_of(np.where(X < 5, 1.0, -1.0)))
    assert first.startswith("From 0 to 5 the prediction rises by 5")
    assert second.startswith("From 5 to 10 it falls by 5")


def test_a_step_is_told_where_it_is():
    (sentence,) = describe_effect(effect_of(np.where((X >= 4) & (X < 5), 3.0, 0.0)))
    assert "rises by 3, nearly all of it between 4" in sentence


def test_rows_that_differ_a_lot_are_told_without_a_second_spread():
    rng = np.random.default_rng(0)
    (sentence,) = describe_effect(effect_of(1.0 + rng.choice([-2.0, 2.0], 401), bins=1))
    assert sentence.endswith("; rows differ a lot.")


def test_a_flat_average_over_rows_that_differ_says_so():
    pushes = np.where(np.arange(401) % 2 == 0, 1.0, -1.0)
    (sentence,) = describe_effect(effect_of(pushes, bins=4), largest=1.0)
    assert sentence.startswith("On average the prediction moves by at most")
    assert "but rows differ: typical spread 2.9" in sentence


def test_no_effect_at_all_is_flat():
    assert describe_effect(effect_of(np.zeros(401)), largest=1.0) == (
        "On average the prediction does not move over the whole range, and rows hardly differ.",
    )


def test_a_small_effect_beside_a_large_one_is_flat():
    assert "hardly differ" in describe_effect(effect_of(np.full(401, 0.001)), largest=10.0)[0]
    assert "rises by 0.01" in describe_effect(effect_of(np.full(401, 0.001)), largest=0.0)[0]


def test_a_feature_of_one_value_has_no_effect():
    fx = rhale.explain(lambda r: r[:, 0], np.column_stack([X, np.full(401, 3.0)]))
    assert describe_effect(fx["x1"]) == (
        "Every row has the same value, 3: there is no effect to show.",
    )


def test_levels_name_the_highest_and_the_lowest(make_levels):
    effect = make_levels(["a", "b", "c"], [2.0, -1.0])
    (sentence,) = describe_effect(effect)
    assert sentence.startswith("The prediction is highest at “b” and lowest at “a”: 2")


def test_two_levels_are_one_change(make_levels):
    (sentence,) = describe_effect(make_levels(["no", "yes"], [-1.5]))
    assert sentence.startswith("A change from “no” to “yes” lowers the prediction by 1.5")


def test_steps_between_numbers_read_as_stretches(make_levels):
    effect = make_levels(["1", "2", "3", "4"], 1.0, edges=[1.0, 2.0, 3.0, 4.0])
    assert describe_effect(effect)[0].startswith("From 1 to 4 the prediction rises by 3")


def test_missing_values_have_a_sentence_of_their_own():
    effect = replace(effect_of(np.ones(401)), missing=Missing(50, 0.1, -2.0, 0.5, 400.0))
    assert describe_effect(effect)[-1] == (
        "Without a value (10 % of the rows) the prediction is 2.000 ± 0.025 lower than on average; "
        "rows differ somewhat."
    )


def test_missing_values_that_change_nothing_are_told_so():
    effect = replace(effect_of(np.ones(401)), missing=Missing(50, 0.1, 0.0, 0.0, 400.0))
    assert describe_effect(effect)[-1] == (
        "Without a value (10 % of the rows) the prediction is about the same as on average; "
        "rows hardly differ."
    )


def test_what_chance_could_do_is_called_so():
    d = np.random.default_rng(0).normal(size=401)
    (sentence,) = describe_effect(effect_of(d - d.mean() + 0.01, bins=1), largest=1.0)
    assert "moves by at most 0.1 over the whole range, which is not significant" in sentence


def test_dates_and_durations_are_written_as_such():
    dates = replace(effect_of(np.ones(401)), kind="date", edges=np.linspace(0, 366, 21))
    assert describe_effect(dates)[0].startswith("From 1970-01-01 to 1971-01-02")
    times = replace(effect_of(np.ones(401)), kind="duration", edges=np.linspace(0, 7200, 21))
    assert describe_effect(times)[0].startswith("From 0 h to 2 h")


@pytest.mark.parametrize("method", ["pdp", "ice"])
def test_a_profile_reads_like_a_curve(method):
    rows = np.random.default_rng(0).uniform(size=(200, 2))
    fx = rhale.explain(lambda r: 3 * r[:, 0] + r[:, 1], rows, method=method)
    (sentence,) = describe_effect(fx["x0"])
    assert "the prediction rises by 2.9" in sentence or "rises by 3" in sentence
    assert sentence.endswith("rows hardly differ.")


def test_turns_that_chance_could_make_are_left_out():
    rng = np.random.default_rng(3)
    rows = rng.uniform(size=(400, 2))
    fx = rhale.explain(lambda r: 2 * r[:, 0] + 3 * r[:, 1], rows, method="mplot")
    assert turning_points(fx["x0"]).size == 2


def test_small_turns_are_left_out():
    assert zigzag(np.array([0.0, 1.0, 0.9, 2.0, 1.9]), 0.5).tolist() == [0, 4]
    assert zigzag(np.array([1.0, 0.0, 1.0, 0.0]), 0.5).tolist() == [0, 1, 2, 3]
    assert zigzag(np.array([2.0, 2.0]), 0.5).tolist() == [0, 1]


def with_jumps(effect, *jumps):
    """The same effect, of which these jumps are known."""
    made = replace(effect)
    vars(made)["jumps"] = tuple(Jump(*jump) for jump in jumps)  # as the property keeps them
    return made


def test_jumps_are_told_with_size_and_place(stepped):
    found = describe_effect(with_jumps(stepped, (1.0, 1.0, 2.0), (3.0, 3.0, -1.0)))
    assert "It jumps up by 2 at 1, down by 1 at 3." in found
    assert not any("jumps" in sentence for sentence in describe_effect(with_jumps(stepped)))


def test_a_jump_over_a_narrow_stretch_is_told_at_its_middle(stepped):
    assert "It jumps up by 2 at 1." in describe_effect(with_jumps(stepped, (0.9, 1.1, 2.0)))


def test_of_many_jumps_the_largest_are_told(stepped):
    many = [(0.1 * place, 0.1 * place, float(place)) for place in range(1, 8)]
    told = describe_effect(with_jumps(stepped, *many))
    words = "It jumps up by 5 at 0.5, up by 6 at 0.6, up by 7 at 0.7, and less at 4 other places."
    assert words in told


def test_a_staircase_is_read_as_the_model_has_it(stepped):
    first, second = describe_effect(with_jumps(stepped))
    assert first.startswith(
        "From 0 to 1 the prediction rises by 2.00 ± 0.14, nearly all of it at 1;"
    )
    assert second.startswith("From 1 to 4 it falls by 1, nearly all of it at 3;")


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.09, "rows hardly differ"),
        (0.24, "rows differ a little"),
        (0.39, "rows differ somewhat"),
        (0.5, "rows differ clearly"),  # half of the effect is not a little
        (0.99, "rows differ clearly"),
        (1.01, "rows differ a lot"),
    ],
)
def test_words_for_how_rows_differ_follow_the_share_of_the_change(share, words):
    assert differ(Difference(-2.0, 0.0, 2.0 * share)) == f"; {words}"


def test_of_many_stretches_the_largest_two_are_told_and_the_others_mentioned():
    """Up by 1, down by 4, up by 4, down by 1."""
    slopes = np.repeat([1.0, -4.0, 4.0, -1.0], 100)
    told = describe_effect(rhale.effect(np.linspace(0, 4, 400), slopes, bins=40))
    assert len(told) == 3
    assert "falls by 4" in told[0]
    assert "rises by 4" in told[1]
    assert told[2] == "Elsewhere it has smaller ups and downs."


def test_outputs_features_and_units_are_what_people_read():
    words = Captions(outputs={"y0": "price"}, units={"x": "m²", "y0": "$"})
    (told,) = describe_effect(replace(effect_of(np.full(401, 2.0)), captions=words))
    assert told == "From 0 to 10\u00a0m² price rises by $20; rows hardly differ."


def test_a_probability_is_called_so():
    words = Captions(outputs={"y0": "probability of churn = 1"})
    (told,) = describe_effect(replace(effect_of(np.full(401, 2.0)), captions=words))
    assert told.startswith("From 0 to 10 the probability of churn = 1 rises by 20")


def test_a_far_value_leaves_small_ones_their_digits():
    x = np.append(np.random.default_rng(4).normal(size=1_999), 1e6)
    told = " ".join(describe_effect(rhale.effect(x, np.where(x < 0, 3.0, -2.0), bins=20)))
    assert f"From {x.min():.2f}".replace("-", "\u2212") in told
