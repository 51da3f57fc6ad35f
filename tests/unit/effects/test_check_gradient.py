"""A gradient that contradicts the predictions is refused; one that is right passes, kinks and all."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rhale
from rhale.effects.local.gradient import Differences, judge
from rhale.errors import BadEffectsError

N = 400
X = np.random.default_rng(3).uniform(-1, 1, size=(N, 2))
CHECKED = 32


def curved(rows):
    return rows[:, 0] ** 2 + rows[:, 1]


def slopes(rows):
    return np.column_stack([2 * rows[:, 0], np.ones(len(rows))])


def kinked(rows):
    return np.maximum(rows[:, 0], 0) + np.maximum(0.3 * rows[:, 0] - rows[:, 1], 0.2)


def kinked_slopes(rows):
    is_on = (0.3 * rows[:, 0] - rows[:, 1]) > 0.2
    return np.column_stack([(rows[:, 0] > 0) + 0.3 * is_on, -1.0 * is_on])


def refusal(*args, **options):
    with pytest.raises(BadEffectsError) as caught:
        rhale.explain(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize(("fit", "asked"), [(20, 20), (0, 16), (99, CHECKED)])
def test_of_very_many_features_fewer_rows_are_asked_about(monkeypatch, fit, asked):
    monkeypatch.setattr("rhale.effects.local.gradient.CHECKED_NUMBERS", 2 * 2 * 2 * fit)
    found = rhale.explain(curved, X, gradient=slopes).provenance["rows_asked"]
    monkeypatch.setattr("rhale.effects.local.gradient.CHECKED_NUMBERS", 2 * 2 * 2 * 32)
    usual = rhale.explain(curved, X, gradient=slopes).provenance["rows_asked"]
    assert usual - found == 2 * 2 * (CHECKED - asked)


# --- wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [-1.0, -100.0, 2.0, 0.5, 1e-3, 1e6, 0.0])
@pytest.mark.parametrize("method", ["rhale", "dale"])
def test_a_gradient_of_another_sign_or_size_is_refused(factor, method):
    """D6 (times -100) and B6 (sign turned)."""

    def wrong(rows):
        return slopes(rows) * [1.0, factor]  # one feature is enough

    message = refusal(curved, X, gradient=wrong, method=method)
    assert f"the gradient of 'y0' along 'x1' is {factor:.4g} in row " in message
    assert "where predictions change by 1 per unit" in message
    assert re.search(r"; (\d+) of \1 such rows disagree;", message)
    assert "correct the gradient, leave it out (local='secant')" in message


def test_columns_that_were_swapped_are_refused():
    assert "along 'x0'" in refusal(lambda r: r[:, 0] * r[:, 1], X, gradient=lambda r: r)


def test_one_wrong_output_of_two_is_refused_by_its_name():
    def both(rows):
        return np.column_stack([curved(rows), 3 * rows[:, 0]])

    def half_wrong(rows):
        return np.stack([slopes(rows), np.tile([-3.0, 0.0], (len(rows), 1))], axis=1)

    assert "the gradient of 'y1' along 'x0' is -3" in refusal(both, X, gradient=half_wrong)
    rhale.explain(both, X, gradient=half_wrong, output="y0")


def test_the_slope_of_another_unit_of_a_date_is_refused():
    pd = pytest.importorskip("pandas")
    start = pd.Timestamp("2020-01-01")
    table = pd.DataFrame({"d": start + pd.to_timedelta(np.arange(N) * 5, "h")})

    def model(rows):
        return 24 * ((rows["d"] - start) / pd.Timedelta(days=1)).to_numpy()

    rhale.explain(model, table, gradient=lambda r: np.full((len(r), 1), 24.0))  # per day
    message = refusal(model, table, gradient=lambda r: np.full((len(r), 1), 1.0))  # per hour
    assert "is 1 in row" in message
    assert "evaluated at 2020-" in message


@pytest.mark.parametrize("method", ["rhale", "dale"])
def test_whoever_insists_gets_the_gradient_and_a_note(method):
    fx = rhale.explain(
        curved, X, gradient=lambda r: -slopes(r), local="gradient", method=method, bins=1
    )
    doubt, note = fx["x1"].notes
    assert (doubt.kind, note.kind) == ("audit", "gradient")  # predictions contradict the curve, too
    assert note.startswith(
        "effects measured by the gradient, as requested, although the gradient of"
    )
    assert "is -1 in row" in note
    assert fx["x1"].mean == pytest.approx([-1.0])
    assert fx.provenance["local_effects"]["x1"] == note


def test_what_torch_derives_is_checked_too():
    class Cut(torch.nn.Module):
        def forward(self, rows):
            return rows[:, 0] + 3 * rows[:, 1] - 2 * rows[:, 1].detach()

    message = refusal(Cut(), X)
    assert "along 'x1' is 3 in row" in message
    assert re.search(r"change by (1|0\.9999?|1\.000\d) per unit", message)


# --- right ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float64", "float32", "float16"])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_rounding_is_no_disagreement(kind, offset):
    def model(rows):
        return (curved(rows) + offset).astype(kind).astype(float)

    fx = rhale.explain(model, X, gradient=slopes)
    assert [effect.notes for effect in fx.values()] == [(), ()]


def test_single_precision_is_enough_to_see_a_wrong_sign():
    def model(rows):
        return (curved(rows) + 100).astype(np.float32)

    assert "along 'x0'" in refusal(model, X, gradient=lambda r: -slopes(r))


def test_kinks_pass_and_wrong_signs_beside_kinks_do_not():
    rhale.explain(kinked, X, gradient=kinked_slopes)
    refusal(kinked, X, gradient=lambda r: -kinked_slopes(r))


def test_a_network_of_kinks_passes():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        *[torch.nn.Linear(2, 200), torch.nn.ReLU(), torch.nn.Linear(200, 200), torch.nn.ReLU()],
        torch.nn.Linear(200, 1),
    )
    fx = rhale.explain(net, X.astype(np.float32))
    assert set(fx.provenance["local_effects"].values()) == {"effects measured by the gradient"}


@pytest.mark.parametrize(
    ("model", "slope"),
    [
        (lambda x: 0.01 * x + (x > 0), lambda x: 0.01 + 0 * x),
        (lambda x: np.sin(40 * x), lambda x: 40 * np.cos(40 * x)),
        (lambda x: np.sin(4_000 * x), lambda x: 4_000 * np.cos(4_000 * x)),
        (lambda x: np.tanh(100 * x), lambda x: 100 / np.cosh(100 * x) ** 2),
        (lambda x: 1e8 + 1e-9 * x, lambda x: 1e-9 + 0 * x),
        (lambda x: np.exp(20 * x), lambda x: 20 * np.exp(20 * x)),
    ],
    ids=["jump", "waves", "fast waves", "saturated", "lost in rounding", "steep"],
)
def test_right_gradients_of_awkward_functions_pass(model, slope):
    rhale.explain(
        lambda r: model(r[:, 0]),
        X,
        gradient=lambda r: np.column_stack([slope(r[:, 0]), np.zeros(len(r))]),
    )


def test_whole_numbers_are_asked_at_whole_numbers():
    rows = np.random.default_rng(0).integers(0, 90, size=(N, 1))
    seen = []

    def model(asked):
        seen.append(np.asarray(asked)[:, 0])
        return asked[:, 0] ** 2.0

    rhale.explain(model, rows, gradient=lambda r: 2.0 * r)
    assert "along 'x0'" in refusal(model, rows, gradient=lambda r: -2.0 * r)
    found = np.concatenate(seen)
    assert np.array_equal(found, np.rint(found))


def test_rows_without_a_value_say_nothing():
    rows = X.copy()
    rows[::3, 1] = np.nan

    def model(asked):
        return asked[:, 0] + np.nan_to_num(asked[:, 1])

    fx = rhale.explain(model, rows, gradient=lambda r: np.where(np.isnan(r), np.nan, 1.0))
    assert fx["x1"].mean == pytest.approx([1.0])
    refusal(model, rows, gradient=lambda r: np.where(np.isnan(r), np.nan, [1.0, -1.0]))


def test_a_model_that_only_takes_rows_as_they_are_is_not_judged():
    known = {row.tobytes() for row in X}

    def model(asked):
        if not all(row.tobytes() in known for row in np.ascontiguousarray(asked)):
            raise KeyError
        return asked[:, 0] + asked[:, 1]

    assert rhale.explain(model, X, gradient=np.ones_like)["x0"].mean == pytest.approx([1.0])


@pytest.mark.parametrize("local", ["auto", "gradient"])
def test_the_rows_that_were_asked_are_counted(local):
    seen = []

    def model(rows):
        seen.append(len(rows))
        return curved(rows)

    fx = rhale.explain(model, X, gradient=slopes, local=local)
    first, probe = 32 + 16, 32
    places = [
        np.max(effect.row_spread.last - effect.row_spread.first) + 1 for effect in fx.values()
    ]
    assert sum(seen) == first + probe + CHECKED * 2 * 2 + N + N * sum(places)
    assert fx.provenance["rows_asked"] == sum(seen)


# --- the law -------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**31),
    st.floats(-6, 6),
    st.floats(-6, 6),
    st.lists(
        st.sampled_from([-5.0, -1.0, 0.25, 0.5, 1.0, 2.0, 4.0, 100.0]), min_size=1, max_size=4
    ),
)
def test_only_the_ratio_of_gradient_and_slope_decides(seed, log_x, log_y, factors):
    """Cubics on any scale of x and y: refused if and only if a feature's factor is not one."""
    rng = np.random.default_rng(seed)
    x, wide, high = rng.uniform(1, 2, CHECKED), 10.0**log_x, 10.0**log_y
    places = tuple(np.tile(wide * (x + step), (len(factors), 1)) for step in (-1e-3, 0.0, 1e-3))
    answers = tuple(high * (p[..., None] / wide) ** 3 for p in places)
    claimed = np.array(factors)[:, None, None] * 3 * high / wide * x[:, None] ** 2
    found = [verdict.feature for verdict in judge(Differences(places, answers), claimed)]
    assert found == [k for k, factor in enumerate(factors) if factor != 1.0]
