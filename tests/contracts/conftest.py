"""A real cluster of two workers, one for each process that runs tests."""

import logging
import time

import dask
import distributed
import pytest

PATIENCE = 300  # seconds: they bound a hang, and nothing else
QUIET = {
    "distributed.worker.memory.terminate": False,  # small workers, busy machines
    "distributed.comm.timeouts.connect": f"{PATIENCE}s",
    "distributed.comm.timeouts.tcp": f"{PATIENCE}s",
    "distributed.admin.tick.limit": "600s",
    "distributed.deploy.lost-worker-timeout": f"{PATIENCE}s",  # then its nanny is given up
}


@pytest.fixture(scope="session")
def cluster(shared_locks):  # noqa: ARG001
    levels = {handler: handler.level for handler in logging.root.handlers}
    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            memory_limit="2GiB",
            silence_logs=logging.CRITICAL,
        ) as made,
    ):
        # it silences all that this process logs, for as long as the cluster lives: tests that listen
        # would hear nothing
        for handler, level in levels.items():
            handler.setLevel(level)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        yield made


def until(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.fixture
def client(cluster):
    """The cluster as Dask's current one, with all its workers."""
    with distributed.Client(cluster) as made:
        made.wait_for_workers(2, timeout=PATIENCE)
        until(lambda: all(w.status.name == "running" for w in cluster.workers.values()))
        yield made
