"""A Ray cluster on this host, with a token of its own."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.eventually import LIMIT_S, free_port

RAY = Path(sys.executable).with_name("ray")
TOKEN = "RAY_AUTH_TOKEN"  # noqa: S105


class RayCluster:
    """A head and nodes, all on this host. `environment`: of everything that connects to it."""

    def __init__(self, folder: Path) -> None:
        """`folder`: with a short name, since sockets lie in it."""
        self._folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        self.environment = os.environ | {"RAY_AUTH_MODE": "token", TOKEN: secrets.token_hex(32)}

    def start_head(self, devices: int) -> None:
        """Start the head, with so many devices."""
        port = self.address.rpartition(":")[2]
        self._start(
            "--head", "--include-dashboard=false", f"--port={port}", f"--temp-dir={self._folder}", devices=devices
        )

    def add_node(self, devices: int) -> list[psutil.Process]:
        """Start another node; return what it consists of."""
        before = set(self.processes())
        self._start(f"--address={self.address}", devices=devices)
        return [each for each in self.processes() if each not in before]

    def actors(self) -> list[psutil.Process]:
        """List the processes that classify."""
        return [each for each in self.processes() if "ray::MapWorker" in _title(each)]

    def processes(self) -> list[psutil.Process]:
        """List all processes of this cluster: those with its token."""
        return [each for each in psutil.process_iter() if _token(each) == self.environment[TOKEN]]

    def kill(self, processes: list[psutil.Process]) -> None:
        """Kill processes at once."""
        for process in processes:
            process.kill()
        psutil.wait_procs(processes, LIMIT_S)

    def _start(self, *arguments: str, devices: int) -> None:
        resources = [f'--resources={{"opencl": {devices}}}'] if devices else []
        common = ["--num-cpus=2", "--disable-usage-stats", *resources]
        command = [str(RAY), "start", *arguments, *common]
        subprocess.run(command, env=self.environment, check=True, capture_output=True, timeout=180)


@contextmanager
def ray_cluster(devices: int) -> Iterator[RayCluster]:
    """A cluster of one node with so many devices, which ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="ray-"))
    cluster = RayCluster(folder)
    try:
        cluster.start_head(devices)
        yield cluster
    finally:
        cluster.kill(cluster.processes())
        shutil.rmtree(folder, ignore_errors=True)


def _title(process: psutil.Process) -> str:
    """Return the title of a process, which Ray sets; empty if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _token(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(TOKEN)
    except (psutil.Error, OSError):
        return None
