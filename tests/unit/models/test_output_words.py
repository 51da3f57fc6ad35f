import pytest

from rhale.models.libraries import word_class, word_number


@pytest.mark.parametrize(
    ("answer", "label", "target", "words"),
    [
        ("probability", "1", "churn", "probability of churn = 1"),
        ("probability", "True", "", "probability of class True"),
        ("probability", "-1", "", "probability of class -1"),
        ("log-odds", "Barolo", "", "log-odds of Barolo"),
        ("margin", "Barolo", "wine", "margin of wine = Barolo"),
        ("score", "Room 101", "", "score of Room 101"),
        ("prediction", "product", "", "product"),
    ],
)
def test_a_class_is_told_with_its_target_or_as_a_class(answer, label, target, words):
    assert word_class(answer, label, target) == words


@pytest.mark.parametrize(
    ("answer", "place", "n_all", "target", "words"),
    [
        ("prediction", 0, 1, "", "prediction"),
        ("prediction", 0, 1, "price", "price"),
        ("prediction", 2, 3, "", "prediction 3"),
        ("margin", 0, 1, "", "margin"),
        ("margin", 0, 1, "price", "margin of price"),
    ],
)
def test_a_number_without_a_label_is_told_by_its_place(answer, place, n_all, target, words):
    assert word_number(answer, place, n_all, target) == words
