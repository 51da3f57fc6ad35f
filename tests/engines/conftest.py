import os
import shutil
import sys
import warnings

import pytest

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "Europe/Paris",
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="session")
def spark():
    """Spark on two cores; a task may fail three times."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17, and there is no java")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2, 4]").appName("rhale")
    for name, value in QUIET.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def ray():
    """Ray on two cores."""
    import ray

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200_000_000,
        logging_level="error",
        log_to_driver=False,
    )
    with warnings.catch_warnings():  # its settings warn of each other when they are made
        warnings.simplefilter("ignore", DeprecationWarning)
        ray.data.DataContext.get_current()
    yield ray
    ray.shutdown()
