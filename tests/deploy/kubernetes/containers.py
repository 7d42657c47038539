"""Containers of deploy/kubernetes without a cluster: what the manifests say, done by container.sh on one machine.

Each is a host of its own; names of Services are in its /etc/hosts. What a cluster adds is not here: its network,
the seccomp profile of its runtime, and the image (this host's root takes its place).
"""

import base64
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.conftest import ROOT
from tests.deploy.kubernetes.rendered import Manifest, of_kind, pod_of
from tests.e2e.hosts import Host
from tests.eventually import LIMIT_S, eventually

SCRIPT = Path(__file__).with_name("container.sh")
EDGED = ("/opt/edged/bin/python", "-m", "edged")  # in place of /opt/edged/bin/edged, whose first line is a path
UNITS = {"Mi": 2**20, "Gi": 2**30}
DOCKERFILE = (ROOT / "deploy/docker/Dockerfile").read_text()
IMAGE = dict(re.findall(r"(\w+)=(\S+)", re.findall(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)[0]))
OURS = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "/opt/checkout", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass
class Container:
    """One container of a workload on a host, which is the cluster's node."""

    folder: Path
    workload: Manifest
    host: Host
    process: "subprocess.Popen[str] | None" = None

    def create(self, manifests: list[Manifest], services: dict[str, str]) -> None:
        """Make its volumes. `services`: their addresses by name."""
        self.folder.mkdir()
        pod = pod_of(self.workload)
        group = pod["securityContext"]["fsGroup"]
        volumes = {each["name"]: self._volume(each, manifests, group) for each in pod["volumes"]}
        lines = [
            f"{volumes[mount['name']]} {mount['mountPath']} {'ro' if mount.get('readOnly') else 'rw'}"
            for mount in self.spec["volumeMounts"]
        ]
        names = self.folder / "hosts"
        names.write_text("".join(f"{address} {name}\n" for name, address in services.items()))
        (self.folder / "mounts").write_text("\n".join([*lines, f"{names} /etc/hosts ro"]) + "\n")

    def start(self) -> None:
        """Run it, on the volumes that it has left."""
        context, container = pod_of(self.workload)["securityContext"], self.spec
        environment = IMAGE | OURS | self._environment()
        arguments = [re.sub(r"\$\((\w+)\)", lambda name: environment[name[1]], each) for each in container["args"]]
        command = (*map("=".join, environment.items()), *EDGED, *arguments)
        places = (self.folder, ROOT, sys.prefix, sys.base_prefix)
        bound = in_bytes(container["resources"]["limits"]["memory"])
        numbers = (str(context["runAsUser"]), str(context["fsGroup"]), str(bound))
        apart = ("unshare", "--mount", "--propagation", "private", "sh")
        self.process = self.host.start([*apart, SCRIPT, *places, *numbers, *command], self.folder / "log")

    @property
    def spec(self) -> dict[str, Any]:
        """Its manifest."""
        [container] = pod_of(self.workload)["containers"]
        return dict(container)

    def edged(self) -> psutil.Process:
        """The main process of edged in it, once there is one."""
        return eventually(self._edged)[0]

    def stop(self) -> int:
        """SIGTERM, as the kubelet sends it; the exit code."""
        assert self.process
        self.edged().terminate()
        return self.process.wait(LIMIT_S)

    def kill(self) -> None:
        """End it at once, as the kernel does with what needs too much memory."""
        if self.process is None:
            return
        if self.process.poll() is None:
            for each in self._edged() or psutil.Process(self.process.pid).children(recursive=True):
                each.kill()
        self.process.wait(LIMIT_S)

    def log(self) -> str:
        """What it has printed."""
        log = self.folder / "log"
        return log.read_text() if log.exists() else ""

    def memory_peak(self) -> int:
        """The most that any of its runs needed, in bytes, with the files that it was the first to read."""
        return max(map(int, (self.folder / "memory-peak").read_text().split()))

    def _edged(self) -> list[psutil.Process]:
        assert self.process
        below = psutil.Process(self.process.pid).children(recursive=True)
        return [each for each in below if each.cmdline()[:1] == [EDGED[0]]][:1]

    def _environment(self) -> dict[str, str]:
        fields = {"spec.nodeName": self.host.name}
        return {
            each["name"]: each["value"] if "value" in each else fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
            for each in self.spec["env"]
        }

    def _volume(self, volume: dict[str, Any], manifests: list[Manifest], group: int) -> Path:
        """The folder of a volume, with the owners and modes that the kubelet gives it."""
        folder = self.folder / "volumes" / str(volume["name"])
        folder.mkdir(parents=True)
        if "secret" in volume:
            secret = of_kind(manifests, "Secret", volume["secret"]["secretName"])
            files = {name: base64.b64decode(data) for name, data in secret["data"].items()}
            _project(folder, files, volume["secret"]["defaultMode"] | 0o040, group)
        elif "configMap" in volume:
            data = of_kind(manifests, "ConfigMap", volume["configMap"]["name"])["data"]
            _project(folder, {name: text.encode() for name, text in data.items()}, 0o644, group)
        else:
            os.chown(folder, 0, group)
            folder.chmod(0o2777 if "emptyDir" in volume else 0o2775)
        return folder


def _project(folder: Path, files: dict[str, bytes], mode: int, group: int) -> None:
    """Files behind links to a folder that is replaced as a whole: so a Secret changes at once."""
    (folder / "..2026").mkdir()
    (folder / "..data").symlink_to("..2026")
    for name, content in files.items():
        file = folder / "..2026" / name
        file.write_bytes(content)
        os.chown(file, 0, group)
        file.chmod(mode)
        (folder / name).symlink_to(f"..data/{name}")
    for each in (folder, folder / "..2026"):
        os.chown(each, 0, group)
        each.chmod(0o2750)


def in_bytes(quantity: str) -> int:
    """Of `256Mi` and the like."""
    return int(quantity[:-2]) * UNITS[quantity[-2:]]
