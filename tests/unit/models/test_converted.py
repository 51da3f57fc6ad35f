"""What a model in other units says, against the same model written in people's units."""

import numpy as np
import pytest

import rhale
from rhale.data import open_table
from rhale.errors import BadSettingError
from rhale.models import wrap
from rhale.models.conversions import ConvertedModel, convert

RNG = np.random.default_rng(0)
RAW = RNG.uniform(20, 80, size=(600, 2))
MEAN, STD = RAW.mean(axis=0), RAW.std(axis=0)
Z = (RAW - MEAN) / STD
LINES = {i: (lambda z, i=i: z * STD[i] + MEAN[i]) for i in range(2)}


def standard_scaler():
    return pytest.importorskip("sklearn.preprocessing").StandardScaler().fit(RAW)


def wrapped(model, table, transform, **options):
    opened, ways = convert(open_table(table), transform)
    chunk = opened.chunk(0, 50)
    made = ConvertedModel(wrap(model, **options), ways)
    return made.recognise(chunk.rows, made.predict(chunk.rows)), chunk.rows


def test_the_slope_of_a_line_is_divided_by_the_deviation():
    fx = rhale.explain(lambda rows: 2 * rows[:, 0] + 5, Z, transform=standard_scaler())
    np.testing.assert_allclose(fx["x0"].mean, 2 / STD[0], rtol=1e-9)
    assert fx["x0"].axis[[0, -1]] == pytest.approx([RAW[:, 0].min(), RAW[:, 0].max()])
    assert fx.provenance["asked"] == {"transform": "transform"}


def test_an_output_is_found_and_read_by_its_name_for_people():
    fx = rhale.explain(
        lambda rows: 0.01 * rows[:, 0],
        RAW,
        transform={"price": np.exp},
        output_names="price",
        units={"price": "$"},
    )
    assert fx["x0"].captions.value_axis("y0") == "price ($)"
    rise = np.diff(fx["x0"].curve([25.0, 75.0]))[0]
    assert rise == pytest.approx(np.exp(0.75) - np.exp(0.25), rel=0.01)


def test_a_margin_that_is_mapped_is_read_as_a_prediction():
    model = counts_model()
    fx = rhale.explain(model, Z, response="margin", transform={"y0": np.exp})
    assert fx["x0"].captions.output("y0") == "prediction"
    fx = rhale.explain(model, Z, response="margin", transform={"x0": LINES[0]})
    assert fx["x0"].captions.output("y0") == "margin"


def test_a_logged_column_gives_a_logarithm():
    """f = 3 log(v): the curve is 3 log(v) + c, and the slope 3 / v."""
    fx = rhale.explain(
        lambda rows: 3 * rows[:, 0],
        np.log(RAW),
        transform={"x0": np.exp, "x1": np.exp},
        gradient=lambda rows: np.tile([3.0, 0.0], (len(rows), 1)),
    )
    v = np.linspace(21, 79, 30)
    curve = fx["x0"].curve(v, center="start")
    expected = 3 * np.log(v / fx["x0"].axis[0])
    np.testing.assert_allclose(curve, expected, atol=0.01)
    model, rows = wrapped(
        lambda rows: 3 * rows[:, 0], np.log(RAW), {"x0": np.exp}, gradient=np.ones_like
    )
    np.testing.assert_allclose(model.gradient(rows, [0])[1][:, 0, 0], 1 / RAW[:50, 0], rtol=1e-12)


@pytest.mark.parametrize("how", [np.exp, (np.exp, np.log), lambda y: np.exp(y)])
def test_a_logged_target_has_slopes_of_its_exponential(how):
    """Of exp(f) the slope is exp(f) f'."""

    def model(rows):
        return 0.02 * rows[:, 0] - 0.01 * rows[:, 1]

    def gradient(rows):
        return np.tile([0.02, -0.01], (len(rows), 1))

    made, rows = wrapped(model, RAW, {"prediction": how}, gradient=gradient)
    answer, slopes = made.gradient(rows, [0])
    expected = np.exp(model(RAW[:50]))
    np.testing.assert_allclose(answer[:, 0], expected, rtol=1e-14)
    np.testing.assert_allclose(slopes[:, 0], expected[:, None] * [0.02, -0.01], rtol=1e-9)
    np.testing.assert_array_equal(made.predict(rows), answer)


def test_both_ways_multiply():
    """f(z) = z with x = exp(z) and y = f², by hand: y = log(x)², y' = 2 log(x) / x."""
    made, rows = wrapped(
        lambda rows: rows[:, 0],
        np.log(RAW[:, :1]),
        {"x0": np.exp, "y0": np.square},
        gradient=np.ones_like,
    )
    answer, slopes = made.gradient(rows, [0])
    x = RAW[:50, 0]
    np.testing.assert_allclose(answer[:, 0], np.log(x) ** 2, rtol=1e-12)
    np.testing.assert_allclose(slopes[:, 0, 0], 2 * np.log(x) / x, rtol=1e-12)


def test_a_scaler_of_the_table_goes_together_with_a_function_of_the_output():
    """exp(2 z0 + z1): the same in closed form of people's units, without any transform."""
    told = {"transform": standard_scaler(), "output_transform": np.exp}
    fx = rhale.explain(lambda z: 2 * z[:, 0] + z[:, 1], Z, bins=rhale.Fixed(8), **told)

    def priced(rows):
        z = (rows - MEAN) / STD
        return np.exp(2 * z[:, 0] + z[:, 1])

    mine = rhale.explain(priced, RAW, bins=rhale.Fixed(8))
    at = [30.0, 50.0, 70.0]
    np.testing.assert_allclose(fx["x0"].curve(at), mine["x0"].curve(at), rtol=1e-6)
    # columns are independent: the effect is exp(2 z0) times the mean of exp(z1), up to a constant
    ends = np.exp(2 * (np.array([40.0, 60.0]) - MEAN[0]) / STD[0])
    expected = np.diff(ends)[0] * np.exp(Z[:, 1]).mean()
    assert np.diff(fx["x0"].curve([40.0, 60.0]))[0] == pytest.approx(expected, rel=0.1)


def test_a_function_is_for_all_outputs_and_a_mapping_for_those_that_it_names():
    def both(rows):
        return np.stack([rows[:, 0], 2 * rows[:, 0]], axis=1) / 100

    line = rhale.explain(both, RAW, output_transform=lambda answers: 100 * answers)
    named = rhale.explain(both, RAW, output_transform={"y1": lambda answers: 100 * answers})
    slopes = [[fx["x0", output].mean[0] for output in ("y0", "y1")] for fx in (line, named)]
    np.testing.assert_allclose(slopes, [[1.0, 2.0], [0.01, 2.0]], rtol=1e-9)


def test_the_output_is_named_in_one_argument_alone():
    told = {"transform": {"y0": np.exp}, "output_transform": np.exp}
    with pytest.raises(BadSettingError, match="name outputs in one of the two"):
        rhale.explain(lambda rows: rows[:, 0], RAW, **told)
    with pytest.raises(
        BadSettingError, match="output_transform= holds StandardScaler, which is a class"
    ):
        rhale.explain(lambda rows: rows[:, 0], RAW, output_transform=type(standard_scaler()))


def test_outputs_of_rows_in_files_are_mapped_as_those_in_memory(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(RAW, columns=["a", "b"])
    frame.to_parquet(path := str(tmp_path / "rows.parquet"))

    def model(rows):
        return rows["a"] / 50

    kept, read = (rhale.explain(model, d, output_transform=np.exp) for d in (frame, path))
    np.testing.assert_array_equal(kept["a"].curve([30.0, 60.0]), read["a"].curve([30.0, 60.0]))


def test_a_map_that_loses_answers_is_refused_and_the_model_not_blamed():
    with pytest.raises(BadSettingError, match="of an output turns the prediction -"):
        rhale.explain(lambda rows: rows[:, 0], Z, transform={"y0": np.log})


def test_one_of_several_outputs_is_mapped():
    def model(rows):
        return np.column_stack([rows[:, 0], rows[:, 1]])

    made, rows = wrapped(model, Z, {"y1": lambda y: 100 * y})
    np.testing.assert_allclose(made.predict(rows), Z[:50] * [1, 100], rtol=1e-12)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_model_sees_its_own_kind_of_table_in_its_own_units(kind):
    pytest.importorskip(kind)
    nw = pytest.importorskip("narwhals.stable.v2")
    gone = [None if i % 5 == 0 else v for i, v in enumerate(Z[:, 0].tolist())]
    table = nw.from_dict({"a": gone, "b": Z[:, 1]}, backend=kind).to_native()
    seen = []

    def model(rows):
        read = nw.from_native(rows, eager_only=True)
        assert type(rows) is type(table)
        a = np.asarray(read["a"].fill_null(0.0).fill_nan(0.0).to_numpy())
        seen.append(np.abs(a).max())
        return 2 * a + read["b"].to_numpy()

    fx = rhale.explain(model, table, transform={"a": LINES[0], "b": LINES[1]})
    assert max(seen) < 3  # standardised, never in years
    assert fx["b"].mean == pytest.approx(1 / STD[1])
    assert fx["a"].missing.count == 120


def test_torch_modules_keep_their_gradient():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    module = module.double()
    made, rows = wrapped(module, Z, standard_scaler())
    _, slopes = made.gradient(rows, [0])
    own = wrap(module).gradient(Z[:50], [0])[1]
    np.testing.assert_allclose(slopes, own / STD, rtol=1e-12)
    fx = rhale.explain(module, Z.astype(np.float32), transform=standard_scaler())
    assert fx.provenance["ways"] == {"x0": "gradient", "x1": "gradient"}
    assert module.training


def test_functions_of_jax_are_recognised_behind_their_units():
    jnp = pytest.importorskip("jax.numpy")
    fx = rhale.explain(lambda rows: jnp.sin(rows[:, 0]), Z, transform=standard_scaler())
    assert fx.provenance["ways"]["x0"] == "gradient"


def test_trees_are_walked_as_they_are_behind_a_pipeline():
    ensemble = pytest.importorskip("sklearn.ensemble")
    pipeline = pytest.importorskip("sklearn.pipeline")
    pytest.importorskip("numba")
    forest = ensemble.RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    forest.fit(Z, Z[:, 0] ** 2 + Z[:, 1])
    scaler = standard_scaler()
    found = rhale.explain(forest, Z, transform=scaler)
    expected = rhale.explain(pipeline.make_pipeline(scaler, forest), RAW)
    assert found.provenance["answers_walked"] > 0
    for name in ("x0", "x1"):
        x = np.linspace(*expected[name].axis[[0, -1]], 100)[1:-1]
        gap = np.abs(found[name].curve(x) - expected[name].curve(x))
        assert np.median(gap) < 1e-9
        assert found[name].stairs is not None


def counts_model():
    lightgbm = pytest.importorskip("lightgbm")
    y = np.random.default_rng(1).poisson(np.exp(0.5 * Z[:, 0] + 0.3 * Z[:, 0] * Z[:, 1]))
    return lightgbm.LGBMRegressor(objective="poisson", n_estimators=20, verbose=-1).fit(Z, y)


def test_trees_of_a_logged_target_are_walked_as_those_with_a_log_link():
    """LightGBM's own exponential link says what exp of its margin must be."""
    pytest.importorskip("numba")
    model = counts_model()
    expected = rhale.explain(model, Z)
    found = rhale.explain(model, Z, response="margin", transform={"prediction": np.exp})
    assert expected["x0"].stairs is not None
    for name in ("x0", "x1"):
        x = np.linspace(*expected[name].axis[[0, -1]], 100)
        np.testing.assert_allclose(found[name].curve(x), expected[name].curve(x), atol=1e-12)
        np.testing.assert_allclose(found[name].std, expected[name].std, atol=1e-12)


def test_interactions_and_refits_are_in_peoples_units_too():
    pytest.importorskip("numba")
    model = counts_model()
    expected = rhale.interactions(model, Z, response="predict")["x0", "x1"]
    found = rhale.interactions(
        model, Z, response="margin", transform={"x0": LINES[0], "y0": np.exp}
    )["x0", "x1"]
    assert found.strength == pytest.approx(expected.strength, rel=1e-9)
    rows = [np.arange(300), np.arange(300, 600)]
    models = [lambda z: 2 * z[:, 0], lambda z: 4 * z[:, 0]]
    rx = rhale.refits(models, Z, train=rows, transform=standard_scaler())
    slope = np.diff(rx["x0"].curve([30.0, 31.0]))[0]
    assert slope == pytest.approx(3 / STD[0])


def test_classes_that_share_their_sums_are_asked_with_a_note():
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("numba")
    y = np.digitize(Z[:, 0], [-0.5, 0.5])
    model = xgboost.XGBClassifier(n_estimators=3).fit(Z, y)
    fx = rhale.explain(model, Z, output="2", transform={"2": lambda p: 100 * p})
    assert any("take response='margin'" in note for note in fx["x0"].notes)


def test_limits_and_bins_are_in_peoples_units():
    fx = rhale.explain(
        lambda rows: rows[:, 0], Z, transform=standard_scaler(), limits={"x0": (30, 50)}
    )
    assert fx["x0"].axis[[0, -1]] == pytest.approx([30, 50], abs=0.5)


def test_tables_that_are_not_in_memory_are_refused_with_the_pipeline(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame(Z, columns=["a", "b"]).to_parquet(tmp_path / "z.parquet")
    with pytest.raises(BadSettingError, match=r"needs a table in memory.*make_pipeline"):
        rhale.explain(lambda t: t["a"], tmp_path / "z.parquet", transform={"a": np.exp})


def test_the_rest_is_the_models_own():
    model = wrap(lambda rows: rows[:, 0], gradient=lambda rows: rows)
    made = ConvertedModel(model, convert(open_table(Z), standard_scaler())[1])
    assert made.kind == model.kind
    assert made.labels is None
    assert made.usual_outputs is None
    assert made.columns is None
    assert made.device is None
    assert made.notes == ()
    assert made.is_differentiable
    assert made.is_placed
    assert (made.n_threads, made.checked_rows) == (1, 0)
    with made.answer_alone() as alone:
        assert alone.inner is model
    with pytest.raises(BadSettingError, match="device='cuda' is for torch modules"):
        made.move_to("cuda")


def test_a_checkpoint_of_refits_knows_another_transform(tmp_path):
    linear = pytest.importorskip("sklearn.linear_model")
    asked = {"n_refits": 4, "checkpoint": tmp_path / "kept"}
    target = Z[:, 0]
    rhale.refit(linear.LinearRegression(), Z, target, transform={"x0": LINES[0]}, **asked)
    with pytest.raises(rhale.RhaleError, match="transform"):
        rhale.refit(linear.LinearRegression(), Z, target, transform={"x0": LINES[1]}, **asked)
