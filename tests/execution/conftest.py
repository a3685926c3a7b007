"""Ray on this machine: as one small cluster, and as several machines of which some die."""

import os
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def sources():
    """Processes that are started find the tests, and the sources beside them."""
    before = dict(os.environ)
    path = f"{TESTS}{os.pathsep}{TESTS.parent / 'src'}"
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": path}
    yield path
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def small_ray(sources):
    """A cluster of two CPUs in this machine."""
    ray = pytest.importorskip("ray")
    quiet = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}
    ray.init("local", num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20, **quiet)
    yield ray
    ray.shutdown()


@pytest.fixture
def machines(sources):
    """Makes a head without CPUs for tasks, and machines with as many as are named."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    started = []

    def start(*cpus):
        small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
        started.append(cluster)
        cluster.pair = [cluster.add_node(num_cpus=number, **small) for number in cpus]
        cluster.wait_for_nodes()
        return cluster

    yield start
    ray.shutdown()
    for cluster in started:
        cluster.shutdown()


@pytest.fixture
def cluster(machines):
    """A head without CPUs for tasks, and two machines with one each."""
    return machines(1, 1)
