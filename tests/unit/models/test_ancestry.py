from sklearn.tree import ExtraTreeRegressor

from rhale.models.libraries import classes_of


def test_classes_come_with_their_libraries_the_nearest_first():
    class Own(ExtraTreeRegressor):
        pass

    found = classes_of(Own())
    assert found[0].endswith(".Own")
    assert found[1:3] == ["sklearn.ExtraTreeRegressor", "sklearn.DecisionTreeRegressor"]
    assert found[-1] == "builtins.object"
