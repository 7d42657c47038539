"""A daemon as the steps of a roll-out see it: its stream, and the commands that reach it."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec
import zmq

from edged.fleet.answers import DaemonAnswers
from edged.fleet.gate import Comparison, ModelFigures
from edged.messages import PredictionModel, Published, to_json
from tests.client.statuses import SECONDS, camera, prediction, status
from tests.eventually import eventually, free_port

GOOD = Comparison(
    agreement=1.0,
    before=ModelFigures(frames=50, p99_s=0.01, joules=1.0),
    after=ModelFigures(frames=50, p99_s=0.01, joules=1.0),
)


class StreamedDaemon:
    """Publishes predictions of the model to which `link` leads when it reads that, at a port of its own.

    `trial`: exit code, output and errors of `edged fleet trial`. `forward_s`, `joules`: of each prediction, by the
    content of the model's file; `silent`: contents with which it publishes nothing; `refused`: contents that a
    reload does not take.
    """

    def __init__(self, link: Path, socket: "zmq.Socket[bytes]") -> None:
        self.trial = 0, GOOD.model_dump_json(), ""
        self.forward_s: dict[bytes, float] = {}
        self.silent: set[bytes] = set()
        self.refused: set[bytes] = set()
        self.not_finite = 0
        self.commands: list[str] = []
        self.last_seq = -1
        self._link, self._socket = link, socket
        self._content = link.read_bytes()

    async def edged(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command."""
        command = " ".join(arguments[:2]) if arguments[0] == "fleet" else arguments[0]
        self.commands.append(command)
        if command == "fleet trial":
            return self.trial
        content = self._link.read_bytes()
        if content in self.refused:
            return 1, "", "edged: the daemon keeps its model: this one cannot be opened"
        self._content = content
        return 0, "", ""

    def publish(self, frames: int = 10) -> None:
        """Publish predictions, and a status."""
        self._send(status(demo=camera(dropped={"not_finite": self.not_finite})), b"status")
        if self._content in self.silent:
            return
        name = sha256(self._content).hexdigest()
        model = PredictionModel(name="net", sha256=name, precision="fp32", device="d", worker="local-0")
        seconds = msgspec.structs.replace(SECONDS, forward=self.forward_s.get(self._content, 0.01))
        for _ in range(frames):
            self.last_seq += 1
            made = prediction(seq=self.last_seq, model=model, seconds=seconds, joules=1.0)
            self._send(made, b"door/prediction")

    def _send(self, message: Published, what: bytes) -> None:
        self._socket.send_multipart([b"edged/test/" + what, to_json(message)])


@contextmanager
def streamed_daemon(link: Path) -> Iterator[tuple[StreamedDaemon, DaemonAnswers]]:
    """The daemon, and who listens to it."""
    address = f"tcp://127.0.0.1:{free_port()}"
    with zmq.Context() as context, context.socket(zmq.PUB) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.bind(address)
        daemon, answers = StreamedDaemon(link, socket), DaemonAnswers(address, "test", None)
        answers.start()
        try:
            eventually(lambda: daemon.publish(1) or answers.last)  # type: ignore[func-returns-value]
            yield daemon, answers
        finally:
            answers.stop()
