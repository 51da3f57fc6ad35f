"""Ray on two cores gives what the same rows in memory give, whatever happens to its workers."""

import logging
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from ray.data.expressions import col
from tests.contracts.engine_cases import CASES, Engine, assert_same, check, cut, frame
from tests.engines.faults import (
    PATIENCE,
    dying,
    endless,
    failing,
    interrupt_when_asked,
    known_here_only,
    product,
    same_bits,
    square,
)

import rhale
from rhale.errors import BadSettingError, BadTableError, ModelFailedError, ModelStoppedError
from rhale.execution import open_on_engine
from rhale.execution import ray as engine
from rhale.execution.worker import count_task

RUNS = [(case, 7) for case in CASES] + [(CASES[0], 1), (CASES[0], 100)]


def arrow_blocks(ray, table, n_parts):
    parts = [pa.Table.from_pandas(p, preserve_index=False) for p in cut(table, n_parts)]
    return ray.data.from_arrow(parts)


@pytest.fixture(scope="session")
def numbers(ray):
    """Two columns of numbers in seven blocks."""
    return arrow_blocks(ray, frame()[["a", "b"]], 7)


@pytest.mark.parametrize(("case", "n_parts"), RUNS, ids=str)
def test_blocks_of_arrow_give_the_numbers_of_the_table_in_memory(case, n_parts, ray):
    spread = Engine("ray", lambda table, n: arrow_blocks(ray, table, n))
    assert check(case, spread, n_parts).provenance["table"] == "ray"


@pytest.mark.parametrize("case", [CASES[0], CASES[3]], ids=str)
def test_blocks_of_pandas_give_the_numbers_of_the_table_in_memory(case, ray):
    spread = Engine("ray", lambda table, n: ray.data.from_pandas(cut(table, n)))
    check(case, spread, 7)


def test_files_that_ray_reads_lazily_give_the_numbers_of_the_table_in_memory(ray, tmp_path):
    for place, part in enumerate(cut(frame()[["a", "b", "m"]], 5)):
        part.to_parquet(tmp_path / f"{place}.parquet")
    data = ray.data.read_parquet(str(tmp_path), override_num_blocks=5)
    wanted = rhale.explain(square, frame()[["a", "b"]])
    assert_same(rhale.explain(square, data, columns=["a", "b"]), wanted)
    table = open_on_engine(data).only(["m"])
    assert ray.get(next(engine._blocks(table, data))).column_names == ["m"]


def test_steps_whose_columns_are_not_known_are_asked_for_them(numbers):
    data = numbers.map_batches(lambda rows: {**rows, "c": rows["a"] ** 2})
    held = frame()[["a", "b"]].assign(c=lambda rows: rows["a"] ** 2)
    assert data.schema(fetch_if_missing=False) is None
    assert_same(rhale.explain(square, data), rhale.explain(square, held))


def test_blocks_come_in_order_although_late_ones_are_faster(numbers, tmp_path):
    first, is_done = frame()["a"][0], tmp_path / "a later block is done"

    def slow_at_first(rows):
        if rows["a"][0] != first:
            is_done.touch()
            return rows
        end = time.monotonic() + PATIENCE
        while not is_done.exists():
            assert time.monotonic() < end
            time.sleep(0.1)
        time.sleep(1.0)  # so that it arrives first, if anyone lets it
        return rows

    data = numbers.map_batches(slow_at_first, batch_size=None)  # of the same columns
    found = engine.Ray().map_parts(count_task(open_on_engine(numbers)), data, 0)
    sizes = [len(part) for part in cut(frame(), 7)]
    assert len(set(sizes)) > 1
    assert [summary.n_rows for summary in found] == sizes


def test_empty_blocks_contribute_nothing(numbers):
    few = frame()[["a", "b"]].query("a > 2").reset_index(drop=True)
    found = rhale.explain(square, numbers.filter(expr=col("a") > 2))
    assert_same(found, rhale.explain(square, few))


def test_a_table_without_rows_is_refused(numbers):
    with pytest.raises(BadTableError, match="no rows"):
        rhale.explain(square, numbers.filter(expr=col("a") > 1e9))


def test_an_iterator_gets_advice(numbers):
    with pytest.raises(BadTableError, match="pass the dataset"):
        rhale.explain(square, numbers.iterator())


def test_a_block_with_other_columns_is_named(ray):
    parts = [pa.table({"a": np.arange(5.0), "b": np.arange(5.0)}) for _ in range(3)]
    parts[1] = parts[1].rename_columns(["a", "c"])
    with pytest.raises(BadTableError, match=r"^partition 0: there is no column 'c'"):
        rhale.explain(square, ray.data.from_arrow(parts))


def test_blocks_of_other_types_are_refused(ray):
    parts = [pa.table({"a": np.arange(5.0)}) for _ in range(3)]
    parts[2] = pa.table({"a": ["x"] * 5})
    with pytest.raises(BadTableError, match=r"do not make one table.*a has incompatible types"):
        rhale.explain(square, ray.data.from_arrow(parts))


def test_checkpoints_are_refused(numbers, tmp_path):
    with pytest.raises(BadSettingError, match="does not work with Ray"):
        rhale.explain(square, numbers, checkpoint=tmp_path)


# --- faults ------------------------------------------------------------------------------------


def test_a_killed_worker_changes_no_bit(numbers, tmp_path):
    found = rhale.explain(dying(tmp_path, 1), numbers)
    assert len(list(tmp_path.iterdir())) == 1
    assert same_bits(found, rhale.explain(dying(tmp_path, 1), numbers))


def test_workers_that_always_die_are_told_of(numbers, tmp_path):
    with pytest.raises(ModelStoppedError, match="workers of Ray died"):
        rhale.explain(dying(tmp_path, 1000), numbers)


def test_an_error_of_the_model_comes_back(numbers, tmp_path):
    with pytest.raises(ModelFailedError, match=r"^partition 0: .*no answer today") as caught:
        rhale.explain(failing(tmp_path), numbers)
    assert "On the worker" in caught.value.__notes__[0]


def test_an_error_of_the_users_steps_is_told_of(numbers):
    def wrong(_):
        msg = "a step that fails"
        raise ValueError(msg)

    with pytest.raises(
        BadTableError, match="Ray could not compute it: ValueError: a step that fails"
    ):
        rhale.explain(square, numbers.map_batches(wrong))


def test_a_worker_without_the_model_is_told_of(numbers, monkeypatch):
    model = known_here_only("models_of_mine", monkeypatch)
    with pytest.raises(ModelFailedError, match=r"cannot open the model.*models_of_mine"):
        rhale.explain(model, numbers)


def test_a_worker_without_rhale_is_told_of(numbers, monkeypatch):
    unknown = known_here_only("rhale_not_there", monkeypatch, engine.summarise_ray_block)
    monkeypatch.setattr(engine, "summarise_ray_block", unknown)
    with pytest.raises(BadSettingError, match="workers of Ray do not have rhale"):
        rhale.explain(square, numbers)


def test_tasks_that_end_by_themselves_are_not_cancelled(ray, numbers, tmp_path, monkeypatch):
    """Ray 2.60 ends this process where a task is cancelled in the moment of its answer."""
    cancelled = []
    monkeypatch.setattr(ray, "cancel", lambda task, **_: cancelled.append(task))
    monkeypatch.setattr(engine, "GRACE", PATIENCE)
    with pytest.raises(ModelFailedError, match="no answer today"):
        rhale.explain(failing(tmp_path), numbers)
    assert len(list(tmp_path.iterdir())) > 1  # so that there was a task to cancel
    assert not cancelled


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_cancels_the_tasks(ray, numbers, tmp_path):
    with interrupt_when_asked(tmp_path), pytest.raises(KeyboardInterrupt):
        rhale.explain(endless(tmp_path), numbers)
    assert ray.get(ray.remote(num_cpus=2)(lambda: "free").remote()) == "free"
    assert not (tmp_path / "waited in vain").exists()


def test_cores_that_others_hold_do_not_stop_the_work(ray, numbers):
    class Holder:
        def ping(self):
            return "here"

    holders = [ray.remote(num_cpus=1)(Holder).remote() for _ in range(2)]
    assert ray.get([holder.ping.remote() for holder in holders]) == ["here", "here"]
    found = []
    work = threading.Thread(target=lambda: found.append(rhale.explain(square, numbers)))
    work.start()
    work.join(timeout=PATIENCE)
    for holder in holders:
        ray.kill(holder)
    assert found  # before the cores were free
    work.join()


# --- the user's settings -----------------------------------------------------------------------


def test_settings_and_logs_are_as_they_were(ray, numbers, caplog):
    log, context = logging.getLogger("ray.data"), ray.data.DataContext.get_current()

    def state(settings):
        return (settings.execution_options.preserve_order, settings.enable_progress_bars, log.level)

    before = state(context), state(numbers.context)
    assert before[0][:2] == (False, True)
    rhale.explain(square, numbers.map_batches(lambda rows: rows))
    assert (state(context), state(numbers.context)) == before
    assert not caplog.records


def test_pairs_have_the_strengths_of_the_table_in_memory(numbers):
    here = rhale.interactions(product, frame()[["a", "b"]])
    there = rhale.interactions(product, numbers)
    assert there["a", "b"].count.sum() == here["a", "b"].count.sum() > 0
    assert there["a", "b"].strength == pytest.approx(here["a", "b"].strength)
    assert here["a", "b"].strength > 1
    assert there["a", "b"].heights == pytest.approx(here["a", "b"].heights, nan_ok=True)
