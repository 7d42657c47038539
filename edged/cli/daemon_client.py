"""A client of a daemon on this host, for `edged reload`, `profile --attach`, `trace` and `teach`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import zmq

from edged.cli.run import config_or_demo
from edged.config.load import load_config
from edged.errors import ConfigError, EdgedError
from edged.hub.links.runtime_folder import link_address
from edged.messages import (
    Heard,
    JobTimes,
    LinkMessage,
    Note,
    ProfileRequest,
    Recorder,
    RecordingBegins,
    RecordingEnds,
    Stop,
    TraceBatch,
    TraceRequest,
    WorkerHello,
    decode,
    encode,
)
from edged.system.paths import is_private, journal_path, runtime_directory

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


@dataclass(eq=False)
class Process:
    """One of them. Times are by its own clock; `offset_ns` leads to the hub's and may be wrong by `error_ns`."""

    recorder: Recorder | None = None
    hello: WorkerHello | None = None
    notes: list[Note] = field(default_factory=list)
    jobs: list[JobTimes] = field(default_factory=list)
    offset_ns: int = 0
    error_ns: int | None = None

    def take(self, message: LinkMessage) -> None:
        """What it says; of several guesses at the hub's clock, the best one holds for all of it."""
        match message:
            case Recorder():
                self.recorder = message
            case WorkerHello():
                self.hello = message
            case TraceBatch():
                self.notes += message.notes
                self.jobs += message.jobs
                if self.error_ns is None or message.error_ns < self.error_ns:
                    self.offset_ns, self.error_ns = message.offset_ns, message.error_ns


@dataclass(eq=False)
class Told:
    """All of it. `processes`: by peer, as the hub calls them; its own is `hub`."""

    begins: RecordingBegins
    processes: dict[str, Process] = field(default_factory=dict)
    ends: RecordingEnds | None = None


def record(daemon: Running, request: ProfileRequest | TraceRequest) -> Told:
    """Listen until the hub ends it.

    Raises EdgedError where it refuses or dies, ConfigError where there are no kernels to profile.
    """
    daemon.say(request)
    begins, _ = daemon.hear()
    if not isinstance(begins, RecordingBegins):
        raise daemon.unexpected(begins)
    if begins.refused:
        raise EdgedError(begins.refused)
    told = Told(begins)
    while told.ends is None:
        match daemon.hear(BEATS_S):
            case RecordingEnds() as ends, _:
                told.ends = ends
            case Heard(peer=peer), payload:
                message = decode(payload)
                if isinstance(request, ProfileRequest) and isinstance(message, Recorder) and not message.costs:
                    raise ConfigError(f"{peer.replace('/', ' ')} runs on NumPy: it has no kernels to profile")
                told.processes.setdefault(peer, Process()).take(message)
            case other, _:
                raise daemon.unexpected(other)
    return told
