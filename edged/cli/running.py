"""A daemon that runs on this host, as `edged reload`, `edged profile --attach` and `edged trace` reach it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zmq

from edged.cli.run import config_or_demo
from edged.config_file import load_config
from edged.errors import EdgedError
from edged.hub.links.private import link_address
from edged.messages import LinkMessage, Stop, decode, encode
from edged.paths import is_private, journal_path, runtime_directory

ANSWER_S = 10.0
BEATS_S = 5.0  # while it tells us something, it says so each second
IPC = "ipc://"
ADDRESS_HELP = "the file that `edged run` was started with, or the ipc:// address of its private link"


class Running:
    """The private link to it."""

    def __init__(self, address: str, socket: "zmq.Socket[bytes]") -> None:
        self._address = address
        self._socket = socket

    def say(self, message: LinkMessage) -> None:
        """Something."""
        self._socket.send(encode(message))

    def hear(self, within_s: float = ANSWER_S) -> tuple[LinkMessage, bytes]:
        """Its next message, with its payload. Raises EdgedError where none comes in time."""
        if not self._socket.poll(round(within_s * 1000)):
            raise EdgedError(f"the edged at {self._address} does not answer within {within_s:g} s: see its log")
        header, *payloads = self._socket.recv_multipart()
        message = decode(header)
        if isinstance(message, Stop) and message.refused:
            raise EdgedError(f"the edged at {self._address} refuses this command: {message.refused}")
        return message, b"".join(payloads)

    def unexpected(self, message: LinkMessage) -> EdgedError:
        """What to raise for it."""
        return EdgedError(f"the edged at {self._address} answers with a {message.kind}: is it another version?")


@contextmanager
def running(where: str | Path | None, verb: str) -> Iterator[Running]:
    """The daemon that runs by the config `where` (None: the demo's), or at that address. `verb`: who asks.

    It is told where we go before the end. Raises ConfigError for the file, EdgedError where no daemon runs by it.
    """
    address = _address(where)
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.setsockopt(zmq.LINGER, 500)
        socket.setsockopt(zmq.IDENTITY, f"{verb}/{os.getpid()}".encode())
        socket.setsockopt(zmq.RCVHWM, 0)  # it gives up who takes nothing
        socket.connect(address)
        daemon = Running(address, socket)
        try:
            yield daemon
        except BaseException:
            daemon.say(Stop())
            raise


def _address(where: str | Path | None) -> str:
    if str(where).startswith(IPC):
        path = Path(str(where).removeprefix(IPC))
        if not path.is_socket():
            raise EdgedError(f"no edged is at {where}: there is no such socket")
        return str(where)
    file = config_or_demo(Path(where) if where else None)
    config = load_config(file)
    folder = runtime_directory(journal_path(config.node, config.journal.path))
    if not is_private(folder):  # else somebody else could answer in its name
        raise EdgedError(
            f"no edged runs by {file} ({folder} is absent, or somebody else's): "
            "has the file another node or journal now?"
        )
    return link_address(folder)
