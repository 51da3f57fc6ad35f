import numpy as np
import pytest

from rhale.stats.sampling import collect, hash_rows


def keys(*values):
    return np.array(values, dtype=np.uint64)


def sample(key, size, weight=None):
    key = keys(*key)
    weight = np.ones(key.size) if weight is None else np.array(weight, dtype=float)
    return collect(key, key[:, None].astype(float), weight, size=size)


def test_the_smallest_keys_are_kept_in_order():
    found = sample([5, 1, 9, 3], 2)
    assert found.key.tolist() == [1, 3]
    assert found.values.tolist() == [[1.0], [3.0]]
    assert found.seen == 4
    assert not found.is_complete


def test_equal_rows_share_one_place_and_add_their_weights():
    found = sample([7, 2, 7, 7], 3, weight=[1, 2, 3, 4])
    assert found.key.tolist() == [2, 7]
    assert found.weight.tolist() == [2.0, 8.0]
    assert found.is_complete


def test_the_number_of_distinct_rows_decides_whether_it_is_complete():
    assert sample([1, 2, 2, 2, 1], 2).is_complete
    assert not sample([1, 2, 3], 2).is_complete
    assert sample([1, 2, 3], 3).is_complete


def test_many_equal_small_keys_do_not_crowd_out_the_others():
    """More than twice the size of the smallest keys are one row, seen often."""
    found = sample([1] * 50 + [2, 3, 4], 3)
    assert found.key.tolist() == [1, 2, 3]
    assert found.weight.tolist() == [50.0, 1.0, 1.0]
    assert not found.is_complete


def test_a_key_that_repeats_beyond_the_bound_keeps_its_whole_weight():
    found = sample([3, 1, 2, 2, 2, 2, 2, 9, 8, 7], 2)
    assert found.key.tolist() == [1, 2]
    assert found.weight.tolist() == [1.0, 5.0]


def test_random_keys_agree_with_sorting():
    rng = np.random.default_rng(0)
    key = rng.integers(0, 400, 3000).astype(np.uint64)
    weight = rng.uniform(0, 1, 3000)
    found = collect(key, key[:, None].astype(float), weight, size=50)
    smallest = np.unique(key)[:50]
    np.testing.assert_array_equal(found.key, smallest)
    np.testing.assert_array_equal(found.values[:, 0], smallest)
    np.testing.assert_allclose(found.weight, [weight[key == k].sum() for k in smallest])


def test_adding_keeps_the_smaller_size_and_counts_all_rows():
    both = sample([1, 5, 9], 3) + sample([5, 2], 2)
    assert both.size == 2
    assert both.key.tolist() == [1, 2]
    assert both.seen == 5
    assert not both.is_complete


def test_a_sum_is_incomplete_if_a_part_is():
    assert not (sample([1, 2, 3], 2) + sample([1], 2)).is_complete
    assert not (sample([1], 2) + sample([1, 2, 3], 2)).is_complete
    assert (sample([1], 2) + sample([1, 2], 2)).is_complete


def test_a_sum_that_leaves_a_row_out_is_incomplete():
    for both in (sample([1, 2], 2) + sample([3], 2), sample([3], 2) + sample([1, 2], 2)):
        assert both.key.tolist() == [1, 2]
        assert not both.is_complete


def test_no_rows_are_a_sample_too():
    nothing = collect(hash_rows(np.empty((0, 3))), np.empty((0, 3)), np.empty(0), size=5)
    assert nothing.values.shape == (0, 3)
    assert (nothing.seen, nothing.is_complete) == (0, True)


def test_row_keys_depend_on_values_alone():
    rows = np.random.default_rng(1).normal(size=(20, 3))
    key = hash_rows(rows)
    np.testing.assert_array_equal(hash_rows(rows[::-1])[::-1], key)
    np.testing.assert_array_equal(hash_rows(np.asfortranarray(rows)), key)
    np.testing.assert_array_equal(hash_rows(rows[7:9]), key[7:9])


def test_both_zeros_have_the_same_key():
    assert hash_rows(np.array([[0.0, 1.0]])) == hash_rows(np.array([[-0.0, 1.0]]))


def test_another_seed_gives_another_order():
    rows = np.arange(50.0)[:, None]
    assert np.argsort(hash_rows(rows, 0)).tolist() != np.argsort(hash_rows(rows, 1)).tolist()


def test_the_order_of_columns_matters():
    assert hash_rows(np.array([[1.0, 2.0]])) != hash_rows(np.array([[2.0, 1.0]]))


@pytest.mark.parametrize("step", [1.0, 1e-9, 1e9, 2.0**-40])
def test_keys_of_regular_rows_look_random(step):
    """The share of small keys in every stretch of a regular column is even."""
    key = hash_rows(step * np.arange(20_000.0)[:, None])
    assert np.unique(key).size == key.size
    small = key < np.uint64(2**63)
    shares = small.reshape(20, 1000).mean(axis=1)
    assert np.all(np.abs(shares - 0.5) < 5 * 0.5 / np.sqrt(1000))
    fewest = np.argsort(key)[:2000]
    assert abs(fewest.mean() - 10_000) < 5 * 20_000 / np.sqrt(12 * 2000)


def test_keys_do_not_change_their_rows():
    rows = np.array([[-0.0, 1.0]])
    hash_rows(rows)
    assert np.signbit(rows[0, 0])


def test_all_kinds_of_nan_and_of_zero_are_the_same():
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    keys = hash_rows(np.array([[np.nan], [odd[0]], [odd[1]], [0.0], [-0.0]]))
    assert len(set(keys[:3].tolist())) == len(set(keys[3:].tolist())) == 1


def test_the_last_key_lets_in_so_many_distinct_rows_or_all():
    found = sample([7, 2, 7, 9], 5)
    assert found.last_key(2) == 7
    assert found.last_key(3) == found.last_key(8) == np.iinfo(np.uint64).max


def test_the_last_key_of_more_rows_than_were_kept_is_guessed_from_how_close_keys_are():
    found = sample([10, 20, 30, 40, 50, 60], 4)
    assert found.last_key(3) == 30
    assert found.last_key(4) == 40  # of those that were kept
    assert found.last_key(8) == 80
    assert sample([10, 20], 4).last_key(2) == 2**64 - 1  # there are no more
    assert sample([2**62, 2**63, 2**63 + 1], 2).last_key(1_000) == 2**64 - 1


def test_about_as_many_rows_as_were_asked_for_have_keys_up_to_the_guess():
    key = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    found = collect(key, np.empty((key.size, 0)), np.ones(key.size), size=2_000)
    n_found = int(np.sum(key <= found.last_key(8_000)))
    assert abs(n_found - 8_000) < 5 * 8_000 / np.sqrt(2_000)  # five errors of the guess


def test_a_part_that_sends_fewer_rows_says_up_to_which_key_none_is_missing():
    sent = sample([7, 2, 7, 9, 4], 10, weight=[1, 1, 2, 1, 1]).first(3)
    assert sent.key.tolist() == [2, 4, 7]
    assert sent.weight.tolist() == [1.0, 1.0, 3.0]
    assert (sent.known_to, sent.is_complete, sent.seen) == (7, False, 5)
    assert sent.first(2).known_to == 4
    assert sent.first(3) is sent


def test_a_sum_of_such_parts_is_sure_where_no_row_that_was_left_out_belongs_to_it():
    parts = [sample([1, 4, 6, 8], 4).first(2), sample([2, 3, 5, 7], 4).first(3)]
    found = parts[0] + parts[1]
    assert found.key.tolist() == [1, 2, 3, 4]
    assert (found.known_to, found.is_sure) == (4, True)


def test_a_sum_of_parts_that_sent_too_few_rows_is_not_sure():
    full = sample([1, 2, 3], 4).first(2) + sample([4, 5], 4)  # 3 belongs there, in place of 5
    assert full.key.tolist() == [1, 2, 4, 5]
    assert not full.is_sure
    few = sample([1, 2, 3], 9).first(2) + sample([4, 5], 9)
    assert not few.is_sure
    assert (sample([1, 2, 3], 9) + sample([4, 5], 9)).is_sure
