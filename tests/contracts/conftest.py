"""A real cluster of two workers, one for each process that runs tests."""

import logging

import dask
import distributed
import pytest

QUIET = {
    "distributed.worker.memory.terminate": False,  # small workers, busy machines
    "distributed.comm.timeouts.connect": "60s",
    "distributed.admin.tick.limit": "600s",
}


@pytest.fixture(scope="session")
def cluster():
    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit="2GiB",
            silence_logs=logging.CRITICAL,
        ) as made,
    ):
        yield made


@pytest.fixture
def client(cluster):
    """The cluster as Dask's current one, with all its workers."""
    with distributed.Client(cluster) as made:
        made.wait_for_workers(2, timeout=60)
        yield made
