"""Spark on two cores gives what the same rows in memory give, whatever happens to its tasks."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.contracts.engine_cases import CASES, Engine, assert_same, check, frame
from tests.engines.faults import (
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
from rhale.execution import spark as engine
from rhale.execution.worker import count_task

TYPES = "a double, b bigint, c string, s string, d timestamp_ntz, m double, t boolean, w double"
RUNS = [(case, 7) for case in CASES] + [(CASES[0], 1), (CASES[0], 100)]


def as_text(table):
    """Spark knows no categories, and counts microseconds."""
    return table.assign(c=table["c"].astype("str"), d=table["d"].astype("datetime64[us]"))


@pytest.fixture(scope="session")
def spread(spark):
    """Rows in so many partitions, in order."""

    def spread(table, n_parts, types=TYPES):
        plain = table.astype(object).where(table.notna(), None).to_numpy().tolist()
        plain = [[getattr(v, "to_pydatetime", lambda v=v: v)() for v in row] for row in plain]
        rows = spark.sparkContext.parallelize(plain, n_parts)
        return spark.createDataFrame(rows, types).cache()  # made once, by workers of Python

    yield spread
    spark.catalog.clearCache()


@pytest.fixture(scope="session")
def numbers(spread):
    """Two columns of numbers in seven partitions."""
    return spread(frame()[["a", "b"]], 7, "a double, b bigint")


@pytest.mark.parametrize(("case", "n_parts"), RUNS, ids=str)
def test_partitions_give_the_numbers_of_the_table_in_memory(case, n_parts, spread):
    found = check(case, Engine("spark", spread, held=as_text), n_parts)
    assert found.provenance["table"] == "spark"


def test_small_jobs_give_the_same_bits_as_one(numbers, monkeypatch):
    whole = rhale.explain(square, numbers)
    monkeypatch.setattr(engine, "FEWEST_PARTS", 2)
    monkeypatch.setattr(engine, "MOST_PARTS", 2)
    assert same_bits(rhale.explain(square, numbers), whole)


def test_partitions_that_are_known_are_left_out(numbers):
    table = open_on_engine(numbers)
    task = count_task(table)
    counts = [s.n_rows for s in engine.Spark().map_parts(task, table.source, 0)]
    assert sum(counts) == len(frame())
    assert len(counts) == 7
    assert [s.n_rows for s in engine.Spark().map_parts(task, table.source, 3)] == counts[3:]


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_a_plan_is_not_run_again_for_every_job(spark, numbers, monkeypatch):
    from pyspark.sql.functions import udf

    monkeypatch.setattr(engine, "FEWEST_PARTS", 2)
    monkeypatch.setattr(engine, "MOST_PARTS", 2)
    seen = spark.sparkContext.accumulator(0)

    def counted(value):
        seen.add(1)
        return value

    shuffled = numbers.select(udf(counted, "double")("a").alias("a")).repartition(6)
    rhale.explain(square, shuffled)
    assert seen.value == 2 * len(frame())  # once a pass


def test_empty_partitions_contribute_nothing(numbers):
    few = frame()[["a", "b"]].query("a > 1.5")
    found = rhale.explain(square, numbers.repartition(9).filter("a > 1.5"))
    assert_same(found, rhale.explain(square, few.reset_index(drop=True)))


def test_a_table_without_rows_is_refused(numbers):
    with pytest.raises(BadTableError, match="no rows"):
        rhale.explain(square, numbers.filter("a > 1e9"))


# --- what columns hold -------------------------------------------------------------------------


def test_types_of_spark_are_shown_as_pandas_has_them(spark):
    rng, zone = np.random.default_rng(3), "Europe/Paris"
    hours = pd.to_datetime("2024-02-28", utc=True) + pd.to_timedelta(
        rng.integers(0, 5000, 300), "h"
    )
    table = pd.DataFrame(
        {
            "price": [decimal.Decimal(int(v)) / 100 for v in rng.integers(100, 900, 300)],
            "day": [datetime.date(2024, 1, 1 + int(v)) for v in rng.integers(0, 28, 300)],
            "moment": hours.tz_convert(zone).as_unit("us"),
            "paid": pd.array(rng.random(300) < 0.4, dtype="boolean"),
        }
    )
    table.loc[::9, "paid"] = pd.NA

    def model(rows):
        late = rows["moment"].dt.hour.to_numpy() >= 18
        days = rows["day"].dt.day.to_numpy()
        paid = rows["paid"].to_numpy(dtype=bool, na_value=False)
        return rows["price"].to_numpy() * (1 + paid + 0.1 * days) + late

    rows = [
        (p, d, m.to_pydatetime(), None if t is pd.NA else bool(t))
        for p, d, m, t in table.itertuples(index=False)
    ]
    types = "price decimal(10, 2), day date, moment timestamp, paid boolean"
    found = rhale.explain(model, spark.createDataFrame(rows, types).repartition(3))
    price = pa.array(table["price"]).cast(pa.float64()).to_numpy()  # rounds in its own way
    held = table.assign(price=price, day=table["day"].astype("datetime64[ms]"))
    assert_same(found, rhale.explain(model, held))


def test_names_with_dots_and_quotes_are_columns(spread):
    table = frame()[["a", "b"]].set_axis(["a.x", "`b`"], axis=1)

    def model(rows):
        return rows["a.x"].to_numpy() * rows["`b`"].to_numpy()

    found = rhale.explain(model, spread(table, 3, "`a.x` double, ```b``` bigint"))
    assert_same(found, rhale.explain(model, table))


def test_arrays_are_refused_as_features_and_shown_to_the_model(spread):
    data = spread(frame()[["a", "b"]], 3, "a double, b bigint").selectExpr("a", "array(b) as many")
    with pytest.raises(BadTableError, match="'many'"):
        rhale.explain(square, data)
    found = rhale.explain(lambda rows: rows["a"] * rows["many"].str[0], data, features="a")
    held = frame()[["a", "b"]]
    wanted = rhale.explain(lambda rows: rows["a"] * rows["b"], held, features="a")
    np.testing.assert_allclose(found["a"].mean, wanted["a"].mean, rtol=1e-12)


def test_what_spark_does_not_hand_to_python_is_named(numbers):
    data = numbers.selectExpr("a", "make_ym_interval(1, 2) as span")
    with pytest.raises(BadTableError, match=r"'span' holds interval.*drop\('span'\)"):
        rhale.explain(square, data)


def test_two_columns_of_one_name_are_refused(numbers):
    with pytest.raises(BadTableError, match="two columns are called 'a'"):
        rhale.explain(square, numbers.select("a", "a"))


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("pyspark.sql.connect.dataframe", "classic session"),
        ("pyspark.pandas.frame", "to_spark"),
    ],
)
def test_other_frames_of_spark_get_advice(module, advice):
    other = type("DataFrame", (), {"__module__": module})()
    with pytest.raises(BadTableError, match=advice):
        rhale.explain(square, other)


def test_an_rdd_and_a_stream_get_advice(spark, numbers):
    with pytest.raises(BadTableError, match="toDF"):
        rhale.explain(square, numbers.rdd)
    with pytest.raises(BadTableError, match="never ends"):
        rhale.explain(square, spark.readStream.format("rate").load())


# --- faults ------------------------------------------------------------------------------------


def test_a_task_that_fails_twice_ends_with_the_same_bits(numbers, tmp_path):
    found = rhale.explain(dying(tmp_path, 2), numbers)
    assert len(list(tmp_path.iterdir())) == 2
    assert same_bits(found, rhale.explain(dying(tmp_path, 2), numbers))


def test_workers_that_always_die_are_told_of(numbers, tmp_path):
    with pytest.raises(ModelStoppedError, match="workers of Spark died"):
        rhale.explain(dying(tmp_path, 1000), numbers)


def test_an_error_of_the_model_comes_back_and_is_not_tried_again(numbers, tmp_path):
    with pytest.raises(ModelFailedError, match=r"^partition 0: .*no answer today") as caught:
        rhale.explain(failing(tmp_path), numbers.coalesce(1))
    assert "On the worker" in caught.value.__notes__[0]
    assert len(list(tmp_path.iterdir())) < 10  # halves of one batch, not four times


def test_a_worker_without_the_model_is_told_of(numbers, monkeypatch):
    model = known_here_only("models_of_mine", monkeypatch)
    with pytest.raises(ModelFailedError, match=r"cannot open the model.*models_of_mine"):
        rhale.explain(model, numbers)


def test_a_worker_without_rhale_is_told_of(numbers, monkeypatch):
    unknown = known_here_only("rhale_not_there", monkeypatch, engine.summarise_spark_partition)
    monkeypatch.setattr(engine, "summarise_spark_partition", unknown)
    with pytest.raises(BadSettingError, match="workers of Spark do not have rhale"):
        rhale.explain(square, numbers)


@pytest.mark.usefixtures("interrupts")  # Spark's own handler cancels all jobs
def test_an_interrupt_cancels_the_job(spark, numbers, monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "FEWEST_PARTS", 2)
    monkeypatch.setattr(engine, "MOST_PARTS", 2)
    with interrupt_when_asked(tmp_path), pytest.raises(KeyboardInterrupt):
        rhale.explain(endless(tmp_path), numbers)
    assert not spark.sparkContext.statusTracker().getActiveJobsIds()
    assert not (tmp_path / "waited in vain").exists()


# --- rows by their places ----------------------------------------------------------------------


def test_an_interrupted_run_goes_on_with_the_same_bits(numbers, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "FEWEST_PARTS", 2)
    monkeypatch.setattr(engine, "MOST_PARTS", 2)

    def interrupt(done, total):
        if done > 0.7 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rhale.explain(square, numbers, checkpoint=tmp_path / "kept", progress=interrupt)
    assert list((tmp_path / "kept").iterdir())
    found = rhale.explain(square, numbers, checkpoint=tmp_path / "kept")
    assert same_bits(found, rhale.explain(square, numbers))


def test_shuffled_rows_are_not_looked_for_by_their_places(numbers):
    shuffled = numbers.repartition(3, "b")
    with pytest.raises(BadSettingError, match="n_rows= draws rows by place"):
        rhale.explain(square, shuffled, n_rows=100)
    table = open_on_engine(shuffled)
    with pytest.raises(BadSettingError, match="checkpoint= goes on"):
        list(engine.Spark().map_parts(count_task(table), table.source, 1))


def test_rows_of_a_cached_shuffle_can_be_drawn(numbers):
    kept = numbers.repartition(3, "b").cache()
    try:
        assert rhale.explain(square, kept, n_rows=100).provenance["rows"] == 100
    finally:
        kept.unpersist()


# --- the user's session ------------------------------------------------------------------------


def test_the_session_is_as_it_was(spark, numbers, monkeypatch):
    context, sent = spark.sparkContext, []
    broadcast = context.broadcast
    monkeypatch.setattr(context, "broadcast", lambda v: sent.append(broadcast(v)) or sent[-1])
    context.setJobGroup("mine", "my work")
    context.addJobTag("my-tag")

    def state():
        settings = {row.key: row.value for row in spark.sql("SET").collect()}
        names = [*engine.INHERITED, "spark.job.interruptOnCancel"]
        return settings, {name: context.getLocalProperty(name) for name in names}

    before = state()
    try:
        rhale.explain(square, numbers)
        assert state() == before
        assert len(sent) == 2  # one for each pass
        assert not any(one._jbroadcast.isValid() for one in sent)
        groups = context.statusTracker().getJobIdsForGroup("mine")
        assert groups  # jobs belong to the group of whoever asked
    finally:
        context.clearJobTags()
        for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            context.setLocalProperty(name, None)


def test_only_the_columns_of_the_model_are_read(spark, tmp_path):
    frame()[["a", "b", "m"]].to_parquet(tmp_path / "rows.parquet")
    data = spark.read.parquet(str(tmp_path / "rows.parquet"))
    read = []

    class Told:
        sparkSession = spark  # noqa: N815 - Spark's own name

        def selectExpr(self, *columns):  # noqa: N802
            read.append(columns)
            return data.selectExpr(*columns)

    table = open_on_engine(data).only(["m"])
    summaries = engine.Spark().map_parts(count_task(table), Told(), 0)
    assert sum(s.n_rows for s in summaries) == len(frame())
    assert read == [("`m` as c0",)]


def test_pairs_have_the_strengths_of_the_table_in_memory(numbers):
    here = rhale.interactions(product, frame()[["a", "b"]])
    there = rhale.interactions(product, numbers)
    assert there["a", "b"].count.sum() == here["a", "b"].count.sum() > 0
    assert there["a", "b"].strength == pytest.approx(here["a", "b"].strength)
    assert here["a", "b"].strength > 1
    assert there["a", "b"].heights == pytest.approx(here["a", "b"].heights, nan_ok=True)
