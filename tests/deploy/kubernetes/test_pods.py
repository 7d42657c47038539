"""The pods of the demo, run as their manifests say: same user, root, bounds, keys and probes."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.kubernetes.containers import Container, in_bytes
from tests.deploy.kubernetes.rendered import build, copy_with_keys, of_kind
from tests.e2e.hosts import Host, hosts
from tests.eventually import eventually
from tests.systemd.machine import why_not

pytestmark = pytest.mark.deep

COLD_S = 240.0  # a first start compiles, on a machine that is busy
STATUS = (
    "import sys, urllib.request as u, urllib.error as e\n"
    "try: print(u.urlopen(sys.argv[1], timeout=5).status)\n"
    "except e.HTTPError as error: print(error.code)\n"
    "except OSError: print(0)"
)
PLACES = {
    "hub": ("Deployment", "edged-hub"),
    "node-1": ("DaemonSet", "edged-worker"),
    "gate": ("Deployment", "edged-camera"),
}


@dataclass
class Cluster:
    """The demo's pods, and a client on a host of its own."""

    pods: dict[str, Container]
    client: Host
    keys: Path

    def probed(self, probe: str) -> int:
        """The status with which the hub answers a probe of its manifest; 0 for none."""
        hub = self.pods["hub"]
        get = hub.spec[probe]["httpGet"]
        [port] = [each["containerPort"] for each in hub.spec["ports"] if each["name"] == get["port"]]
        address = f"http://{hub.host.address}:{port}{get['path']}"
        return int(self.client.run(sys.executable, "-c", STATUS, address))

    def predictions(self, count: int) -> list[dict[str, Any]]:
        """The next ones that a subscriber with a key gets."""
        subscribe = ("subscribe", "--json", "--count", str(count), f"tcp://{self.pods['hub'].host.address}:5570")
        keys = ("--key", self.keys / "viewer.key", "--server-key", self.keys / "hub.pub")
        lines = self.client.run(sys.executable, "-m", "edged", *subscribe, *keys).splitlines()
        return [json.loads(line) for line in lines]


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """The built demo on hosts for the hub, a node, the camera and a client; nothing is left of it."""
    if reason := why_not():
        pytest.skip(f"no systemd-nspawn here: {reason}")
    manifests = build(copy_with_keys(folder / "kubernetes") / "demo")
    with hosts(*PLACES, "client") as machines:
        services = dict.fromkeys(("edged-link", "edged"), machines[0].address)
        pods = {
            host.name: Container(folder / host.name, of_kind(manifests, *PLACES[host.name]), host)
            for host in machines[:-1]
        }
        for pod in pods.values():
            pod.create(manifests, services)
        try:
            yield Cluster(pods, machines[-1], folder / "kubernetes/demo/keys")
        finally:
            for pod in pods.values():
                pod.kill()
                print(pod.host.name, pod.log()[-1500:])


def test_hub_worker_and_camera_work_together_as_the_manifests_run_them(tmp_path: Path) -> None:
    with cluster(tmp_path) as demo:
        hub, node, gate = demo.pods.values()

        # given the hub alone: it lives, but is not ready
        hub.start()
        eventually(lambda: demo.probed("livenessProbe") == 200, COLD_S)
        assert demo.probed("readinessProbe") == 503

        # when a worker and a camera come: it is ready, and who has a key gets predictions
        node.start()
        gate.start()
        eventually(lambda: demo.probed("readinessProbe") == 200, COLD_S)
        assert {each["camera"] for each in demo.predictions(20)} == {"door"}
        assert "worker node-1-0 is ready" in hub.log()
        for pod in demo.pods.values():
            assert_is_confined(pod)

        # when the worker's container is killed: the hub lives, is not ready, and is again after its restart
        node.kill()
        eventually(lambda: demo.probed("readinessProbe") == 503, COLD_S)
        assert demo.probed("livenessProbe") == 200
        node.start()
        eventually(lambda: demo.probed("readinessProbe") == 200, COLD_S)
        assert len(demo.predictions(5)) == 5

        # and SIGTERM ends each; none of them needed as much memory as its manifest allows
        assert hub.stop() == 0
        for pod in (node, gate):
            pod.stop()
        for pod in demo.pods.values():
            print(f"{pod.host.name}: {pod.memory_peak() / 2**20:.0f} MiB")
            assert pod.memory_peak() < in_bytes(pod.spec["resources"]["limits"]["memory"])


def assert_is_confined(pod: Container) -> None:
    """It has the user, the group and the root of its manifest, and no privileges."""
    process = pod.edged()
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    assert set(process.uids()) == set(process.gids()) == {470}
    assert status["NoNewPrivs"] == "1"
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    root = Path(f"/proc/{process.pid}/root")
    assert os.statvfs(root).f_flag & os.ST_RDONLY
    assert not os.statvfs(root / "tmp").f_flag & os.ST_RDONLY
