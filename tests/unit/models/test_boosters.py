import numpy as np
import pytest

import rhale
from rhale.errors import BadTableError
from rhale.models import boosters
from rhale.models.boosters import shorten_names
from rhale.models.trees.reading import lightgbm_categories


def test_many_names_are_cut_short():
    assert shorten_names(["a", "b"]) == "a, b"
    assert shorten_names([str(i) for i in range(9)]) == "0, 1, 2, 3, 4, 5, ... (9)"


def test_arrays_have_no_names_to_be_wrong():
    ask = boosters.partial(boosters._ask_in_order, ("a", "b"), len)
    assert ask(np.zeros((3, 2))) == 3
    pandas = pytest.importorskip("pandas")
    assert ask(pandas.DataFrame({"a": [1.0], "b": [2.0]})) == 1
    with pytest.raises(BadTableError, match="other names"):
        ask(pandas.DataFrame({"a": [1.0], "c": [2.0]}))


# --- rows of files have text or numbers where the training had categories of pandas --------------


def fitted_on_categories(library):
    """A model of a column of text and one of codes, both categories of pandas; and its table."""
    pd, kind = pytest.importorskip("pandas"), pytest.importorskip(library)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=600),
            "town": pd.Categorical(rng.choice(["u", "v", "w"], 600)),
            "code": pd.Categorical(rng.choice([7, 1, 3], 600)),
        }
    )
    target = frame["size"] * (frame["town"] == "v") + (frame["code"].astype(int) == 7)
    if library == "lightgbm":
        learner = kind.LGBMRegressor(n_estimators=10, verbose=-1, n_jobs=1)
    else:
        learner = kind.XGBRegressor(n_estimators=10, enable_categorical=True, n_jobs=1)
    return learner.fit(frame, target), frame


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_rows_of_files_get_the_categories_of_the_training(library, tmp_path):
    model, frame = fitted_on_categories(library)
    plain = frame.astype({"town": str, "code": int})
    plain.to_csv(path := str(tmp_path / "rows.csv"), index=False)
    told = {"categorical": {"code": True, "town": ["u", "v", "w"]}}
    kept, text, read = (rhale.explain(model, rows, **told) for rows in (frame, plain, path))
    assert read.provenance["answers_walked"] > 0
    for name in ("size", "town", "code"):
        for other in (text, read):
            np.testing.assert_allclose(other[name].importance, kept[name].importance, rtol=0.01)
    np.testing.assert_allclose(
        read["town"].curve(["u", "v", "w"]), kept["town"].curve(["u", "v", "w"]), atol=1e-9
    )


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_mean_predictions_of_text_are_those_that_the_library_gives_categories(library):
    model, frame = fitted_on_categories(library)
    text = frame.astype({"town": str, "code": int})
    fx = rhale.explain(model, text, features="town", method="pdp", n_jobs=1)
    levels = list(fx["town"].labels)
    expected = [
        model.predict(frame.assign(town=frame["town"].where(frame["town"] == v, v))).mean()
        for v in levels
    ]
    np.testing.assert_allclose(fx["town"].mean, expected, rtol=1e-6)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_values_that_are_no_categories_of_the_training_are_refused(library):
    model, frame = fitted_on_categories(library)
    wrong = frame.astype({"town": str, "code": str}).assign(code="seven")
    with pytest.raises(BadTableError, match="'code' holds 'seven', and the model was trained with"):
        rhale.explain(model, wrong)


def test_an_ordered_category_leaves_open_which_column_has_which_categories():
    """LightGBM takes it for a number, and lists its categories all the same: the library answers."""
    lightgbm, pd = pytest.importorskip("lightgbm"), pytest.importorskip("pandas")
    _, frame = fitted_on_categories("lightgbm")
    frame["town"] = pd.Categorical(frame["town"], ["u", "v", "w"], ordered=True)
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1).fit(frame, frame["size"])
    assert lightgbm_categories(model.booster_) is None
    assert rhale.explain(model, frame)["size"].importance > 0
