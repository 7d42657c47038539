"""`edged view`: serve a page that shows the cameras, workers and events of a node."""

import argparse
import re
import socket
import ssl
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from edged.cli.options import add_example, add_hub_keys, add_settings, address, http_address
from edged.config import Config, PublishConfig
from edged.config.load import load_config, password_in
from edged.errors import ConfigError
from edged.hub.links.sockets import unusable
from edged.system import log
from edged.system.python_packages import require
from edged.system.terminal import interrupt_on_sigterm
from edged.transport.address import host_and_port, is_local
from edged.transport.client_socket import curve_of
from edged.transport.tls import server_context

if TYPE_CHECKING:
    from edged.teach.page_folder import Taking
    from edged.view.teach_jobs import TeachJobs
    from edged.view.teaching import Teachers

LISTEN = "127.0.0.1:9465"
ANY_HOST = re.compile(r"//(\*|0\.0\.0\.0|\[::\]):")  # addresses to listen at, which no client can connect to


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the nodes to show, who may see them, and which daemon may be taught."""
    stream = f"publish.address of each hub to show, one or several (default: {PublishConfig().address})"
    parser.add_argument("addresses", type=address, nargs="*", metavar="ADDRESS", help=stream)
    add_hub_keys(parser)
    parser.add_argument("--node", metavar="NAME", help="show this node, if several publish at an address")
    teach = "permit the users in `view.teachers` of this config to teach its daemon, on this host, from the page"
    parser.add_argument("--teach", type=Path, metavar="CONFIG", help=teach)
    add_settings(parser)
    listen = f"address to serve the page at (default: {LISTEN})"
    parser.add_argument("--listen", type=http_address, default=LISTEN, metavar="HOST:PORT", help=listen)
    names = "another name of this host in the browser's address bar; may be repeated"
    parser.add_argument("--server-name", action="append", default=[], metavar="NAME", help=names)
    certificate = "TLS certificate of this host, in PEM"
    parser.add_argument("--certificate", type=Path, metavar="FILE", help=certificate)
    parser.add_argument("--certificate-key", type=Path, metavar="FILE", help="private key of --certificate")
    authorities = "require a client certificate signed by one of these authorities"
    parser.add_argument("--client-ca", type=Path, metavar="FILE", help=authorities)
    required = "require the password in this file"
    parser.add_argument("--password-file", type=Path, metavar="FILE", help=required)
    insecure = "allow other hosts without encryption or without access control"
    parser.add_argument("--insecure", action="store_true", help=insecure)
    example = "edged view --listen 0.0.0.0:9465 --certificate c.pem --certificate-key k.pem --password-file p"
    add_example(parser, "edged view", "edged view tcp://gate:5570 tcp://yard:5570", example)


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C or SIGTERM."""
    log.configure()  # at level info it has what teachers do
    require("edged view", "starlette", "uvicorn")
    from edged.view.listener import listening
    from edged.view.server import view_server
    from edged.view.watcher import Watcher

    curve = curve_of(arguments.key, arguments.server_key)
    tls = _tls(arguments)
    password = password_in(arguments.password_file) if arguments.password_file else None
    _refuse_if_open(arguments)
    taught = _taught(arguments)
    addresses = _addresses(arguments, taught)
    listener = _bound(arguments.listen)
    interrupt_on_sigterm()
    print(f"edged view: {_url(listener, tls)} shows {', '.join(addresses)}; Ctrl-C ends it", flush=True)
    names = [*arguments.server_name, host_and_port(arguments.listen)[0]]
    with ExitStack() as resources:
        teaching = _teaching(arguments, taught, resources) if taught else None
        seen = teaching[1].seen if teaching else None
        watchers = [
            Watcher(each, arguments.node, None if number else seen) for number, each in enumerate(addresses)
        ]
        for watcher in watchers:
            resources.enter_context(listening(watcher, curve))
        view_server(
            watchers, listener, names=names, password=password, tls=tls, teaching=teaching
        ).serve_requests()
    return 0


def _taught(arguments: argparse.Namespace) -> Config | None:
    """Return the config of --teach. Raises ConfigError if it has no teachers, or a password would be readable."""
    if arguments.teach is None:
        if arguments.settings:
            raise ConfigError("--set is for the config of --teach")
        return None
    config = load_config(arguments.teach, arguments.settings)
    if not config.view.teachers:
        raise ConfigError(
            f"{arguments.teach}: view.teachers is missing: add `view: {{teachers: {{NAME: PASSWORD-FILE}}}}`"
        )
    for file in config.view.teachers.values():
        password_in(file)
    if not is_local(arguments.listen) and not arguments.certificate:
        raise ConfigError(
            "--teach on other hosts requires --certificate and --certificate-key: passwords must be encrypted"
        )
    return config


def _addresses(arguments: argparse.Namespace, taught: Config | None) -> list[str]:
    """Return the addresses of the hubs, first that of the daemon that may be taught."""
    given = [ANY_HOST.sub("//127.0.0.1:", taught.publish.address), *arguments.addresses] if taught else []
    return list(dict.fromkeys(given or arguments.addresses or [PublishConfig().address]))


def _teaching(arguments: argparse.Namespace, config: Config, resources: ExitStack) -> "tuple[Teachers, TeachJobs]":
    from edged.model.head_versions import teach_folder
    from edged.teach.page_folder import PageFolder
    from edged.view.teach_jobs import TeachJobs
    from edged.view.teaching import Teachers

    settings = [f"--set={'.'.join(each.parts)}={each.text}" for each in arguments.settings]
    folder = PageFolder(teach_folder(config.node), partial(_taking, config))
    jobs = TeachJobs(
        arguments.teach.absolute(), settings, folder=folder, node=config.node, cameras=list(config.cameras)
    )
    resources.callback(jobs.close)
    return Teachers(config.view.teachers, password_in), jobs


def _taking(config: Config) -> "Taking":
    from edged.model.package import load_model
    from edged.teach.page_folder import Taking

    taken = load_model(config.model).input
    return Taking(taken.width, taken.height, taken.resize)


def _refuse_if_open(arguments: argparse.Namespace) -> None:
    """Raises ConfigError for a page that accepts any host, as for `metrics.address` of the config.

    A password is enough here: a phone has no client certificate.
    """
    is_restricted = arguments.client_ca or arguments.password_file
    if is_local(arguments.listen) or arguments.insecure or (arguments.certificate and is_restricted):
        return
    raise ConfigError(
        f"--listen {arguments.listen} accepts any host: use {LISTEN} (and `ssh -L` from "
        "elsewhere); or --certificate and --certificate-key, with --client-ca or --password-file; or --insecure"
    )


def _tls(arguments: argparse.Namespace) -> ssl.SSLContext | None:
    certificate, key = arguments.certificate, arguments.certificate_key
    if certificate is None and key is None:
        if arguments.client_ca:
            raise ConfigError("--client-ca requires --certificate and --certificate-key")
        return None
    if certificate is None or key is None:
        raise ConfigError("--certificate and --certificate-key require each other: give both")
    return server_context(certificate, key, arguments.client_ca)


def _bound(address: str) -> socket.socket:
    from edged.web.server import bound

    try:
        return bound(address)
    except OSError as error:
        raise ConfigError(unusable("--listen", address, error.errno, error.strerror)) from None


def _url(listener: socket.socket, tls: ssl.SSLContext | None) -> str:
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{name}:{port}/"
