"""A process that is killed in the middle of a run, and the same call made again."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(5)
N = 4_000
CITIES = ["Bern", "Oslo", "Rome"]
TABLE = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": np.where(RNG.random(N) < 0.1, np.nan, RNG.gamma(2, size=N)),
        "city": np.array(CITIES)[RNG.integers(0, 3, N)],
        "weight": RNG.uniform(0.5, 2, N),
    }
)
SCRIPT = textwrap.dedent(
    """
    import os, signal, sys
    from dataclasses import replace
    import numpy as np, pandas as pd
    import rhale
    from rhale.execution.checkpoint import folder as kept

    data, method, folder, last_call, out = sys.argv[1:]
    kept.EVERY_SECONDS = kept.SPARED_SHARE = 0
    calls = rows_asked = 0

    def model(rows):
        global calls, rows_asked
        calls, rows_asked = calls + 1, rows_asked + len(rows)
        if calls == int(last_call):
            os.kill(os.getpid(), signal.SIGKILL)
        b = np.nan_to_num(rows["b"].to_numpy())
        return rows["a"].to_numpy() ** 2 * b + (rows["city"] == "Rome").to_numpy() * b

    if data.endswith(".pkl"):
        data = pd.read_pickle(data)
    options = {} if folder == "none" else {"checkpoint": folder}
    fx = rhale.explain(model, data, method=method, weights="weight", batch_size=300, **options)
    no_part = ("created", "rows_asked")  # the model is asked whether it is the same one
    kept = {name: told for name, told in fx.provenance.items() if name not in no_part}
    replace(fx, provenance=kept).save(out)
    print(calls, rows_asked)
    """
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    TABLE.to_pickle(folder / "rows.pkl")
    TABLE.to_parquet(folder / "rows.parquet", row_group_size=700)
    return folder


def run(data, method, folder, last_call, out):
    command = [sys.executable, "-c", SCRIPT, *map(str, (data, method, folder, last_call, out))]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.mark.parametrize(  # four processes each; the others mix the ways of these two
    ("name", "method"),
    [
        ("rows.parquet", "rhale"),
        ("rows.pkl", "pdp"),
        pytest.param("rows.pkl", "rhale", marks=pytest.mark.slow),
        pytest.param("rows.parquet", "pdp", marks=pytest.mark.slow),
    ],
)
def test_a_killed_run_goes_on_and_ends_with_the_same_bits(data, tmp_path, name, method):
    whole = run(data / name, method, "none", -1, tmp_path / "whole.json")
    calls, asked = map(int, whole.stdout.split())
    for share in (0.4, 0.5):  # of the calls of a whole run: killed twice
        killed = run(data / name, method, tmp_path / "kept", int(share * calls), "unused")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = run(data / name, method, tmp_path / "kept", -1, tmp_path / "resumed.json")
    assert resumed.returncode == 0, resumed.stderr
    assert int(resumed.stdout.split()[1]) < 0.35 * asked
    assert (tmp_path / "whole.json").read_text() == (tmp_path / "resumed.json").read_text()
