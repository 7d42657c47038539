"""Addresses that edged listens at: `tcp://host:port`, `ipc:///path`, and host:port for HTTP."""

import ipaddress

_HOST = r"(\[[0-9A-Fa-f:.]+\]|[^:/\s\[\]]+)"
ZMQ_ADDRESS = rf"^(tcp://{_HOST}:\d{{1,5}}|ipc:///[^\s@]{{1,100}})$"  # 107 bytes are what the kernel takes
HOST_AND_PORT = rf"^{_HOST}:\d{{1,5}}$"
LOCALHOST = "127.0.0.1"  # for the name, whatever a resolver would make of it


def host_and_port(address: str) -> tuple[str, int]:
    """Of `tcp://host:port` or `host:port`; an IPv6 address comes without brackets, `localhost` as an address."""
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return LOCALHOST if host == "localhost" else host, int(port)


def is_ipc(address: str) -> bool:
    """Whether it is a socket in the file system."""
    return address.startswith("ipc://")


def is_ipv6(address: str) -> bool:
    """Whether its host is an IPv6 address."""
    return "[" in address


def is_local(address: str) -> bool:
    """Whether programs of this host alone can reach it. A name other than localhost, `*` or 0.0.0.0: no."""
    if is_ipc(address):
        return True
    try:
        return ipaddress.ip_address(host_and_port(address)[0]).is_loopback
    except ValueError:
        return False
