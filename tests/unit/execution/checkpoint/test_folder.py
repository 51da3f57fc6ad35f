"""Checkpoints: whole at any moment, of one run and one model, in one process at a time."""

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import time
from functools import reduce
from operator import add
from pathlib import Path
from types import SimpleNamespace

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pytest

from rhale.data.array import ArrayTable
from rhale.errors import BadSettingError, CheckpointError, MissingExtraError
from rhale.execution.checkpoint import folder as checkpoint
from rhale.execution.checkpoint.folder import EVERY_SECONDS, Checkpoint
from rhale.features.survey import SurveyTask
from rhale.stats.sampling import Sample

RUN = {
    "seed": 0,
    "method": "rhale",
    "columns": ["a", "b"],
    "files": {"a.parquet": [10, 1.5], "b.parquet": [20, 2.5]},
}
NAMES = {"run.checkpoint", "lock"}


def names(folder):
    return {path.name for path in folder.iterdir()}


def sample(n):
    return Sample(n, np.arange(n, dtype=np.uint64), np.ones(n), np.full((n, 2), 1.0 * n), n)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "made" / "on the way"


@pytest.fixture
def point(folder):
    with Checkpoint.open(folder, RUN) as point:
        yield point


# --- saving and loading ------------------------------------------------------------------------


def test_what_was_saved_is_loaded_by_a_later_run(folder):
    with Checkpoint.open(folder, RUN) as point:
        assert point.load("survey") is None
        point.save("survey", 3, sample(5))
        point.save("survey", 7, sample(9), is_last=True)
        point.save("measure", 2, sample(4))
    with Checkpoint.open(str(folder), RUN) as point:
        survey, measure = point.load("survey"), point.load("measure")
    assert (survey.done, survey.is_last, survey.folded.values.tobytes()) == (
        7, True, sample(9).values.tobytes()
    )  # fmt: skip
    assert (measure.done, measure.is_last, measure.folded.size) == (2, False, 4)
    assert names(folder) == {*NAMES, "survey.checkpoint", "measure.checkpoint"}


def test_a_fold_that_goes_on_ends_with_the_same_bits(folder):
    rows = np.random.default_rng(0).lognormal(size=(100, 2))
    table = ArrayTable(rows, weights=rows[:, 0])
    chunks = [table.chunk(start, start + 20) for start in range(0, 100, 20)]
    pieces = [SurveyTask([0, 1], ["a", "b"], (30, 8), 0)(chunk) for chunk in chunks]
    for done in (2, 4):
        with Checkpoint.open(folder, RUN) as point:
            saved = point.load("survey")
            start, folded = (saved.done, saved.folded) if saved else (1, pieces[0])
            point.save("survey", done, reduce(add, pieces[start:done], folded))
    with Checkpoint.open(folder, RUN) as point:
        assert point.load("survey").done == 4
        found = point.load("survey").folded + pieces[4]
    straight = reduce(add, pieces)
    assert (found.weight, found.weight_squares) == (straight.weight, straight.weight_squares)
    for name in ("known_weight", "known_squares", "low", "high"):
        assert getattr(found, name).tobytes() == getattr(straight, name).tobytes()
    assert found.sample.values.tobytes() == straight.sample.values.tobytes()
    assert found.probe.chunk.array.tobytes() == straight.probe.chunk.array.tobytes()


def test_a_checkpoint_is_due_at_once_and_then_every_ten_seconds(point, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert point.is_due()
    point.save("survey", 1, 0)
    assert not point.is_due()
    now[0] += EVERY_SECONDS - 0.1
    assert not point.is_due()
    now[0] += 0.1
    assert point.is_due()


def test_a_slow_disk_gets_fewer_checkpoints(point, monkeypatch):
    ticks = iter([0.0, 3.0, 59.0, 63.0])  # three seconds to write
    monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    point.save("survey", 1, 0)
    assert not point.is_due()
    assert point.is_due()


def test_a_value_that_cannot_be_kept_leaves_what_was_there(point, folder):
    point.save("survey", 1, sample(3))
    point.save("survey", 2, {1, 2})
    assert not point.is_due()  # to try again takes time, too
    assert point.load("survey").done == 1
    assert names(folder) == {*NAMES, "survey.checkpoint"}


# --- whose folder it is ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "seed was 0, now 1"),
        ({"seed": 0.0}, "seed was 0, now 0.0"),
        ({"method": None}, "method was 'rhale', now None"),
        ({"version": "2"}, r"version is new \('2'\)"),
        ({"files": {**RUN["files"], "b.parquet": [21, 2.5]}}, r"files, b.parquet\[0\] was 20, now 21"),
        ({"files": {"a.parquet": [10, 1.5]}}, r"files, b.parquet is gone \(\[20, 2.5\]\)"),
        ({"columns": ["a"]}, r"columns was \['a', 'b'\], now \['a'\]"),
        ({"files": [1]}, r"files was \{'a.parquet': .*, now \[1\]"),
    ],
)  # fmt: skip
def test_another_run_is_refused_with_what_is_different(folder, change, said):
    Checkpoint.open(folder, RUN).close()
    with pytest.raises(CheckpointError, match=said) as caught:
        Checkpoint.open(folder, {**RUN, **change})
    assert "Name another folder, or remove this one" in str(caught.value)
    Checkpoint.open(folder, RUN).close()  # the lock was given back


def test_many_differences_are_counted(folder):
    Checkpoint.open(folder, {str(k): 0 for k in range(10)}).close()
    with pytest.raises(CheckpointError, match=r"0 was 0, now 1; .*; and 7 more"):
        Checkpoint.open(folder, {str(k): 1 for k in range(10)})


def test_the_order_of_settings_and_tuples_for_lists_make_no_other_run(folder):
    with Checkpoint.open(folder, {"a": (1, float("nan")), "b": 2}) as point:
        point.save("survey", 3, 0)
    with Checkpoint.open(folder, {"b": 2, "a": [1, float("nan")]}) as point:
        assert point.load("survey").done == 3


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(CheckpointError, match=r"holds other files \('thesis.tex'") as caught:
        Checkpoint.open(tmp_path, RUN)
    assert "cannot be used" not in str(caught.value)
    assert names(tmp_path) == {"thesis.tex"}


def test_an_empty_folder_is_taken(tmp_path):
    with Checkpoint.open(tmp_path, RUN):
        assert names(tmp_path) == NAMES


def test_a_folder_of_ours_may_hold_a_note_of_the_user(folder):
    Checkpoint.open(folder, RUN).close()
    (folder / "note.txt").write_text("do not touch")
    Checkpoint.open(folder, RUN).close()


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(CheckpointError, match="cannot be used: File exists"):
        Checkpoint.open(path, RUN)


@pytest.mark.parametrize("folder", [True, 3, None])
def test_a_folder_is_named_by_a_path(folder):
    with pytest.raises(BadSettingError, match="checkpoint="):
        Checkpoint.open(folder, RUN)


# --- the model ---------------------------------------------------------------------------------

ANSWERS = np.array([[1.0, 1e6], [-2.0, 1e6 + 3], [0.0, 2e6]])


def test_the_same_model_goes_on(folder):
    with Checkpoint.open(folder, RUN) as point:
        point.same_answers(ANSWERS)
    with Checkpoint.open(folder, RUN) as point:
        point.same_answers(ANSWERS * (1 + 9e-6))


@pytest.mark.parametrize(("row", "output", "change"), [(0, 0, 3e-5), (2, 0, -3e-5), (1, 1, 30.0)])
def test_a_model_with_other_answers_is_refused(folder, row, output, change):
    with Checkpoint.open(folder, RUN) as point:
        point.same_answers(ANSWERS)
    other = ANSWERS.copy()
    other[row, output] += change
    with Checkpoint.open(folder, RUN) as point:
        with pytest.raises(CheckpointError, match="this is another model"):
            point.same_answers(other)
        point.same_answers(ANSWERS)


def test_a_model_with_another_number_of_outputs_is_refused(folder):
    with Checkpoint.open(folder, RUN) as point:
        point.same_answers(ANSWERS)
        with pytest.raises(
            CheckpointError, match="3 rows with 1 outputs, it returned 3 rows with 2"
        ):
            point.same_answers(ANSWERS[:, :1])


def test_answers_that_are_no_numbers_are_other_answers(point):
    point.same_answers(ANSWERS)
    with pytest.raises(CheckpointError, match="another model"):
        point.same_answers(ANSWERS * np.nan)


# --- damage ------------------------------------------------------------------------------------


def saved(folder):
    with Checkpoint.open(folder, RUN) as point:
        point.save("survey", 3, sample(5))
    return folder / "survey.checkpoint"


def test_a_file_with_any_byte_changed_is_refused_by_name(folder):
    path = saved(folder)
    whole = path.read_bytes()
    with Checkpoint.open(folder, RUN) as point:
        for place in {*range(0, len(whole), 7), len(whole) - 1}:
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(CheckpointError, match=r"survey.checkpoint is damaged .* remove it"):
                point.load("survey")
        path.write_bytes(whole)
        assert point.load("survey").done == 3


def test_a_file_cut_anywhere_is_refused_by_name(folder):
    path = saved(folder)
    whole = path.read_bytes()
    with Checkpoint.open(folder, RUN) as point:
        for length in range(0, len(whole), 11):
            path.write_bytes(whole[:length])
            with pytest.raises(CheckpointError, match=r"survey.checkpoint is damaged"):
                point.load("survey")


def test_a_damaged_run_is_refused_and_the_lock_given_back(folder):
    saved(folder)
    path = folder / "run.checkpoint"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(CheckpointError, match=r"run.checkpoint is damaged .* remove the folder"):
        Checkpoint.open(folder, RUN)
    path.write_bytes(whole)
    Checkpoint.open(folder, RUN).close()


def test_a_checkpoint_of_another_version_is_refused_and_says_so(folder):
    saved(folder)
    path = folder / "run.checkpoint"
    path.write_bytes(path.read_bytes().replace(b"format 3", b"format 2", 1))
    with pytest.raises(CheckpointError, match=r"not begin as those of this version .* the folder"):
        Checkpoint.open(folder, RUN)


def test_a_folder_without_its_run_is_refused(folder):
    saved(folder)
    (folder / "run.checkpoint").unlink()
    with pytest.raises(CheckpointError, match=r"run.checkpoint is missing"):
        Checkpoint.open(folder, RUN)


def test_a_pass_from_another_folder_is_refused(folder, tmp_path):
    path = saved(folder)
    with Checkpoint.open(tmp_path / "other", {**RUN, "seed": 1}) as point:
        (tmp_path / "other" / path.name).write_bytes(path.read_bytes())
        with pytest.raises(CheckpointError, match="of another run than its folder"):
            point.load("survey")


def test_a_sound_file_of_unsound_content_is_refused(point, monkeypatch):
    monkeypatch.setattr(checkpoint, "encode_checkpoint_value", lambda _: b"no such thing")
    point.save("survey", 1, 0)
    with pytest.raises(CheckpointError, match=r"survey.checkpoint is damaged"):
        point.load("survey")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (3.5, "its fields are not done, folded, is_last"),
        ({"done": 1, "folded": 0}, "its fields are not done, folded, is_last"),
        ({"done": 1, "folded": 0, "is_last": False, "more": 1}, "its fields are not"),
        ({"done": "1", "folded": 0, "is_last": False}, "a field is of another type"),
        ({"done": 1, "folded": 0, "is_last": 0}, "a field is of another type"),
        ({"done": -1, "folded": 0, "is_last": False}, "it has -1 chunks"),
    ],
)
def test_fields_that_are_not_those_of_a_pass_are_damage(point, content, why):
    """The checksum is right, and whoever wrote it lied."""
    point._write("survey", content)
    with pytest.raises(CheckpointError, match=rf"survey.checkpoint is damaged \({why}"):
        point.load("survey")


@pytest.mark.parametrize("run", [3.5, [1], "a text", None])
def test_a_run_that_is_no_list_of_settings_is_damage(folder, run):
    saved(folder)
    with Checkpoint.open(folder, RUN) as point:
        point._write("run", {"run": run})
    with pytest.raises(CheckpointError, match=r"run.checkpoint is damaged .* remove the folder"):
        Checkpoint.open(folder, RUN)


@pytest.mark.parametrize("answers", [np.zeros(3), np.array([[1, 2]]), np.zeros((2, 2, 2))])
def test_answers_that_no_model_gives_are_damage(point, answers):
    point._write("answers", {"answers": answers})
    with pytest.raises(CheckpointError, match=r"answers.checkpoint is damaged"):
        point.same_answers(ANSWERS)


def test_rows_of_a_library_that_is_gone_are_no_damage(point, monkeypatch):
    point.save("survey", 1, nw.from_native(pa.table({"a": [1]}), eager_only=True))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="holds rows of pyarrow, which is not installed"):
        point.load("survey")


def test_a_file_that_cannot_be_read_is_named(point, folder):
    (folder / "survey.checkpoint").mkdir()
    with pytest.raises(
        CheckpointError, match=r"survey.checkpoint cannot be read: it is not a regular"
    ):
        point.load("survey")


# --- folders from others -----------------------------------------------------------------------


needs_links = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are POSIX'")


@needs_links
@pytest.mark.parametrize("name", ["run", "answers", "survey"])
def test_a_link_where_a_part_was_written_leads_nowhere(tmp_path, monkeypatch, name):
    """Also where somebody guesses the random name."""
    monkeypatch.setattr("rhale.system.files.secrets.token_hex", lambda _: "guessed")
    folder, victim = tmp_path / "run", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("mine")
    known = f"{name}.checkpoint.part", f"{name}.checkpoint.guessed.part"
    for part in known:
        (folder / part).symlink_to(victim)
    with Checkpoint.open(folder, RUN) as point:
        assert not names(folder) & set(known)
        for part in known:
            (folder / part).symlink_to(victim)
        if name == "answers":
            with pytest.raises(CheckpointError, match="could not be written: File exists"):
                point.same_answers(ANSWERS)
        if name == "survey":
            with pytest.raises(CheckpointError, match="could not be written: File exists"):
                point.save("survey", 1, 0)
    assert victim.read_text() == "mine"


@needs_links
def test_a_lock_that_is_a_link_makes_no_file(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "lock").symlink_to(tmp_path / "new")
    with pytest.raises(CheckpointError, match="it is a link; name another folder"):
        Checkpoint.open(folder, RUN)
    assert not (tmp_path / "new").exists()


@needs_links
def test_a_checkpoint_that_is_a_link_or_a_pipe_is_not_read(folder, tmp_path):
    path = saved(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with Checkpoint.open(folder, RUN) as point:
        with pytest.raises(CheckpointError, match="it is a link"):
            point.load("survey")
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(CheckpointError, match="it is not a regular file"):
            point.load("survey")


def test_a_checkpoint_of_another_user_is_not_read(folder, monkeypatch):
    saved(folder)
    with Checkpoint.open(folder, RUN) as point:
        monkeypatch.setattr(checkpoint.os, "geteuid", lambda: 12345, raising=False)
        with pytest.raises(CheckpointError, match="it belongs to another user"):
            point.load("survey")


# --- disks that fill up ------------------------------------------------------------------------


def full(*_args, **_settings):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FullFile:
    """A file that takes some bytes and then no more."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        full()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


def break_open(monkeypatch):
    monkeypatch.setattr(Path, "open", full)


def break_write(monkeypatch):
    own = Path.open
    monkeypatch.setattr(Path, "open", lambda path, mode="r": FullFile(own(path, mode)))


def break_sync(monkeypatch):
    monkeypatch.setattr(checkpoint.os, "fsync", full)


def break_replace(monkeypatch):
    monkeypatch.setattr(Path, "replace", full)


@pytest.mark.parametrize("broken", [break_open, break_write, break_sync, break_replace])
def test_a_disk_that_fills_up_leaves_the_checkpoint_before(folder, broken):
    with Checkpoint.open(folder, RUN) as point:
        point.save("survey", 3, sample(5))
        with pytest.MonkeyPatch.context() as patch:
            broken(patch)
            with pytest.raises(CheckpointError, match="No space left") as caught:
                point.save("survey", 7, sample(9))
        text = str(caught.value)
        assert "survey.checkpoint" in text
        assert "the checkpoint before (3 chunks of pass 'survey') is whole" in text
        assert "the same call goes on from there" in text
        assert names(folder) == {*NAMES, "survey.checkpoint"}
    with Checkpoint.open(folder, RUN) as point:
        assert point.load("survey").folded.size == 5
        point.save("survey", 8, sample(9))
        assert point.load("survey").done == 8


def test_a_full_disk_before_the_second_pass_leaves_the_first(folder):
    with Checkpoint.open(folder, RUN) as point:
        point.save("survey", 1, sample(5), is_last=True)
    with Checkpoint.open(folder, RUN) as point, pytest.MonkeyPatch.context() as patch:
        point.load("survey")
        assert point.load("measure") is None
        break_write(patch)
        with pytest.raises(CheckpointError, match=r"\(1 chunk of pass 'survey'\) is whole"):
            point.save("measure", 1, sample(9))


def test_a_disk_that_is_full_from_the_start_says_so(folder, monkeypatch):
    break_write(monkeypatch)
    with pytest.raises(CheckpointError, match=r"No space left .* nothing was kept before"):
        Checkpoint.open(folder, RUN)
    monkeypatch.undo()
    Checkpoint.open(folder, RUN).close()


def test_an_interruption_while_writing_leaves_no_litter(point, folder, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    point.save("survey", 3, 0)
    monkeypatch.setattr(checkpoint.os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        point.save("survey", 4, 0)
    assert names(folder) == {*NAMES, "survey.checkpoint"}
    assert point.load("survey").done == 3


@pytest.mark.parametrize(("number", "is_fine"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_disks_that_cannot_sync_folders_are_fine_and_broken_ones_are_not(
    point, monkeypatch, number, is_fine
):
    own = os.fsync

    def sync(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(number, os.strerror(number))
        own(file)

    monkeypatch.setattr(checkpoint.os, "fsync", sync)
    if is_fine:
        point.save("survey", 1, 0)
    else:
        with pytest.raises(CheckpointError, match="Input/output error"):
            point.save("survey", 1, 0)


@pytest.fixture
def tiny_disk(tmp_path):
    """A disk of 256 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    made = subprocess.run(mount, capture_output=True, text=True, check=False)  # noqa: S603
    if made.returncode:
        pytest.skip(f"no disk can be mounted here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S603, S607


def test_a_real_disk_that_fills_up_leaves_the_checkpoint_before(tiny_disk):
    kept = list[int]()

    def save_until_it_is_full(point):
        for done in range(1, 100):
            point.save("survey", done, sample(200 * done))
            kept.append(done)

    full_disk = pytest.raises(CheckpointError, match="No space left")
    with Checkpoint.open(tiny_disk / "run", RUN) as point, full_disk:
        save_until_it_is_full(point)
    assert len(kept) > 1
    with Checkpoint.open(tiny_disk / "run", RUN) as point:
        assert point.load("survey").folded.size == 200 * kept[-1]
        assert names(tiny_disk / "run") == {*NAMES, "survey.checkpoint"}
        point.save("survey", 1, sample(10))


# --- processes ---------------------------------------------------------------------------------

SAVING = """
import sys
import numpy as np
from rhale.execution.checkpoint.folder import Checkpoint

with Checkpoint.open(sys.argv[1], {"seed": 0}) as point:
    saved = point.load("count")
    done, folded = (saved.done, saved.folded) if saved else (0, np.zeros(50_000))
    print("ready", flush=True)
    while True:
        done, folded = done + 1, folded + 1
        point.save("count", done, folded)
        if len(sys.argv) == 3 and done == int(sys.argv[2]):
            print("saved", flush=True)
"""


def start_saving(folder, *told_of):
    command = [sys.executable, "-c", SAVING, str(folder), *map(str, told_of)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_killed_process_leaves_a_whole_checkpoint_and_no_lock(folder):
    chance, before = random.Random(5), 0  # noqa: S311
    for _ in range(4):
        with start_saving(folder, before + 1) as process:
            assert process.stdout.readline() == "saved\n"
            time.sleep(chance.uniform(0, 0.2))  # any moment will do
            process.send_signal(signal.SIGKILL)
        with Checkpoint.open(folder, {"seed": 0}) as point:
            saved = point.load("count")
        assert saved.done > before
        assert np.all(saved.folded == saved.done)
        before = saved.done


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from rhale.execution.checkpoint.folder import Checkpoint

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

class Half:
    def __init__(self, file):
        self.file = file
    def __enter__(self):
        return self
    def __exit__(self, *_):
        pass
    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        kill()

own_open, own_sync, own_replace = Path.open, os.fsync, Path.replace

def die_while(step):
    if step == "writing":
        Path.open = lambda path, mode: Half(own_open(path, mode))
    if step == "syncing the file":
        os.fsync = kill
    if step == "renaming":
        Path.replace = kill
    if step == "syncing the folder":
        Path.replace = lambda *paths: (own_replace(*paths), setattr(os, "fsync", kill))

for step in ("writing", "syncing the file", "renaming", "syncing the folder"):
    child = os.fork()
    if not child:
        point = Checkpoint.open(sys.argv[1], {"seed": 0})
        point.save("count", 1, np.full(1000, 1.0))
        die_while(step)
        point.save("count", 2, np.full(1000, 2.0))
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with Checkpoint.open(sys.argv[1], {"seed": 0}) as point:
        saved = point.load("count")
    assert np.all(saved.folded == saved.done)
    print(step, saved.done)
"""


def test_a_process_killed_at_any_step_of_writing_leaves_the_old_file_or_the_new(folder):
    command = [sys.executable, "-c", KILLED, str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert run.stdout.splitlines() == [
        "writing 1", "syncing the file 1", "renaming 1", "syncing the folder 2"
    ], run.stderr  # fmt: skip


def test_a_folder_in_use_is_refused_to_others_until_the_process_is_gone(folder):
    with start_saving(folder) as process:
        try:
            with pytest.raises(CheckpointError, match="in use by another run"):
                Checkpoint.open(folder, {"seed": 0})
        finally:
            process.kill()
    Checkpoint.open(folder, {"seed": 0}).close()


def test_a_folder_in_use_is_refused_in_the_same_process(point, folder):
    with pytest.raises(CheckpointError, match="in use by another run"):
        Checkpoint.open(folder, RUN)
    point.close()
    point.close()
    Checkpoint.open(folder, RUN).close()


def test_a_disk_without_locks_is_told(folder, monkeypatch):
    import fcntl

    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(CheckpointError, match="cannot be used: No locks available"):
        Checkpoint.open(folder, RUN)
