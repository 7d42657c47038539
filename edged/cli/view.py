"""`edged view`: the cameras, workers and events of a node as a page in the browser."""

import argparse
import importlib.util
import re
import signal
import socket
import ssl
from pathlib import Path
from types import FrameType

from edged.cli.options import add_hub_options
from edged.config.load import password_in
from edged.errors import ConfigError
from edged.hub.links.sockets import unusable
from edged.system import log
from edged.transport.address import HOST_AND_PORT, host_and_port, is_local
from edged.transport.client_socket import curve_of
from edged.transport.tls import server_context

LISTEN = "127.0.0.1:9465"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to show, and to whom."""
    add_hub_options(parser)
    parser.add_argument("--node", metavar="NAME", help="this node, where several publish at one address")
    parser.add_argument(
        "--listen", type=_host_and_port, default=LISTEN, metavar="HOST:PORT", help=f"default: {LISTEN}"
    )
    parser.add_argument(
        "--name", action="append", default=[], help="a name by which browsers know this host, besides its own"
    )
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="this host's, in PEM: speak TLS")
    parser.add_argument("--certificate-key", type=Path, metavar="FILE", help="its private key")
    parser.add_argument(
        "--client-ca", type=Path, metavar="FILE", help="let in who shows a certificate of these authorities"
    )
    parser.add_argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help="ask for the password that is in this file, nothing else",
    )
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="listen beyond this host though that is unencrypted, or for everybody",
    )


def run(arguments: argparse.Namespace) -> int:
    """Until Ctrl-C or SIGTERM."""
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise ConfigError("edged view needs starlette and uvicorn: pip install 'edged[view]'")
    from edged.view.listener import listening
    from edged.view.server import view_server
    from edged.view.watcher import Watcher

    log.configure()
    curve = curve_of(arguments.key, arguments.server_key)
    tls = _tls(arguments)
    password = password_in(arguments.password_file) if arguments.password_file else None
    _refuse_if_open(arguments)
    listener = _bound(arguments.listen)
    signal.signal(signal.SIGTERM, _interrupt)
    print(f"edged view: {_url(listener, tls)} shows {arguments.address}; Ctrl-C ends it", flush=True)
    watcher = Watcher(arguments.address, arguments.node)
    names = [*arguments.name, host_and_port(arguments.listen)[0]]
    with listening(watcher, curve):
        view_server(watcher, listener, names=names, password=password, tls=tls).serve_pages()
    return 0


def _refuse_if_open(arguments: argparse.Namespace) -> None:
    """What `metrics.address` of the config demands, and a password will do too: a phone has no certificate."""
    asks = arguments.client_ca or arguments.password_file
    if is_local(arguments.listen) or arguments.insecure or (arguments.certificate and asks):
        return
    raise ConfigError(
        f"--listen {arguments.listen} is open to other hosts, for everybody: use {LISTEN} (and `ssh -L` from "
        "elsewhere); or --certificate and --certificate-key, with --client-ca or --password-file; or --insecure"
    )


def _tls(arguments: argparse.Namespace) -> ssl.SSLContext | None:
    certificate, key = arguments.certificate, arguments.certificate_key
    if certificate is None and key is None:
        if arguments.client_ca:
            raise ConfigError("--client-ca needs --certificate and --certificate-key too")
        return None
    if certificate is None or key is None:
        raise ConfigError("--certificate and --certificate-key belong together: give both")
    return server_context(certificate, key, arguments.client_ca)


def _bound(address: str) -> socket.socket:
    from edged.view.server import bound

    try:
        return bound(address)
    except OSError as error:
        raise ConfigError(unusable("--listen", address, error.errno, error.strerror)) from None


def _url(listener: socket.socket, tls: ssl.SSLContext | None) -> str:
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{name}:{port}/"


def _host_and_port(text: str) -> str:
    if not re.fullmatch(HOST_AND_PORT, text) or host_and_port(text)[1] > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address like {LISTEN}")
    return text


def _interrupt(_: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
