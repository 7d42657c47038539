"""A subscriber that remembers all that a daemon publishes, and how its metrics change."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec
import zmq

from edged.messages import Event, Prediction
from tests.e2e.daemon import MAX_AGE_S, STAMP_S, Daemon, config_in, conserves, run_edged
from tests.e2e.lateness import Lateness
from tests.eventually import eventually
from tests.given_time import GivenTime

FALL_S = 3.0  # within which a camera that gives nothing is announced, and within which it is back
RECONNECTS = "edged_camera_reconnects_total"
DISTURBED = ("camera_down", "camera_lost", "camera_frozen")
CALM_FPS = 10
CALM_SHARE = 0.7  # of its rate that a camera keeps while another one fails
CALM = {"source": "synthetic:digits", "size": [160, 120], "fps": CALM_FPS}


class Witness:
    """Everything since it was made, once `look` has been called."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._lateness = Lateness()
        self._lateness.start()
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.RCVHWM, 0)
        self._socket.connect(daemon.address)
        self._socket.subscribe("edged/")
        self.events: list[Event] = []
        self.predictions: list[Prediction] = []

    def look(self) -> None:
        """Take in what has been published."""
        while self._socket.poll(0):
            topic, body = self._socket.recv_multipart()
            if topic.endswith(b"/event"):
                self.events.append(msgspec.json.decode(body, type=Event))
            elif topic.endswith(b"/prediction"):
                self.predictions.append(msgspec.json.decode(body, type=Prediction))

    def of(self, camera: str, since: float = 0.0) -> list[Prediction]:
        """The predictions of frames that the camera captured after the wall time `since`."""
        self.look()
        recent = takewhile(lambda each: each.published_at > since, reversed(self.predictions))
        return [each for each in recent if each.camera == camera and each.captured_at > since][::-1]

    def events_of(self, event: str, camera: str, since: float = 0.0) -> list[Event]:
        """The events of this name about the camera after the wall time `since`."""
        self.look()
        return [each for each in self.events if (each.event, each.camera) == (event, camera) and each.at > since]

    def hears(self, event: str, camera: str, since: float = 0.0) -> Event:
        """The first of them, which may still be on its way."""
        return eventually(lambda: self.events_of(event, camera, since))[0]

    def metric(self, name: str, camera: str) -> float:
        """Of one camera, now."""
        for line in self._daemon.metrics().splitlines():
            if line.startswith(f'{name}{{camera="{camera}"}}'):
                return float(line.rpartition(" ")[2])
        raise AssertionError(f"no {name} of {camera}")

    def is_undisturbed(self, since: float, given: GivenTime) -> bool:
        """Return whether `calm` gave frames at its rate since a wall time, in the time that the machine gave."""
        return len(self.of("calm", since=since)) > CALM_SHARE * CALM_FPS * given.seconds()

    def is_fresh(self, camera: str) -> bool:
        """Return whether no frame of the camera was too old when its prediction was published."""
        self.look()
        oldest_s = max(each.published_at - each.captured_at for each in self.predictions if each.camera == camera)
        return oldest_s <= MAX_AGE_S + STAMP_S + self._lateness.longest_s

    def __enter__(self) -> "Witness":
        return self

    def __exit__(self, *_: object) -> None:
        self._lateness.stop()
        self._socket.close()


@contextmanager
def watched(folder: Path, **cameras: dict[str, Any]) -> Iterator[tuple[Daemon, Witness]]:
    """Run a daemon with these cameras and another one, `calm`, once that gives predictions.

    At the end `calm` still gives them, no event has reported a fault of it, and every frame is accounted for.
    """
    config = config_in(folder, cameras={**cameras, "calm": CALM})
    with run_edged(folder, config=config) as daemon, Witness(daemon) as witness:
        eventually(lambda: witness.of("calm"))
        start = time.time()
        yield daemon, witness
        assert not any(witness.events_of(event, "calm", start) for event in DISTURBED)
        end = time.time()
        eventually(lambda: witness.of("calm", since=end))
        assert conserves(daemon.stop())
