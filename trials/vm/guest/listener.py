"""All that the service publishes, with the monotonic time at which it was heard."""

import json
import threading
import time
from dataclasses import dataclass
from typing import Any

import zmq

from tests.eventually import TURN_MS, eventually

ADDRESS = "tcp://127.0.0.1:5570"  # the default of publish.address
WITHIN_S = 180.0  # of the harness; what is promised is asserted by the times


@dataclass(frozen=True)
class Heard:
    """One message. `at`: seconds on the monotonic clock, which does not jump."""

    at: float
    kind: str
    fields: dict[str, Any]


class Listener(threading.Thread):
    """A subscriber that remembers everything, and connects again by itself."""

    def __init__(self) -> None:
        super().__init__(name="listener", daemon=True)
        self._heard: list[Heard] = []
        self._end = threading.Event()

    def run(self) -> None:
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.setsockopt(zmq.LINGER, 0)
            socket.setsockopt(zmq.RCVHWM, 0)
            socket.connect(ADDRESS)
            socket.subscribe("edged/")
            while not self._end.is_set():
                if socket.poll(TURN_MS):
                    topic, body = socket.recv_multipart()
                    kind = topic.decode().rpartition("/")[2]
                    self._heard.append(Heard(time.monotonic(), kind, json.loads(body)))

    def stop(self) -> None:
        self._end.set()
        self.join()

    def predictions(self, camera: str, since: float = 0.0, until: float = float("inf")) -> list[Heard]:
        """Those of one camera that were heard between the monotonic times."""
        return [
            each
            for each in self._between(since, until)
            if each.kind == "prediction" and each.fields["camera"] == camera
        ]

    def next_prediction(self, camera: str, since: float) -> Heard:
        """The first one that is heard after that time, which may be still to come."""
        return eventually(lambda: self.predictions(camera, since), WITHIN_S)[0]

    def next_captured(self, camera: str, after: float) -> Heard:
        """The first one of a frame that the camera captured after that time of the wall clock."""

        def found() -> list[Heard]:
            return [each for each in self.predictions(camera) if each.fields["captured_at"] > after]

        return eventually(found, WITHIN_S)[0]

    def next_boot(self, camera: str, boot: str) -> Heard:
        """The first one of another daemon than `boot`."""

        def found() -> list[Heard]:
            return [each for each in self.predictions(camera) if each.fields["boot"] != boot]

        return eventually(found, WITHIN_S)[0]

    def next_predictions(self, camera: str, since: float, count: int) -> list[Heard]:
        """As many as that, when they have been heard."""

        def enough() -> list[Heard] | None:
            heard = self.predictions(camera, since)
            return heard[:count] if len(heard) >= count else None

        return eventually(enough, WITHIN_S) or []

    def event(self, name: str, since: float, saying: str = "") -> Heard:
        """The first whose name ends so that is heard after that time, which may be still to come."""
        return eventually(lambda: self._events(name, since, saying), WITHIN_S)[0]

    def _events(self, name: str, since: float, saying: str) -> list[Heard]:
        events = [each for each in self._between(since, float("inf")) if each.kind == "event"]
        named = [each for each in events if each.fields["event"].endswith(name)]
        return [each for each in named if saying in each.fields["message"]]

    def _between(self, since: float, until: float) -> list[Heard]:
        return [each for each in self._heard[:] if since <= each.at < until]
