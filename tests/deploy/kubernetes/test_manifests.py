"""deploy/kubernetes: what kustomize builds of it, its references, and how its pods are confined."""

import json
import re
from pathlib import Path

import pytest

from edged.config.load import load_config
from tests.conftest import ROOT
from tests.deploy.kubernetes.rendered import FOLDER, Manifest, build, copy_with_keys, of_kind, pod_of, workloads

WORKERS = ("worker-cpu", "worker-dri", "worker-mali")
CUSTOM = {"PodMonitor"}  # of the Prometheus operator: no schema of Kubernetes has it


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> list[Manifest]:
    """The demo as a cluster receives it."""
    return build(copy_with_keys(tmp_path_factory.mktemp("demo") / "kubernetes") / "demo")


def test_each_name_that_a_pod_refers_to_is_there(demo: list[Manifest]) -> None:
    kinds = {"secret": ("Secret", "secretName"), "configMap": ("ConfigMap", "name")}
    kinds["persistentVolumeClaim"] = ("PersistentVolumeClaim", "claimName")
    for workload in workloads(demo):
        pod = pod_of(workload)
        for volume in pod["volumes"]:
            for source, (kind, key) in kinds.items():
                if source in volume:
                    assert of_kind(demo, kind, volume[source][key])
        [container] = pod["containers"]
        mounted = {each["name"] for each in container["volumeMounts"]}
        assert mounted == {each["name"] for each in pod["volumes"]}


def test_services_policy_and_monitor_select_the_hub_alone_by_ports_that_it_has(demo: list[Manifest]) -> None:
    hub = of_kind(demo, "Deployment", "edged-hub")
    ports = {each["name"]: each["containerPort"] for each in pod_of(hub)["containers"][0]["ports"]}
    services = [each for each in demo if each["kind"] == "Service"]
    policy, monitor = of_kind(demo, "NetworkPolicy"), of_kind(demo, "PodMonitor")
    selectors = [each["spec"]["selector"] for each in services]
    selectors += [policy["spec"]["podSelector"]["matchLabels"], monitor["spec"]["selector"]["matchLabels"]]
    for selector in selectors:
        assert [each for each in workloads(demo) if selects(selector, each)] == [hub]
    used = {each["targetPort"] for service in services for each in service["spec"]["ports"]}
    used |= {each["port"] for rule in policy["spec"]["ingress"] for each in rule["ports"]}
    used |= {each["port"] for each in monitor["spec"]["podMetricsEndpoints"]}
    assert used == set(ports)


def test_workers_reach_a_hub_that_is_not_ready_yet(demo: list[Manifest]) -> None:
    """It is ready only once a worker has connected."""
    assert of_kind(demo, "Service", "edged-link")["spec"]["publishNotReadyAddresses"] is True


def test_the_config_names_the_addresses_of_the_manifests(demo: list[Manifest], tmp_path: Path) -> None:
    file = tmp_path / "edged.yaml"
    file.write_text(of_kind(demo, "ConfigMap")["data"]["edged.yaml"])
    config = load_config(file)
    ports = {
        each["name"]: each["containerPort"]
        for each in pod_of(of_kind(demo, "Deployment", "edged-hub"))["containers"][0]["ports"]
    }
    assert (
        config.link.address
        == f"tcp://{of_kind(demo, 'Service', 'edged-link')['metadata']['name']}:{ports['link']}"
    )
    assert config.link.bind == f"tcp://0.0.0.0:{ports['link']}"
    assert config.publish.address.endswith(f":{ports['predictions']}")
    assert config.publish.replay.endswith(f":{ports['replay']}")
    assert config.metrics.address.endswith(f":{ports['metrics']}")


def test_each_role_has_its_own_secret_key_and_no_other(demo: list[Manifest]) -> None:
    secrets = {each["metadata"]["name"]: each["data"] for each in demo if each["kind"] == "Secret"}
    keys = [data["own.key"] for data in secrets.values()]
    assert len(set(keys)) == len(keys) == 3
    assert all(name == "own.key" or name.endswith(".pub") for data in secrets.values() for name in data)


@pytest.mark.parametrize("folder", ["hub", *WORKERS, "camera"])
def test_a_pod_has_no_privileges_and_a_bound_of_its_memory(folder: str) -> None:
    [workload] = workloads(build(FOLDER / folder))
    pod = pod_of(workload)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert not any("hostPath" in volume for volume in pod["volumes"])
    [container] = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]


def test_pods_run_as_the_user_of_the_image_and_may_write_its_folders() -> None:
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text()
    [user] = re.findall(r"--uid (\d+)", dockerfile)
    [volumes] = re.findall(r"^VOLUME (.*)$", dockerfile, re.MULTILINE)
    for folder in ("hub", *WORKERS, "camera"):
        [workload] = workloads(build(FOLDER / folder))
        assert pod_of(workload)["securityContext"]["runAsUser"] == int(user)
        mounts = pod_of(workload)["containers"][0]["volumeMounts"]
        writable = {each["mountPath"] for each in mounts if not each.get("readOnly")}
        assert {*json.loads(volumes), "/tmp"} == writable  # noqa: S108


def test_each_kind_of_worker_has_its_nodes_and_its_device() -> None:
    plugin = of_kind(build(FOLDER / "device-plugin"), "DaemonSet")
    offered = re.findall(r"name: (\w+)", " ".join(pod_of(plugin)["containers"][0]["args"]))
    for folder in WORKERS:
        [workload] = workloads(build(FOLDER / folder))
        kind = folder.removeprefix("worker-")
        assert pod_of(workload)["nodeSelector"] == {"edged-device": kind}
        assert workload["spec"]["selector"]["matchLabels"]["edged-device"] == kind  # two kinds share no pod
        limits = pod_of(workload)["containers"][0]["resources"]["limits"]
        devices = [name.removeprefix("squat.ai/") for name in limits if name.startswith("squat.ai/")]
        assert devices == ([] if kind == "cpu" else [kind])
        assert set(devices) <= set(offered)


@pytest.mark.deep
@pytest.mark.parametrize("folder", ["demo", "hub", *WORKERS, "camera", "device-plugin"])
def test_the_schemas_of_kubernetes_accept_it(folder: str, demo: list[Manifest]) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is absent: make test-all")
    manifests = demo if folder == "demo" else build(FOLDER / folder)
    checked = [each for each in manifests if each["kind"] not in CUSTOM]
    assert checked
    for version in ("1.28", validate.latest_version()):
        for manifest in checked:
            validate.validate(manifest, version, strict=True)


def selects(selector: dict[str, str], workload: Manifest) -> bool:
    """Whether it selects the pods of this workload."""
    labels: dict[str, str] = workload["spec"]["template"]["metadata"]["labels"]
    return selector.items() <= labels.items()
