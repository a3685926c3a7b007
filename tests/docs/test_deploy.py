"""The files for a cluster are what Ray's own programs accept."""

import re
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
DEPLOY = PROJECT / "deploy"


@pytest.fixture(scope="module")
def ray_version():
    return re.search(r"^ray==(.+)$", (PROJECT / "constraints.txt").read_text(), re.MULTILINE)[1]


def read(name):
    return yaml.safe_load((DEPLOY / name).read_text())


def test_ray_accepts_the_cluster_file():
    util = pytest.importorskip("ray.autoscaler._private.util")
    config = util.prepare_config(read("ray_cluster.yaml"))
    util.validate_config(config)  # against the schema that Ray ships; unknown words are refused
    assert config["available_node_types"]["worker"]["max_workers"] == 8
    with pytest.raises(Exception, match="Additional properties"):
        util.validate_config({**config, "max_wrokers": 1})


def test_ray_reads_the_manifest_of_kubernetes_as_a_cluster_that_grows():
    kuberay = pytest.importorskip("ray.autoscaler._private.kuberay.autoscaling_config")
    config = kuberay._derive_autoscaling_config_from_ray_cr(read("kuberay.yaml"))
    types = config["available_node_types"]
    assert types["headgroup"]["resources"]["CPU"] == 0
    assert types["workers"]["resources"] == {"CPU": 8, "memory": 32 * 2**30}
    assert (types["workers"]["min_workers"], types["workers"]["max_workers"]) == (0, 8)


def test_image_and_manifest_have_the_version_of_ray_that_is_locked(ray_version):
    assert f"FROM rayproject/ray:{ray_version}-py" in (DEPLOY / "ray.Dockerfile").read_text()
    assert read("kuberay.yaml")["spec"]["rayVersion"] == ray_version


def test_all_machines_of_a_cluster_run_one_image_and_none_shows_its_dashboard_to_the_network():
    manifest = read("kuberay.yaml")["spec"]
    groups = [manifest["headGroupSpec"], *manifest["workerGroupSpecs"]]
    images = {container["image"] for group in groups for container in group["template"]["spec"]["containers"]}
    assert images == {read("ray_cluster.yaml")["docker"]["image"]}
    assert "0.0.0.0" not in "".join(path.read_text() for path in DEPLOY.iterdir())


def test_what_the_image_copies_is_there():
    sources = [line.split()[2:-1] for line in (DEPLOY / "ray.Dockerfile").read_text().splitlines() if "COPY" in line]
    for name in [name for names in sources for name in names]:
        assert (PROJECT / name).exists(), name
