"""Answer Prometheus' discovery by HTTP (`http_sd_configs`): this node, at the address at which it was asked.

So Prometheus gives `up`, too, the node's name, which no metric of a node that does not answer could.
"""

import ipaddress
import json
import re
from collections.abc import Sequence

NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_.])?", re.IGNORECASE | re.ASCII)  # a host's, or IPv4
HIGHEST_PORT = 65535


def targets_text(node: str, address: str) -> str:
    """Return the JSON of one target, `address`, with the label `node`."""
    return json.dumps([{"targets": [address], "labels": {"node": node}}]) + "\n"


def asked_address(hosts: Sequence[str], default_port: int) -> str:
    """Return host:port out of the headers `Host` of a request.

    Raises ValueError if there is not exactly one, or if it is no address: the client would scrape it.
    """
    (given,) = hosts
    host, colon, port = given.rpartition(":") if not given.endswith("]") else (given, "", "")
    if not colon:
        host, port = given, str(default_port)
    if not (port.isascii() and port.isdecimal() and 0 < int(port) <= HIGHEST_PORT):
        raise ValueError(f"no port: {port}")
    if host.startswith("[") and host.endswith("]") and "%" not in host:  # %: an interface of the client's own
        return f"[{ipaddress.IPv6Address(host[1:-1]).compressed}]:{int(port)}"
    if not NAME.fullmatch(host):
        raise ValueError(f"no host: {host}")
    return f"{host}:{int(port)}"
