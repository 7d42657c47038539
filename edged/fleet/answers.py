"""What the daemon of this board answers: its predictions as they are published, summarized."""

import threading
import time
from collections import deque
from dataclasses import dataclass

import zmq

from edged.client.subscription import Arrival, Subscription
from edged.fleet.gate import ModelFigures, figures_of
from edged.messages import Prediction, Status
from edged.transport.client_socket import Curve

KEPT = 2000  # newest predictions
POLL_MS = 100
RATE_S = 10.0


@dataclass(frozen=True, slots=True)
class HeardAnswer:
    """A prediction. `at_s`: when it arrived, of a monotonic clock."""

    at_s: float
    seq: int
    model: str
    sha256: str
    forward_s: float
    joules: float | None


class DaemonAnswers:
    """Listens to the stream in a thread. The daemon never waits for it."""

    def __init__(self, address: str, node: str, curve: Curve | None) -> None:
        self._address, self._node, self._curve = address, node, curve
        self._kept: deque[HeardAnswer] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._since_seq: int | None = None
        self._not_finite: dict[
            str, tuple[int, int]
        ] = {}  # frames, by boot of the hub: before we listened, and now
        self._stops = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="answers", daemon=True)

    def start(self) -> None:
        """Begin to listen; it waits for a daemon that is not running."""
        self._thread.start()

    def stop(self) -> None:
        self._stops.set()
        self._thread.join()

    @property
    def last(self) -> HeardAnswer | None:
        with self._lock:
            return self._kept[-1] if self._kept else None

    @property
    def since_seq(self) -> int | None:
        """Return the number of the first prediction of the model that answers; None if that was not heard."""
        with self._lock:
            return self._since_seq

    @property
    def not_finite(self) -> int:
        """Return the frames that were dropped because an answer was not finite, since this object listens."""
        with self._lock:
            return sum(now - before for before, now in self._not_finite.values())

    def per_second(self) -> float:
        """Return predictions a second, over the last ten."""
        now_s = time.monotonic()
        with self._lock:
            return sum(now_s - each.at_s <= RATE_S for each in self._kept) / RATE_S

    def figures(self, sha256: str, *, since_s: float = 0.0, not_finite: int = 0) -> ModelFigures:
        """Summarize the predictions of a model since a time of the monotonic clock."""
        with self._lock:
            of_it = [each for each in self._kept if each.sha256 == sha256 and each.at_s >= since_s]
        return figures_of([each.forward_s for each in of_it], [each.joules for each in of_it], not_finite)

    def _listen(self) -> None:
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        stream = Subscription(context, self._address, topic=f"edged/{self._node}/", curve=self._curve)
        try:
            while not self._stops.is_set():
                match stream.receive(POLL_MS):
                    case Arrival(prediction=prediction):
                        self._take(prediction)
                    case Status() as status:
                        self._take_status(status)
        finally:
            stream.close()
            context.term()

    def _take(self, prediction: Prediction) -> None:
        model = prediction.model
        answer = HeardAnswer(
            time.monotonic(),
            prediction.seq,
            model.name,
            model.sha256,
            prediction.seconds.forward,
            prediction.energy.joules,
        )
        with self._lock:
            if self._kept and self._kept[-1].sha256 != answer.sha256:
                self._since_seq = answer.seq
            self._kept.append(answer)

    def _take_status(self, status: Status) -> None:
        dropped = sum(camera.dropped.get("not_finite", 0) for camera in status.camera_states.values())
        with self._lock:
            before = dropped if not self._not_finite else 0  # a hub that has started since begins at 0
            before = self._not_finite.get(status.boot, (before, 0))[0]
            self._not_finite[status.boot] = before, dropped
