"""The command as a process: what it prints, what it writes, how it ends."""

import json
import os
import pty
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.children import PATIENCE, is_running, wait_until

import rhale

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

COMMAND = [sys.executable, "-W", "error", "-m", "rhale.cli"]
SHOP = """
import ctypes
import os
import time
from pathlib import Path

def price(rows):
    return 3 * rows["area"].to_numpy() + rows["rooms"].to_numpy() ** 2

def gated(rows):
    return (1 + 2 * (rows["rooms"] > 14)).to_numpy() * rows["area"].to_numpy()

def noisy(rows):
    print("a model that talks")
    return price(rows)

def tell():
    Path("pid.part").write_text(str(os.getpid()))
    Path("pid.part").rename("pid")

def endless(rows):
    tell()
    while True:
        time.sleep(1)

def locked(rows):
    tell()
    ctypes.PyDLL(None).sleep(600)  # and holds the lock of Python

def interrupting(rows):
    raise KeyboardInterrupt("of its own")

def closing(rows):
    os.closerange(3, 100)
    time.sleep(600)

def shouting(rows):
    for _ in range(64):
        os.write(2, b"x" * 2**20)
    return price(rows)
"""


def table(n_rows=400):
    rng = np.random.default_rng(0)
    rooms = rng.integers(0, 30, n_rows)
    return pd.DataFrame({"area": rng.uniform(20, 90, n_rows), "rooms": rooms})


def price(rows):
    return 3 * rows["area"].to_numpy() + rows["rooms"].to_numpy() ** 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("shop")
    (place / "shop.py").write_text(SHOP)
    rows = table()
    sold = rows.assign(sold=price(rows))
    sold.to_csv(place / "rows.csv", index=False)
    sold[:150].to_parquet(place / "part_1.parquet")
    sold[150:].to_parquet(place / "part_2.parquet")
    sold.to_feather(place / "rows.feather")
    return place


def run(folder, *arguments, **options):
    return subprocess.run(  # noqa: S603 - our own command
        [*COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=PATIENCE,
        check=False,
        **options,
    )


def in_memory(**settings):
    return rhale.explain(price, table(), progress=lambda *_: None, **settings)


def same_numbers(one, other):
    assert one.features == other.features
    for mine, theirs in zip(one.values(), other.values(), strict=True):
        np.testing.assert_allclose(mine.edges, theirs.edges)
        np.testing.assert_allclose(mine.mean, theirs.mean)
        np.testing.assert_allclose(mine.std, theirs.std, atol=1e-9)


def test_a_function_and_a_csv_give_the_numbers_of_python(folder, tmp_path):
    numbers = tmp_path / "effects.json"
    done = run(folder, "explain", "shop:price", "rows.csv", "--target", "sold", "--json", numbers)
    assert done.returncode == 0, done.stderr
    same_numbers(rhale.load(numbers), in_memory())
    assert done.stdout.startswith("rhale of a function, 400 rows; effects on sold\nfeature")
    assert done.stderr.strip() == f"wrote {numbers}"  # no terminal, no progress


def gated(rows):
    return (1 + 2 * (rows["rooms"] > 14)).to_numpy() * rows["area"].to_numpy()


def test_regions_are_those_of_python(folder, tmp_path):
    """A square metre costs 1, and 3 where there are more than 14 rooms."""
    numbers = tmp_path / "regions.json"
    asked = ("--target", "sold", "--regions", "--depth", "1", "--splitters", "rooms")
    done = run(folder, "explain", "shop:gated", "rows.csv", *asked, "--json", numbers)
    assert done.returncode == 0, done.stderr
    assert "differs by" in done.stdout
    regions = rhale.Regions(depth=1, splitters=["rooms"])
    wanted = rhale.explain(gated, table(), regions=regions)["area"].regions
    found = rhale.load(numbers)["area"].regions
    assert [one.rule for one in found] == [one.rule for one in wanted]
    assert sorted(float(one.effect.mean.mean()) for one in found) == pytest.approx([1, 3])
    np.testing.assert_array_equal(found.locate(table()), wanted.locate(table()))


def test_groups_of_a_column_are_given_not_found(folder, tmp_path):
    rows = table().assign(side=np.where(table()["rooms"] > 14, "east", "west"))
    rows.to_csv(folder / "sides.csv", index=False)
    numbers = tmp_path / "groups.json"
    done = run(folder, "explain", "shop:gated", "sides.csv", "--by", "side", "--json", numbers)
    assert done.returncode == 0, done.stderr
    found = rhale.load(numbers)["area"].regions
    assert found.state == "given"
    slopes = {one.rule: float(one.effect.mean.mean()) for one in found}
    assert slopes == {"side = east": pytest.approx(3), "side = west": pytest.approx(1)}


def test_a_splitter_that_is_not_there_is_one_line_with_near_names(folder):
    asked = ("--target", "sold", "--regions", "--splitters", "romms")
    for command in ("explain", "check"):
        done = run(folder, command, "shop:gated", "rows.csv", *asked)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "'romms'" in done.stderr
        assert "rooms" in done.stderr


def test_numbers_on_standard_output_stand_alone(folder, tmp_path):
    settings = ("--target", "sold", "--features", "area", "--bins", "fixed:7", "--json", "-")
    done = run(folder, "explain", "shop:noisy", "part_*.parquet", *settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (tmp_path / "effects.json").write_text(done.stdout)
    same_numbers(
        rhale.load(tmp_path / "effects.json"), in_memory(features="area", bins=rhale.Fixed(7))
    )


def test_pictures_come_one_a_feature(folder, tmp_path):
    settings = ("--target", "sold", "--method", "ale", "--rows", "200", "--plots", tmp_path / "new")
    done = run(folder, "explain", "shop:price", "rows.feather", *settings)
    assert done.returncode == 0, done.stderr
    assert "ale of a function, 200 of 400 rows" in done.stdout
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["01_rooms.png", "02_area.png", "all_features.png"]


def test_a_report_is_one_page(folder, tmp_path):
    pytest.importorskip("vl_convert")
    page = tmp_path / "page.html"
    done = run(folder, "explain", "shop:price", "rows.csv", "--target", "sold", "--out", page)
    assert done.returncode == 0, done.stderr
    assert "<html" in page.read_text(encoding="utf-8")[:500]
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_check_tells_the_path_and_the_price(folder):
    done = run(folder, "check", "shop:price", "rows.csv", "--target", "sold", "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["path"] == "secants"
    assert found["rows"] == 400
    assert 0 < found["rows_asked"] < 400 * 5 * 2 + 5000
    assert found["seconds"] > 0
    assert found["rows_for_regions"] == 0


def test_check_tells_the_price_of_regions(folder):
    done = run(folder, "check", "shop:gated", "rows.csv", "--target", "sold", "--regions")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    n_rows = lines["asked"].split()[1]
    assert lines["regions"].startswith(f"at most {n_rows} rows and ")


def test_a_note_is_told_without_a_terminal_too(folder):
    lines = "class Model:\n    feature_names_in_ = ['area']\n    predict = lambda _, t: t['area']\n"
    (folder / "small.py").write_text(lines + "model = Model()\n")
    rows = table().assign(**{"\x1b[2Jodd": 1.0})
    rows.to_csv(folder / "odd.csv", index=False)
    done = run(folder, "explain", "small:model", "odd.csv", "--rows", "50")
    assert done.returncode == 0, done.stderr
    left_out = "note: columns that the model does not know are left out: rooms, [2Jodd"
    assert done.stderr.strip() == left_out


def test_weights_are_a_column_beside_those_of_the_model(folder, tmp_path):
    rows = table()
    rows = rows.assign(w=rows["rooms"] % 3, sold=price(rows))
    rows.to_parquet(folder / "weighed.parquet")
    numbers = tmp_path / "effects.json"
    settings = ("--target", "sold", "--weights", "w", "--json", numbers)
    done = run(folder, "explain", "shop:price", "weighed.parquet", *settings)
    assert done.returncode == 0, done.stderr
    wanted = rhale.explain(price, rows.drop(columns="sold"), weights="w")
    same_numbers(rhale.load(numbers), wanted)


def test_an_error_is_one_line_and_no_traceback(folder):
    done = run(folder, "explain", "shop:price", "rows.csv", "--target", "soldd")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: there is no column 'soldd' to leave out; did you mean")
    assert len(done.stderr.splitlines()) == 1


def test_debug_shows_the_traceback_of_the_model(folder):
    done = run(folder, "explain", "shop:price", "rows.csv", "--features", "x9", "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "find_columns" in done.stderr


def test_names_that_a_terminal_cannot_write_are_told_all_the_same(folder, tmp_path):
    numbers = tmp_path / "odd.json"
    in_memory().save(numbers)
    numbers.write_text(numbers.read_text().replace('"area"', '"\\u8d39area"'))
    done = subprocess.run(  # noqa: S603 - our own command
        [*COMMAND, "compare", numbers, numbers],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert rb"\u8d39area" in done.stdout


def test_wrong_usage_ends_with_two(folder):
    done = run(folder, "explain", "shop:price", "rows.csv", "--method", "shap")
    assert done.returncode == 2
    assert "shap" in done.stderr


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize(  # a model that holds the lock is the harder one
    ("model", "sent", "code"),
    [
        ("endless", signal.SIGINT, 130),
        ("locked", signal.SIGINT, 130),
        ("locked", signal.SIGTERM, 143),
        ("locked", signal.SIGHUP, 129),
        ("locked", signal.SIGKILL, -9),
    ],
)
def test_an_end_from_outside_leaves_no_file_and_no_process(folder, tmp_path, model, sent, code):
    (folder / "pid").unlink(missing_ok=True)
    places = ("--json", tmp_path / "a.json", "--plots", tmp_path / "plots")
    command = subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "explain", f"shop:{model}", "rows.csv", *places],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until((folder / "pid").exists)
    child = int((folder / "pid").read_text())
    command.send_signal(sent)
    out, err = command.communicate(timeout=PATIENCE)
    assert command.returncode == code
    assert out == err == b""
    assert list(tmp_path.iterdir()) == []
    wait_until(lambda: not is_running(child))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("interrupting", "error: the model raised KeyboardInterrupt, which ends a program: of its"),
        ("closing", "error: the model closed the pipe to rhale"),
    ],
)
def test_a_model_that_ends_oddly_is_told_as_what_it_did(folder, model, sentence):
    done = run(folder, "explain", f"shop:{model}", "rows.csv", "--target", "sold")
    assert done.returncode == 1
    assert done.stderr.startswith(sentence)
    assert len(done.stderr.splitlines()) == 1


MEASURED = """
import resource, sys
from rhale.cli.app import run
try:
    run(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is in KiB on Linux")
def test_a_model_that_prints_without_end_does_not_fill_the_memory_of_the_command(folder):
    """64 MiB at each question without a new line; the parent keeps the last 64 KiB."""

    def peak(model):
        command = [sys.executable, "-c", MEASURED, "explain", f"shop:{model}", "rows.csv"]
        done = subprocess.run(  # noqa: S603 - our own command
            [*command, "--target", "sold"], cwd=folder, capture_output=True, text=True, check=True
        )
        return int(done.stdout.splitlines()[-1])

    assert peak("shouting") < peak("price") + 2**25


def test_a_terminal_shows_progress(folder):
    """Rows done (both readings count), rate and remaining time, on the terminal behind standard error."""
    mine, theirs = pty.openpty()
    command = subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "explain", "shop:price", "rows.csv", "--target", "sold"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(mine, 2**16):
            shown += piece
    except OSError:  # Linux tells the end of a terminal so
        pass
    os.close(mine)
    assert command.wait(timeout=PATIENCE) == 0
    for words in (b"explaining", b"of 800 rows", b"/s", b"left"):
        assert words in shown


def test_a_checkpoint_answers_the_same_command_and_refuses_another(folder, tmp_path):
    command = ["explain", "shop:price", "part_*.parquet", "--target", "sold"]
    command += ["--checkpoint", tmp_path / "kept"]
    first = run(folder, *command, "--json", tmp_path / "first.json")
    assert first.returncode == 0, first.stderr
    again = run(folder, *command, "--json", tmp_path / "again.json")
    assert again.returncode == 0, again.stderr
    one, other = (rhale.load(tmp_path / f"{name}.json") for name in ("first", "again"))
    same_numbers(one, in_memory())
    assert one.effects == other.effects
    refused = run(folder, *command, "--seed", "3")
    assert refused.returncode == 1
    assert "seed was 0, now 3" in refused.stderr


def test_interactions_are_those_of_python_and_their_page_can_be_made_again(folder, tmp_path):
    """A square metre costs 1, and 3 where there are more than 14 rooms: the two work together."""
    pytest.importorskip("vl_convert")
    numbers, page = tmp_path / "ix.json", tmp_path / "ix.html"
    asked = ("shop:gated", "rows.csv", "--target", "sold", "--pairs", "area:rooms")
    done = run(folder, "interactions", *asked, "--json", numbers, "--out", page)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("interactions by ale of a function, 400 rows")
    wanted = rhale.interactions(gated, table(), pairs=[("area", "rooms")])
    found = rhale.load(numbers)
    assert found["area", "rooms"].strength == pytest.approx(wanted["area", "rooms"].strength)
    assert found["area", "rooms"].strength > 5
    again = run(folder, "report", numbers, "--out", tmp_path / "again.html")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "again.html").read_text("utf-8") == page.read_text("utf-8")


def test_the_price_of_all_pairs_is_told(folder):
    done = run(folder, "interactions", "shop:price", "rows.csv", "--pairs", "all", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert (
        "note: pairs='all' evaluates the model on 4 x 3 pairs x 400 rows = 4,800 rows"
        in done.stderr
    )
    assert json.loads(done.stdout)["kind"] == "interactions"


def test_a_pair_of_columns_that_are_not_there_is_one_line(folder):
    done = run(folder, "interactions", "shop:price", "rows.csv", "--pairs", "area:room")
    assert done.returncode == 1
    assert "'rooms'" in done.stderr
    assert done.stderr.count("\n") <= 3
