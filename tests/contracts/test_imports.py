"""Nothing is imported that the caller has not imported."""

import subprocess
import sys
import textwrap

import pytest

HEAVY = ["jax", "lightgbm", "matplotlib", "pandas", "polars", "pyarrow", "sklearn", "torch", "tqdm"]
PREPARE = """
import sys
import numpy as np
import rhale
{user}
x = np.random.default_rng(0).normal(size=(60, 2))
before = {{name.partition(".")[0] for name in sys.modules}}  # old JAX loads its own parts late
{call}
heavy = ({{name.partition(".")[0] for name in sys.modules}} - before) & set({heavy})
print(",".join(sorted(heavy)) or "nothing")
"""


def newly_imported(call, user=""):
    """Heavy libraries that a call imports, in a fresh interpreter."""
    code = PREPARE.format(user=textwrap.dedent(user), call=textwrap.dedent(call), heavy=HEAVY)
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_importing_rhale_imports_no_heavy_library():
    code = "import sys; import rhale; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert "rhale" in loaded
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp", "ice", "mplot"])
def test_explaining_a_function_of_an_array_imports_nothing(method):
    call = (
        f"print(rhale.explain(lambda r: r[:, 0] * r[:, 1], x, method={method!r}), file=sys.stderr)"
    )
    assert newly_imported(call) == "nothing"


def test_explaining_with_a_gradient_imports_nothing():
    call = "rhale.explain(lambda r: r.sum(1), x, gradient=lambda r: np.ones_like(r))['x0']"
    assert newly_imported(call) == "nothing"


def test_explaining_an_estimator_imports_neither_torch_nor_data_frames():
    user = """
    from sklearn.linear_model import LinearRegression
    model = LinearRegression().fit(np.eye(2), [0.0, 1.0])
    """
    assert newly_imported("rhale.explain(model, x)", user) == "nothing"


def test_explaining_a_network_imports_neither_jax_nor_scikit_learn():
    user = "import torch; model = torch.nn.Linear(2, 1)"
    assert newly_imported("rhale.explain(model, x)", user) == "nothing"


def test_explaining_a_jax_function_imports_neither_torch_nor_scikit_learn():
    user = "import jax.numpy as jnp"
    assert newly_imported("rhale.explain(lambda r: jnp.sin(r[:, 0]), x)", user) == "nothing"


def test_explaining_a_polars_table_imports_no_other_data_frames():
    user = "import polars"
    call = "rhale.explain(lambda r: r['a'].to_numpy(), polars.DataFrame({'a': x[:, 0]}))"
    assert newly_imported(call, user) == "nothing"
