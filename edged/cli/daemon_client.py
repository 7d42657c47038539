"""Talk to the daemon of this host, for `edged reload`, `profile --attach`, `trace` and `teach`."""

import argparse
import errno
import os
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from edged.cli.options import add_settings, config_or_demo
from edged.config.load import load_config
from edged.config.overrides import Override
from edged.config.running_daemon import runtime_folder_of
from edged.errors import ConfigError, EdgedError
from edged.messages import (
    Forwarded,
    LinkMessage,
    ProfileRequest,
    RecorderHello,
    RecordingEnded,
    RecordingStarted,
    Stop,
    TraceRequest,
    decode,
    encode,
)
from edged.system.paths import is_private, link_address
from edged.system.plain_text import counted
from edged.system.terminal import EVERY_S, StatusLine
from edged.tracing.recording import RecordedProcess, RecordingRequest
from edged.transport.address import is_private_link, path_of
from edged.transport.unix_connection import UnixConnection

ANSWER_S = 10.0
HEARTBEAT_LIMIT_S = 5.0  # during a recording the daemon sends at least one message per second
LINGER_S = 0.5
QUEUED = 64  # messages that may wait to be sent


def add_daemon(parser: argparse.ArgumentParser) -> None:
    """Add CONFIG, which names a running daemon."""
    which = "config of the running daemon, or unix:// address of its private link (default: that of the demo)"
    parser.add_argument("config", nargs="?", metavar="CONFIG", help=which)
    add_settings(parser)


class DaemonClient:
    """The private link to a daemon of this host."""

    def __init__(self, address: str, connection: UnixConnection) -> None:
        self._address = address
        self._connection = connection
        self._poll = select.poll()
        self._poll.register(connection.fileno(), select.POLLIN)

    def send(self, message: LinkMessage) -> None:
        self._connection.send([encode(message)])

    def receive(self, within_s: float = ANSWER_S) -> tuple[LinkMessage, bytes]:
        """Wait for the next message and return it with its payload.

        Raises EdgedError after `within_s` seconds, or if the daemon closes the link.
        """
        header, *payloads = self._parts(time.monotonic() + within_s, within_s)
        message = decode(header)
        if isinstance(message, Stop) and message.refused:
            raise EdgedError(f"the edged at {self._address} refuses this command: {message.refused}")
        return message, b"".join(payloads)

    def _parts(self, end_s: float, within_s: float) -> Sequence[memoryview]:
        try:
            while (parts := self._connection.receive()) is None:
                if not self._poll.poll(max(0.0, 1000 * (end_s - time.monotonic()))):
                    raise EdgedError(
                        f"the edged at {self._address} does not answer within {within_s:g} s: see its log"
                    )
        except ConnectionError:
            raise EdgedError(f"the edged at {self._address} has closed the link: see its log") from None
        return parts

    def unexpected(self, message: LinkMessage) -> EdgedError:
        """Return the error to raise for a message that does not answer the request."""
        return EdgedError(f"the edged at {self._address} answers with a {message.kind}: is it another version?")


@contextmanager
def connect_daemon(
    where: str | Path | None, verb: str, settings: Sequence[Override] = ()
) -> Iterator[DaemonClient]:
    """Connect to the daemon of the config `where` (None: the demo's), or at that unix:// address.

    `verb`: the command that connects; `settings`: those that the daemon was started with. If the block raises, the
    daemon is sent `Stop`, so that it ends the request.
    Raises ConfigError for a bad config, EdgedError if no daemon runs with it.
    """
    address = _address(where, settings)
    try:
        connection = UnixConnection.to(path_of(address), QUEUED)
    except OSError as error:
        why = "does it run?" if error.errno != errno.EPROTOTYPE else "it is an earlier version: restart it"
        raise EdgedError(f"the edged at {address} cannot be reached: {error.strerror}; {why}") from None
    daemon = DaemonClient(address, connection)
    connection.send([f"{verb}/{os.getpid()}".encode()])
    try:
        yield daemon
    except BaseException:
        daemon.send(Stop())
        raise
    finally:
        connection.close(LINGER_S)


def _address(where: str | Path | None, settings: Sequence[Override]) -> str:
    if is_private_link(str(where)):
        if not path_of(str(where)).is_socket():
            raise EdgedError(f"no edged is at {where}: there is no such socket")
        return str(where)
    file = config_or_demo(Path(where) if where else None)
    config = load_config(file, settings)
    folder = runtime_folder_of(config)
    if not is_private(folder):  # another user could answer in the daemon's place
        raise EdgedError(
            f"no running edged uses {file} ({folder} is absent, or another user's): "
            "has the file another node or journal now?"
        )
    return link_address(folder)


def record(daemon: DaemonClient, request: ProfileRequest | TraceRequest) -> RecordingRequest:
    """Start a recording, and receive it until the hub ends it.

    Raises EdgedError if the hub refuses it or stops answering, ConfigError for a worker that has no kernels.
    """
    daemon.send(request)
    begins, _ = daemon.receive()
    if not isinstance(begins, RecordingStarted):
        raise daemon.unexpected(begins)
    if begins.refused:
        raise EdgedError(begins.refused)
    recording, line, started_s = RecordingRequest(begins), StatusLine(every_s=EVERY_S), time.monotonic()
    while recording.ended is None:
        line.show(_progress(request, recording, time.monotonic() - started_s))
        match daemon.receive(HEARTBEAT_LIMIT_S):
            case RecordingEnded() as ends, _:
                recording.ended = ends
            case Forwarded(peer=peer), payload:
                message = decode(payload)
                if (
                    isinstance(request, ProfileRequest)
                    and isinstance(message, RecorderHello)
                    and not message.costs
                ):
                    raise ConfigError(f"{peer.replace('/', ' ')} runs on NumPy: it has no kernels to profile")
                recording.processes.setdefault(peer, RecordedProcess()).add(message)
            case other, _:
                raise daemon.unexpected(other)
    line.clear()
    return recording


def _progress(request: ProfileRequest | TraceRequest, recording: RecordingRequest, seconds: float) -> str:
    left_s = max(0.0, request.seconds - seconds)
    if isinstance(request, TraceRequest):
        return f"edged: recording, {left_s:.0f} s left"
    jobs = counted(sum(len(each.jobs) for each in recording.processes.values()), "job")
    return f"edged: recording {counted(request.frames, 'frame')}: {jobs} so far, at most {left_s:.0f} s left"
