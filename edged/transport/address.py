"""Addresses at which edged listens: `tcp://host:port`, `ipc:///path`, and host:port for HTTP.

`unix:///path` is a hub's private link, to which no other program connects.
"""

import ipaddress
from pathlib import Path

_HOST = r"(\[[0-9A-Fa-f:.]+\]|[^:/\s\[\]]+)"
ZMQ_ADDRESS = rf"^(tcp://{_HOST}:\d{{1,5}}|ipc:///[^\s@]{{1,100}})$"  # 107 bytes are the kernel's limit
MQTT_ADDRESS = rf"^mqtts?://{_HOST}(:\d{{1,5}})?$"
NATS_ADDRESS = rf"^(nats|tls)://{_HOST}(:\d{{1,5}})?$"
HOST_AND_PORT = rf"^{_HOST}:\d{{1,5}}$"
PRIVATE_LINK = "unix://"
LOCALHOST = "127.0.0.1"  # for the name, independent of the resolver


def host_and_port(address: str) -> tuple[str, int]:
    """Split `tcp://host:port` or `host:port`; IPv6 loses its brackets, `localhost` becomes an address."""
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return LOCALHOST if host == "localhost" else host, int(port)


def is_ipc(address: str) -> bool:
    """Return whether it is a socket in the file system."""
    return address.startswith("ipc://")


def is_private_link(address: str) -> bool:
    """Return whether it is the link of a hub to its children, and to the verbs of its host."""
    return address.startswith(PRIVATE_LINK)


def path_of(address: str) -> Path:
    """Return the path of the socket of an address `ipc:///path` or `unix:///path`."""
    return Path(address.partition("://")[2])


def is_ipv6(address: str) -> bool:
    return "[" in address


def is_local(address: str) -> bool:
    """Return whether only programs of this host can reach it. Not for a name but localhost, `*` or 0.0.0.0."""
    if is_ipc(address):
        return True
    try:
        return ipaddress.ip_address(host_and_port(address)[0]).is_loopback
    except ValueError:
        return False
