"""Hosts on one machine: network namespaces joined by a bridge, with links that fail for real."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

TOOLS = ("ip", "iptables", "tc")


@dataclass(frozen=True)
class Host:
    """A network namespace with one interface, `eth0`."""

    name: str
    namespace: str
    address: str

    def start(self, command: Sequence[str | Path], errors: Path, **environment: str) -> "subprocess.Popen[str]":
        """A process there; what it says as an error goes into the file `errors`."""
        with errors.open("a") as stderr, errors.with_suffix(".out").open("a") as stdout:
            return subprocess.Popen(
                ["ip", "netns", "exec", self.namespace, *map(str, command)],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                text=True,
            )

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Nothing comes in or goes out, and nobody is told."""
        with self._losing("-j", "DROP"):
            yield

    @contextmanager
    def losing(self, share: float) -> Iterator[None]:
        """So many of the packets that come in."""
        with self._losing("-m", "statistic", "--mode", "random", "--probability", str(share), "-j", "DROP"):
            yield

    @contextmanager
    def slow(self, rate: str) -> Iterator[None]:
        """What goes out, as `tc` writes it: `10mbit`."""
        self._run(
            "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms"
        )
        try:
            yield
        finally:
            self._run("tc", "qdisc", "del", "dev", "eth0", "root")

    @contextmanager
    def _losing(self, *rule: str) -> Iterator[None]:
        self._run("iptables", "-I", "INPUT", "-i", "eth0", *rule)
        try:
            yield
        finally:
            self._run("iptables", "-D", "INPUT", "-i", "eth0", *rule)

    def _run(self, *command: str) -> None:
        run("ip", "netns", "exec", self.namespace, *command)


@contextmanager
def hosts(*names: str) -> Iterator[list[Host]]:
    """So many hosts at 10.77.0.1, 10.77.0.2 …; the test is skipped where there can be none."""
    if os.geteuid() or any(shutil.which(tool) is None for tool in TOOLS):
        pytest.skip(f"no network namespaces here: they take root and {', '.join(TOOLS)}")
    bridge = f"edged-{os.getpid()}-net"
    with ExitStack() as stack:
        stack.enter_context(_namespace(bridge))
        run("ip", "-n", bridge, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", bridge, "link", "set", "br0", "up")
        yield [stack.enter_context(_host(name, number, bridge)) for number, name in enumerate(names, 1)]


@contextmanager
def _host(name: str, number: int, bridge: str) -> Iterator[Host]:
    host = Host(name, f"edged-{os.getpid()}-{name}", f"10.77.0.{number}")
    with _namespace(host.namespace):
        here = ("ip", "-n", host.namespace)
        run(*here, "link", "add", "eth0", "type", "veth", "peer", "name", f"to{number}", "netns", bridge)
        run("ip", "-n", bridge, "link", "set", f"to{number}", "master", "br0", "up")
        run(*here, "addr", "add", f"{host.address}/24", "dev", "eth0")
        run(*here, "link", "set", "eth0", "up")
        run(*here, "link", "set", "lo", "up")
        yield host


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    if subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode:
        pytest.skip("no network namespaces here: this machine lets nobody make them")
    try:
        yield
    finally:
        run("ip", "netns", "del", name)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
