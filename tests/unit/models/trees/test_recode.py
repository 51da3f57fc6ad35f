import numpy as np
import pandas as pd

from rhale.models.trees.reading import recode


def test_categories_become_their_places_and_unknown_ones_are_missing():
    rows = pd.DataFrame({"a": ["v", "u", "w", None], "b": [1.5, None, 2.0, 3.0]})
    found = recode(rows, categories=[["u", "v"], None])
    np.testing.assert_array_equal(found[:, 0], [1.0, 0.0, np.nan, np.nan])
    np.testing.assert_array_equal(found[:, 1], [1.5, np.nan, 2.0, 3.0])


def test_without_a_list_places_are_those_of_the_table():
    rows = pd.DataFrame({"a": pd.Categorical(["v", None, "u"], ["w", "v", "u"]), "b": [1, 2, 3]})
    found = recode(rows, categories=[None, None])
    np.testing.assert_array_equal(found, [[1.0, 1.0], [np.nan, 2.0], [2.0, 3.0]])


def test_a_matrix_has_numbers_already():
    np.testing.assert_array_equal(recode(np.eye(2), categories=[["u"], None]), np.eye(2))
