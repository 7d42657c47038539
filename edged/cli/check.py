"""`edged check`: what a config would run, and everything that is in its way."""

import argparse
import errno
import os
import socket
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Literal

from edged.address import host_and_port, is_ipc, is_ipv6
from edged.cli.check_hosts import group_findings, link_findings, listens_at, this_host
from edged.cli.finding import Finding
from edged.config import Camera, Config, Security, Tls, Worker
from edged.config_file import load_config
from edged.energy.find import find_rails
from edged.errors import CameraError, ConfigError, DeviceError, ModelError
from edged.keys import load_allowed, load_pair
from edged.messages import Part
from edged.model.cuts import cut_after, ends_of
from edged.model.package import Model, load_model
from edged.paths import state_directory
from edged.tls import server_context
from edged.worker.runtime import device_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="YAML file")
    parser.add_argument(
        "--host",
        metavar="NAME",
        help="check what this host does; default: its own name, if the file has it, else the hub",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print all findings; 2 if one of them is an error."""
    config = load_config(arguments.config)
    host = this_host(config, arguments.host)
    findings = list(findings_at(config, host) if host else findings_of(config))
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.level:8} {finding.what:{width}}  {finding.text}")
    errors = sum(finding.level == "error" for finding in findings)
    program = "`edged camera` or `edged worker`" if host else "`edged run`"
    verdict = f"{program} would fail, {errors} error{'s' * (errors > 1)} above" if errors else "ready to run"
    print(f"{arguments.config}: {verdict}{f' on {host}' * bool(host)}")
    return ConfigError.exit_code if errors else 0


def findings_at(config: Config, host: str) -> Iterator[Finding]:
    """Everything that the cameras and workers of another host would meet there."""
    for name, camera in config.cameras.items():
        if camera.host == host:
            yield camera_finding(name, camera)
    if any(worker.host == host for worker in config.workers):
        yield model_finding(config)
    yield from worker_findings(config, host)
    yield from link_findings(config, host)


def findings_of(config: Config) -> Iterator[Finding]:
    """Everything that `edged run` would meet, in the order of the file. Opens no network connection."""
    for name, camera in config.cameras.items():
        yield _elsewhere(f"camera {name}", camera.host, name) if camera.host else camera_finding(name, camera)
    yield model_finding(config)
    yield from worker_findings(config)
    yield from group_findings(config)
    if config.security:
        yield security_finding(config.security)
    yield from link_findings(config, None)
    addresses = {
        "link.address": listens_at(config),
        "publish.address": config.publish.address,
        "publish.replay": config.publish.replay,
        "metrics.address": config.metrics.address,
    }
    for key, address in addresses.items():
        if address:
            yield address_finding(key, address)
    if config.metrics.tls:
        yield tls_finding(config.metrics.tls)
    yield journal_finding(config)
    yield energy_finding(config)


def _elsewhere(what: str, host: str, *which: str) -> Finding:
    command = " ".join(["edged", what.partition(" ")[0], *which, "--config FILE"])
    return Finding("ok", what, f"on host {host}: `{command}` there")


def camera_finding(name: str, camera: Camera) -> Finding:
    """A camera that is absent is a warning: `edged run` would go on trying."""
    from edged.camera.sources import open_source
    from edged.camera.sources.stream import Stream, without_secrets

    what = f"camera {name}"
    try:
        source = open_source(camera)
        if not isinstance(source, Stream):
            source.open()
            source.close()
    except CameraError as error:
        return Finding("warning", what, f"{error} (`edged run` would keep trying)")
    except ConfigError as error:
        return Finding("error", what, str(error))
    if isinstance(source, Stream):
        return Finding("ok", what, f"{without_secrets(str(camera.source))}, which was not contacted")
    return Finding("ok", what, f"{camera.source}")


def model_finding(config: Config) -> Finding:
    """The model's name, input and classes, and where it is cut."""
    try:
        model = load_model(config.model)
        cuts = [_cut(model, segment.until) for segment in config.segments[:-1]]
        for index in range(len(config.workers)):
            ends_of(model.graph, *config.ends_of(index))
    except ModelError as error:
        return Finding("error", "model", str(error))
    size = f"{model.input.width}×{model.input.height}"
    text = f"{model.name}, {size}, {len(model.labels)} classes, sha256 {model.sha256[:12]}…{''.join(cuts)}"
    if model.random_weights:
        return Finding("warning", "model", f"{text}; random weights, for timing only: its labels mean nothing")
    return Finding("ok", "model", text)


def _cut(model: Model, until: str | None) -> str:
    cut = cut_after(model.graph, str(until))
    return f"; cut after {cut.after}, where {4 * prod(cut.shape) / 1000:.0f} kB a frame cross"


def worker_findings(config: Config, host: str | None = None) -> Iterator[Finding]:
    """The devices in order of preference: the first one that is there runs the model, the others wait.

    `host`: None is the hub's, which needs at least one, there or elsewhere.
    """
    running = False
    for index, worker in enumerate(config.workers):
        what = f"worker {index}"
        if worker.host != host:
            if host is None and worker.host:
                yield _elsewhere(what, worker.host, str(index))
            running = True
            continue
        try:
            name = device_name(worker)
        except DeviceError as error:
            last = index == len(config.workers) - 1 and not running
            yield Finding("error" if last or host else "warning", what, str(error))
            continue
        role = _role(config, index, running=running)
        yield Finding("ok", what, f"{worker.device}: {name}; {role}{_precision(worker)}")
        running = True


def _role(config: Config, index: int, *, running: bool) -> str:
    begin, end = config.ends_of(index)
    if begin or end:
        return f"runs its part, {Part(begin=begin, end=end)}"
    return "takes over if those before it fail" if running else "runs the model"


def _precision(worker: Worker) -> str:
    """Nobody is to run at less than fp32 without knowing where its error is shown."""
    if worker.precision == "fp32":
        return ""
    how = f"edged bench --model … --device {worker.device} --precision {worker.precision} --images FOLDER"
    return f" in {worker.precision}, whose error `{how}` shows"


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


def journal_finding(config: Config) -> Finding:
    """Whether the journal's folder can be made or written."""
    folder = config.journal.path.parent if config.journal.path else state_directory()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding("ok", "journal", f"{config.journal.path or folder}")
    return Finding("error", "journal", f"{folder}: {existing} is no folder that this user may write to")


def energy_finding(config: Config) -> Finding:
    """Which rails are read, and why others are not."""
    rails = find_rails(config.energy)
    names = ", ".join(rail.name for rail in rails.rails) or "not measured"
    level: Literal["ok", "warning"] = "warning" if rails.unreadable or rails.missing else "ok"
    return Finding(level, "energy", f"{names}: {rails.note}" if rails.note else names)
