import numpy as np
import pytest

import rhale

ROWS = np.linspace(0.0, 1.0, 60).reshape(30, 2)


@pytest.mark.parametrize("method", ["rhale", "pdp"])
def test_a_result_draws_itself_as_the_explanation_draws_it(method):
    fx = rhale.explain(lambda rows: rows[:, 0] ** 2, ROWS, method=method)
    drawn = [np.ravel(np.asarray(x.plot(*of, center="start"), dtype=object))[0]
             for x, of in ((fx["x0"], ()), (fx, ("x0",)))]  # fmt: skip
    lines = [[line.get_xydata().tolist() for line in ax.get_lines()] for ax in drawn]
    assert lines[0] == lines[1]


def test_levels_trainings_and_pairs_draw_themselves(make_levels):
    assert make_levels(("a", "b"), 1.0).plot(kind="curve").get_xlabel()
    models = [lambda x, a=a: a * x[:, 0] * x[:, 1] for a in (1.0, 2.0)]
    x = np.random.default_rng(0).normal(size=(120, 2))
    rx = rhale.refits(models, x, train=np.arange(120).reshape(2, 60))
    assert rx["x0"].plot(title="all").get_xlabel() == "x0"
    assert rhale.interactions(models[0], x)["x0", "x1"].plot(figsize=(4, 3))


def test_options_are_checked_there_too():
    with pytest.raises(rhale.RhaleError, match=r"no option 'colour'; did you mean 'colors'"):
        rhale.effect(ROWS[:, 0], ROWS[:, 1]).plot(colour="red")
