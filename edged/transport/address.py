"""Addresses at which edged listens: `tcp://host:port`, `ipc:///path`, and host:port for HTTP."""

import ipaddress

_HOST = r"(\[[0-9A-Fa-f:.]+\]|[^:/\s\[\]]+)"
ZMQ_ADDRESS = rf"^(tcp://{_HOST}:\d{{1,5}}|ipc:///[^\s@]{{1,100}})$"  # 107 bytes are the kernel's limit
MQTT_ADDRESS = rf"^mqtts?://{_HOST}(:\d{{1,5}})?$"
NATS_ADDRESS = rf"^(nats|tls)://{_HOST}(:\d{{1,5}})?$"
HOST_AND_PORT = rf"^{_HOST}:\d{{1,5}}$"
LOCALHOST = "127.0.0.1"  # for the name, independent of the resolver


def host_and_port(address: str) -> tuple[str, int]:
    """Split `tcp://host:port` or `host:port`; IPv6 loses its brackets, `localhost` becomes an address."""
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return LOCALHOST if host == "localhost" else host, int(port)


def is_ipc(address: str) -> bool:
    """Return whether it is a socket in the file system."""
    return address.startswith("ipc://")


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
