"""Hosts on one machine: network namespaces joined by a bridge, with links that fail for real."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

TOOLS = ("ip", "iptables", "nsenter", "tc")
NETWORKS = count()  # one of this process may be there while another is made


@dataclass(frozen=True)
class Host:
    """A network namespace with one interface, `eth0`, whose other end is the `port` of a bridge."""

    name: str
    namespace: str
    address: str
    bridge: str
    port: str

    def start(self, command: Sequence[str | Path], errors: Path, **environment: str) -> "subprocess.Popen[str]":
        """A process there; what it says as an error goes into the file `errors`."""
        with errors.open("a") as stderr, errors.with_suffix(".out").open("a") as stdout:
            return subprocess.Popen(
                [*inside(self.namespace), *map(str, command)],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                text=True,
            )

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Nothing comes in or goes out, and nobody is told: the interface stays up."""
        port = (*inside(self.bridge), "ip", "link", "set", self.port)
        run(*port, "nomaster")
        try:
            yield
        finally:
            run(*port, "master", "br0")

    @contextmanager
    def losing(self, share: float) -> Iterator[None]:
        """So many of the packets that come in."""
        rule = ("INPUT", "-j", "DROP", "-m", "statistic", "--mode", "random", "--probability", str(share))
        self._try("iptables", "-I", *rule, missing="network namespaces here")
        try:
            yield
        finally:
            self.run("iptables", "-D", *rule)

    @contextmanager
    def slow(self, rate: str) -> Iterator[None]:
        """What goes out, as `tc` writes it: `10mbit`."""
        with self._queueing("tbf", "rate", rate, "burst", "64kb", "latency", "50ms"):
            yield

    @contextmanager
    def far(self, delay: str) -> Iterator[None]:
        """What goes out takes so much longer: `80ms`. The test is skipped where the kernel cannot."""
        with self._queueing("netem", "delay", delay):
            yield

    @contextmanager
    def unplugged(self) -> Iterator[None]:
        """The interface is down, as of a host without power."""
        self.run("ip", "link", "set", "eth0", "down")
        try:
            yield
        finally:
            self.run("ip", "link", "set", "eth0", "up")

    def run(self, *command: str | Path, **environment: str) -> str:
        """What the command prints there."""
        return run(*inside(self.namespace), *map(str, command), **environment)

    @contextmanager
    def _queueing(self, discipline: str, *arguments: str) -> Iterator[None]:
        queue = ("dev", "eth0", "root")
        self._try("tc", "qdisc", "add", *queue, discipline, *arguments, missing=f"{discipline} in this kernel")
        try:
            yield
        finally:
            self.run("tc", "qdisc", "del", *queue)

    def _try(self, *command: str, missing: str) -> None:
        try:
            self.run(*command)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no {missing}: {error.stderr.strip()}")


@contextmanager
def hosts(*names: str) -> Iterator[list[Host]]:
    """So many hosts: 192.168.1.10, …11, as in configs. The test is skipped where there can be none."""
    if os.geteuid() or any(shutil.which(tool) is None for tool in TOOLS):
        pytest.skip(f"no network namespaces here: they take root and {', '.join(TOOLS)}")
    network = f"edged-{os.getpid()}-{next(NETWORKS)}"
    bridge = f"{network}-net"
    with ExitStack() as stack:
        stack.enter_context(_namespace(bridge))
        needed(*inside(bridge), "ip", "link", "add", "br0", "type", "bridge")
        needed(*inside(bridge), "ip", "link", "set", "br0", "up")
        yield [stack.enter_context(_host(name, number, network)) for number, name in enumerate(names, 1)]


@contextmanager
def _host(name: str, number: int, network: str) -> Iterator[Host]:
    bridge = f"{network}-net"
    host = Host(name, f"{network}-{name}", f"192.168.1.{9 + number}", bridge, f"to{number}")
    with _namespace(host.namespace):
        here = (*inside(host.namespace), "ip")
        needed(*here, "link", "add", "eth0", "type", "veth", "peer", "name", host.port, "netns", bridge)
        needed(*inside(bridge), "ip", "link", "set", host.port, "master", "br0", "up")
        run(*here, "addr", "add", f"{host.address}/24", "dev", "eth0")
        run(*here, "link", "set", "eth0", "up")
        run(*here, "link", "set", "lo", "up")
        yield host


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    needed("ip", "netns", "add", name)
    try:
        yield
    finally:
        run("ip", "netns", "del", name)


def inside(namespace: str) -> tuple[str, str]:
    """What a command there begins with. `ip -n` and `ip netns exec` mount another /sys, as no chroot may."""
    return ("nsenter", f"--net=/run/netns/{namespace}")


def needed(*command: str) -> None:
    """Where it fails, this machine has no such hosts."""
    try:
        run(*command)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {' '.join(command)}: {error.stderr.strip()}")


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )
    return done.stdout
