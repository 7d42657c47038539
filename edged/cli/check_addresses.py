"""What `edged check` finds of the addresses that the hub listens at, and of who is let in there."""

import errno
import os
import socket
from pathlib import Path

from edged.address import host_and_port, is_ipc, is_ipv6
from edged.cli.finding import Finding
from edged.config import Security, Tls
from edged.errors import ConfigError
from edged.keys import load_allowed, load_pair
from edged.tls import server_context


def address_finding(key: str, address: str) -> Finding:
    """Whether a server could listen there now."""
    if is_ipc(address):
        return _ipc_finding(key, Path(address.removeprefix("ipc://")))
    host, port = host_and_port(address)
    family = socket.AF_INET6 if is_ipv6(address) else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("" if host == "*" else host, port))
    except OSError as error:
        return Finding("error", key, f"{address} {_why_not(error)}")
    return Finding("ok", key, f"{address} is free")


def _why_not(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "is in use (by another edged? choose another port)"
    if error.errno == errno.EADDRNOTAVAIL:
        return "is no address of this host (is it not the hub's? then: edged check --host NAME)"
    return f"cannot be bound: {error.strerror}"


def _ipc_finding(key: str, path: Path) -> Finding:
    """A socket that nobody listens at any more is replaced."""
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return Finding("error", key, f"{path.parent} is no folder that this user may write to")
    if path.exists() and not path.is_socket():
        return Finding("error", key, f"{path} is no socket: choose another path, or remove it")
    return Finding("ok", key, f"{path}, for this user alone")


def security_finding(security: Security) -> Finding:
    """Whether the keys can be read, and whose they are."""
    try:
        load_pair(security.key)
        names = sorted(load_allowed(security.allow).values())
    except ConfigError as error:
        return Finding("error", "security", str(error))
    if not names:
        return Finding("warning", "security", "security.allow holds no key: nobody can subscribe over TCP")
    return Finding("ok", "security", f"lets in {', '.join(names)}")


def tls_finding(tls: Tls) -> Finding:
    """Whether certificate and key can be used, and who may scrape."""
    try:
        server_context(tls)
    except ConfigError as error:
        return Finding("error", "metrics.tls", str(error))
    who = f"clients that {tls.client_ca} has signed" if tls.client_ca else "everybody"
    return Finding("ok", "metrics.tls", f"{tls.certificate}, for {who}")
