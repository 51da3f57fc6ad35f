from dataclasses import replace

import numpy as np
import pytest

from rhale.data import open_table
from rhale.errors import BadSettingError, BadTableError, UnknownOutputError
from rhale.models import wrap
from rhale.models.conversions import Outputs, convert, describe_conversions, read_map

RNG = np.random.default_rng(0)
RAW = np.column_stack([RNG.integers(18, 90, 300), RNG.lognormal(10, 0.5, 300)]).astype(float)


def frame(values=RAW):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(values, columns=["age", "income"])


def scalers():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    pipeline = pytest.importorskip("sklearn.pipeline")
    names = ["StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "PowerTransformer"]
    made = [getattr(preprocessing, name)() for name in names]
    return [*made, pipeline.make_pipeline(made[0], made[1])]


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("kind", ["array", "frame", "array of a frame"])
def test_a_fitted_scaler_gives_back_the_raw_table(number, kind):
    scaler = scalers()[number]
    raw = frame() if "frame" in kind else RAW
    z = scaler.fit(raw).transform(raw)
    z = frame(z) if kind == "frame" else z
    table, ways = convert(open_table(z), scaler)
    chunk = table.chunk(0, 300)
    np.testing.assert_array_equal(chunk.column(0), RAW[:, 0])  # years are whole
    np.testing.assert_allclose(chunk.column(1), RAW[:, 1], rtol=1e-9)
    np.testing.assert_allclose(ways.model_rows(chunk.rows), z, atol=1e-9)


def test_a_scaler_of_some_columns_is_followed_by_their_names():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    own = frame().assign(city="b")
    scaler = preprocessing.StandardScaler().fit(own[["income", "age"]])
    z = own.copy()
    z[["income", "age"]] = scaler.transform(own[["income", "age"]])
    table, ways = convert(open_table(z), scaler)
    np.testing.assert_allclose(table.chunk(0, 300).column(1), RAW[:, 1], rtol=1e-12)
    rows = ways.model_rows(table.chunk(0, 5).rows)
    assert rows["city"].tolist() == ["b"] * 5
    np.testing.assert_allclose(rows["age"], z["age"][:5], rtol=1e-12)


def test_a_mapping_names_features_by_name_or_place_and_the_rest_are_outputs():
    table, ways = convert(
        open_table(frame(np.log(RAW))), {"income": np.exp, 0: np.exp, "y": np.exp}
    )
    np.testing.assert_allclose(table.chunk(0, 300).keys(), RAW.T, rtol=1e-12)
    assert list(ways.outputs) == ["y"]


def test_outputs_are_found_by_label_or_as_the_one_prediction():
    one, two = Outputs(("y0",), (0,)), Outputs(("y0", "y1"), (0, 1))
    _, ways = convert(open_table(RAW), {"prediction": np.exp})
    assert list(ways.find_outputs(one)) == [0]
    with pytest.raises(
        UnknownOutputError, match="names 'prediction', which is no feature or output"
    ):
        ways.find_outputs(two)
    _, ways = convert(open_table(RAW), {"yes": np.exp})
    answers = ways.people_answers(Outputs(("no", "yes"), (1,)), np.array([[1.0, 0.0]]))
    assert answers.tolist() == [[1.0, 1.0]]


def test_a_name_that_is_neither_is_answered_with_all_that_are():
    _, ways = convert(open_table(frame()), {"Age": np.exp})
    with pytest.raises(UnknownOutputError, match=r"'Age'.*did you mean 'age'\? Known: .*'y0'"):
        ways.find_outputs(Outputs(("y0",), (0,)))


@pytest.mark.parametrize("words", ["price", ["price"], {"y0": "price"}, {0: "price"}])
def test_outputs_are_found_by_what_people_read(words):
    _, ways = convert(open_table(RAW), {"price": np.exp}, words)
    assert list(ways.find_outputs(Outputs(("y0",), (0,)))) == [0]
    two = Outputs(("y0", "y1"), (0, 1))
    if isinstance(words, dict):
        assert list(ways.find_outputs(two)) == [0]
    else:
        with pytest.raises(UnknownOutputError, match="names 'price'"):
            ways.find_outputs(two)


def test_outputs_of_a_model_are_its_classes_or_numbered():
    model = wrap(lambda rows: rows)
    assert Outputs.of(model, 2) == (("y0", "y1"), (0, 1))
    named = replace(model, labels=("no", "yes"), usual_outputs=(1,))
    assert Outputs.of(named, 2) == (("no", "yes"), (1,))
    assert Outputs.of(named, 3).labels == ("y0", "y1", "y2")


def test_a_table_without_mapped_columns_is_the_same_table():
    table = open_table(RAW)
    found, ways = convert(table, {"y0": np.exp})
    assert found is table
    assert ways.model_rows(RAW) is RAW


def test_the_users_scaler_keeps_its_names():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    scaler = preprocessing.StandardScaler().fit(frame())
    convert(open_table(frame(scaler.transform(frame()))), scaler)
    assert list(scaler.feature_names_in_) == ["age", "income"]


def fitted(module, name, columns=slice(None)):
    made = getattr(pytest.importorskip(f"sklearn.{module}"), name)()
    return made.fit(RAW[:, columns])


def test_steps_that_mix_columns_or_have_no_way_back_are_refused():
    with pytest.raises(BadSettingError, match=r"PCA mixes columns.*make_pipeline\(scaler, model\)"):
        convert(open_table(RAW), fitted("decomposition", "PCA"))
    with pytest.raises(BadSettingError, match="Normalizer has no inverse_transform"):
        convert(open_table(RAW), fitted("preprocessing", "Normalizer"))


def test_scalers_of_other_columns_are_refused():
    scaler = pytest.importorskip("sklearn.preprocessing").StandardScaler()
    with pytest.raises(BadSettingError, match="was fitted on 1 columns, the table has 2"):
        convert(open_table(RAW), fitted("preprocessing", "StandardScaler", [0]))
    with pytest.raises(BadTableError, match="was fitted on 'bmi', which the table does not have"):
        convert(open_table(frame()), scaler.fit(frame().rename(columns={"age": "bmi"})))
    with pytest.raises(BadSettingError, match="'age' was fitted on 2 columns"):
        convert(open_table(frame()), {"age": fitted("preprocessing", "StandardScaler")})
    with pytest.raises(BadSettingError, match="cannot undo itself: NotFittedError"):
        convert(open_table(RAW), pytest.importorskip("sklearn.preprocessing").RobustScaler())


@pytest.mark.parametrize("how", [3, "exp", (np.exp,), (np.exp, 2), None])
def test_what_is_no_way_to_people_is_refused(how):
    with pytest.raises(BadSettingError, match=r"'a' is .*; pass a function from the model's units"):
        read_map(how, "'a'")


def test_a_class_is_no_fitted_scaler():
    kind = pytest.importorskip("sklearn.preprocessing").StandardScaler
    for asked in (kind, {"age": kind}):
        with pytest.raises(BadSettingError, match="holds StandardScaler, which is a class"):
            convert(open_table(frame()), asked)


def test_a_function_must_say_of_what():
    with pytest.raises(BadSettingError, match=r"does not say which columns.*\{'price': np.exp\}"):
        convert(open_table(RAW), np.exp)


def test_a_feature_is_named_once():
    with pytest.raises(BadSettingError, match="names 'age' twice"):
        convert(open_table(frame()), {"age": np.exp, 0: np.exp})


def test_names_and_truths_have_no_units():
    own = frame().assign(city="b", truth=True)
    with pytest.raises(BadSettingError, match="names 'city', which holds names"):
        convert(open_table(own), {"city": np.exp})
    with pytest.raises(BadSettingError, match="names 'truth', which holds truth values"):
        convert(open_table(own), {"truth": np.exp})


def test_transforms_are_told_apart_by_what_they_do():
    table = open_table(RAW)
    found = [
        describe_conversions(table, {"x0": lambda z, k=k: k * z, "y0": lambda z, k=k: k + z})
        for k in (2.0, 2.0, 3.0)
    ]
    assert found[0] == found[1] != found[2]
    assert list(found[0]) == ["x0", "y0"]
