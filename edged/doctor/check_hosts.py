"""Findings of `edged check` about addresses, access, and the cameras and workers of other hosts."""

import errno
import os
import platform
import socket
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from edged.config import Config, NotifyConfig, SecurityConfig, Tls
from edged.doctor.finding import Finding, Kind
from edged.errors import ConfigError
from edged.transport.address import host_and_port, is_ipc, is_ipv6, is_local
from edged.transport.keys import load_allowed, load_pair, load_public
from edged.transport.tls import server_context


def addresses_of(config: Config) -> Mapping[str, str | None]:
    """Return where a hub listens, by the key of the config; None: nowhere."""
    return {
        "link.address": listens_at(config),
        "publish.address": config.publish.address,
        "publish.replay": config.publish.replay,
        "metrics.address": config.metrics.address,
    }


def listens_at(config: Config) -> str | None:
    """Return the address at which the hub listens for other hosts; None if there is none that they can reach."""
    address = config.link.address
    return None if address is None or is_local(address) else config.link.bind or address


Places = Mapping[str, str]  # host by place in the file, such as `cameras.door`


def places_of(config: Config) -> Places:
    """Return every camera and worker that runs on another host than the hub."""
    cameras = {f"cameras.{name}": camera.host for name, camera in config.cameras.items()}
    workers = {f"workers.{index}": worker.host for index, worker in enumerate(config.workers)}
    return {place: host for place, host in {**cameras, **workers}.items() if host}


def this_host(config: Config, named: str | None) -> str | None:
    """Return the host to check: `named`, or the own name if the file has it; None for the hub's host.

    Raises ConfigError for a name that the file does not have.
    """
    hosts = set(places_of(config).values())
    if named and named not in hosts:
        known = ", ".join(sorted(hosts)) or "none"
        raise ConfigError(f"no camera or worker has host: {named}; the file names: {known}")
    own = {platform.node(), platform.node().partition(".")[0]}
    return named or next(iter(own & hosts), None)


def link_findings(config: Config, host: str | None) -> Iterator[Finding]:
    """Check the link between the hosts. `host`: the checked one, None for the hub's."""
    places = places_of(config)
    if not places:
        return
    first, where = next(iter(places.items()))
    address = config.link.address
    if address is None:
        text = f"is missing: {first} is on host {where}, which needs the hub's address (tcp://192.168.1.10:5572)"
        yield Finding("error", "link.address", text)
    elif is_local(address):
        yield Finding("error", "link.address", f"{address} is for its own host alone, but {first} is on {where}")
    elif config.security is None:
        text = f"{address} is open: any host that reaches it can send frames and take jobs (insecure: true)"
        yield Finding("warning", "link.address", text)
    elif host:
        yield Finding("ok", "link.address", f"{address}, which was not contacted")
    if config.security:
        yield _hub_finding(config.security, host)
        if host is None:
            yield from _role_findings(config.security, places)


def elsewhere(what: str, host: str, *which: str) -> Finding:
    """List the commands to run on the other hosts."""
    command = " ".join(["edged", what.partition(" ")[0], *which, "--config FILE"])
    return Finding("ok", what, f"on host {host}: `{command}` there")


def group_findings(config: Config) -> Iterator[Finding]:
    """Warn about groups whose workers are not adjacent: only adjacent workers serve together."""
    runs = [group for group, _ in groupby(worker.group for worker in config.workers) if group]
    for group in sorted({group for group in runs if runs.count(group) > 1}):
        text = f"group {group} is in {runs.count(group)} places of the list: only adjacent workers serve together"
        yield Finding("warning", "workers", text)


def _hub_finding(security: SecurityConfig, host: str | None) -> Finding:
    """Check that the other hosts will recognise this hub, or that this host will recognise it."""
    what = "security.hub"
    if security.hub is None:
        text = "is missing: without the hub's public key (hub.pub) no camera or worker of another host joins it"
        return Finding("error", what, text)
    try:
        theirs, ours = load_public(security.hub), load_pair(security.key).public
    except ConfigError as error:
        return Finding("error", what, str(error))
    if host is None and theirs != ours:
        text = f"{security.hub} is not the public half of {security.key}: other hosts would not recognise this hub"
        return Finding("error", what, text)
    if host and theirs == ours:
        text = f"{security.key} is the hub's own secret: make a key for {host} (`edged keys new {host}`)"
        return Finding("error", what, text)
    return Finding("ok", what, f"{security.hub}")


def _role_findings(security: SecurityConfig, places: Places) -> Iterator[Finding]:
    """Check that `security` accepts the cameras and workers of other hosts."""
    for role, paths in {"cameras": security.cameras, "workers": security.workers}.items():
        hosts = sorted({host for place, host in places.items() if place.startswith(role)})
        if not hosts:
            continue
        try:
            names = sorted(load_allowed(paths).values())
        except ConfigError as error:
            yield Finding("error", f"security.{role}", str(error))
            continue
        turned_away = f"holds no key: the {role} of {', '.join(hosts)} would be rejected"
        yield Finding("ok" if names else "error", f"security.{role}", ", ".join(names) or turned_away)


def address_finding(key: str, address: str) -> Finding:
    """Check whether a server could listen at an address now."""
    if is_ipc(address):
        return _ipc_finding(key, Path(address.removeprefix("ipc://")))
    host, port = host_and_port(address)
    family = socket.AF_INET6 if is_ipv6(address) else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("" if host == "*" else host, port))
    except OSError as error:
        kind = Kind.ADDRESS_IN_USE if error.errno == errno.EADDRINUSE else Kind.PLAIN
        return Finding("error", key, f"{address} {_why_not(error)}", kind=kind)
    return Finding("ok", key, f"{address} is free")


def _why_not(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "is in use (by another edged? choose another port)"
    if error.errno == errno.EADDRNOTAVAIL:
        return "is not an address of this host (to check another host: edged check --host NAME)"
    return f"cannot be bound: {error.strerror}"


def _ipc_finding(key: str, path: Path) -> Finding:
    """Check an ipc:// address; a socket on which no process listens any more is replaced."""
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return Finding("error", key, f"{path.parent} is not a folder that this user may write to")
    if path.exists() and not path.is_socket():
        return Finding("error", key, f"{path} is not a socket: choose another path, or remove it")
    return Finding("ok", key, f"{path}, for this user alone")


def security_finding(security: SecurityConfig) -> Finding:
    """Check that the keys can be read, and name the peers that they admit."""
    try:
        load_pair(security.key)
        names = sorted(load_allowed(security.allow).values())
    except ConfigError as error:
        return Finding("error", "security", str(error))
    if not names:
        return Finding("warning", "security", "security.allow holds no key: no client can subscribe over TCP")
    return Finding("ok", "security", f"admits {', '.join(names)}")


def tls_finding(tls: Tls) -> Finding:
    """Check that certificate and key can be used, and who may scrape."""
    try:
        server_context(tls.certificate, tls.key, tls.client_ca)
    except ConfigError as error:
        return Finding("error", "metrics.tls", str(error))
    who = f"clients that {tls.client_ca} has signed" if tls.client_ca else "everybody"
    return Finding("ok", "metrics.tls", f"{tls.certificate}, for {who}")


def notify_finding(notify: NotifyConfig) -> Finding:
    """Check the secrets and the authority of `notify`; nothing is sent."""
    from edged.hub.publish.notifier import Receiver

    try:
        Receiver(notify)
    except ConfigError as error:
        return Finding("error", "notify", str(error))
    return Finding("ok", "notify", f"{notify.shown}, for {', '.join(notify.when)}; nothing was sent")
