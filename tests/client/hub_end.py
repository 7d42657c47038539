"""The publishing half of a hub, with losses where a test wants them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import zmq

from edged.client.replay import fetch_pages
from edged.client.stream import PredictionStream
from edged.client.subscription import Arrival
from edged.clock import now_ns, wall_s
from edged.config import JournalConfig as Settings
from edged.hub.events import HubEvent
from edged.hub.frames.queues import Held
from edged.hub.journal.journal import Journal
from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import Row
from edged.hub.pipeline import COMMIT
from edged.hub.publish.publisher import Publisher
from edged.hub.publish.replay import Replay
from edged.hub.publish.sender import Outgoing
from edged.messages import (
    Label,
    Prediction,
    PredictionEnergy,
    PredictionModel,
    ReplayRequest,
    StageSeconds,
    to_json,
    topic,
)
from edged.messages.camera import Snapshot
from edged.messages.published import NodeStatus
from edged.metrics import Metrics
from edged.transport.client_socket import Context
from tests.eventually import LIMIT_S, eventually, free_port
from tests.hub.frames import CameraEnd
from tests.hub.pipeline import new_services

KEPT = Settings(max_predictions=50_000, max_wait_s=10.0)
SECONDS = StageSeconds(
    capture=0.0, preprocess=0.0, wait=0.0, upload=0.0, forward=0.0, download=0.0, publish=0.0, total=0.0
)


class HubEnd:
    """Publisher, journal and replay of a node, without cameras and workers."""

    def __init__(self, folder: Path, address: str, replay: str, node: str = "test") -> None:
        self.node = node
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.services = new_services()
        self._publisher = Publisher(
            self._context, node, address, replay, self.services, Metrics(node).stream_unsent
        )
        self._path = folder / "journal.sqlite"
        self._journal = Journal(self._path, KEPT, self.services)
        reader = JournalReader(self._path, keep_connection=True)
        events = self._publisher.recent_events
        self._replay = Replay(self._context, replay, reader, self._journal.suspect, self.services, events=events)
        self.first_seq = self.next_seq = self._journal.next_seq

    def publish(
        self, count: int = 1, *, camera: str = "door", sent: bool = True, kept: bool = True, ago_s: float = 0.0
    ) -> None:
        """Predictions that are on the wire or not, in the journal or not, published so long ago."""
        for begin in range(0, count, COMMIT):
            first = self.next_seq
            self.next_seq += min(COMMIT, count - begin)
            made = [self._prediction(seq, camera, wall_s() - ago_s) for seq in range(first, self.next_seq)]
            rows = [Row(each.seq, each.published_at, to_json(each)) for each in made]
            if kept:
                assert self._journal.append(rows) is None
            if sent:
                self._publisher.sender.put(*(self._outgoing(each) for each in made))

    def withdraw(self, count: int) -> None:
        """Give numbers to predictions that are too old to be published."""
        first = self.next_seq
        self.publish(count, sent=False)
        for seq in range(first, self.next_seq):
            self._journal.withdraw(seq)
        eventually(lambda: JournalReader(self._path).page(first, None, None, count).withdrawn == count)

    def garble(self, *parts: bytes) -> None:
        """What no hub sends."""
        self._publisher._put("event", parts)

    def event(self) -> None:
        self._publisher.announce(HubEvent("camera_up", "camera door is up", camera="door"))

    def picture(self) -> None:
        shown = Snapshot(camera="door", frame=0, captured_at=wall_s(), width=4, height=3)
        self._publisher.snapshot(shown, b"JPEG")

    def status(self) -> None:
        self._publisher.status(self.first_seq, self.next_seq - 1, {}, NodeStatus())

    @property
    def answered(self) -> int:
        """Replay requests so far."""
        return self._replay.answered

    def serve(self) -> bool:
        """A status. True, so that it fits into a condition."""
        self.status()
        return True

    def close(self) -> None:
        self.services.close()
        self._replay.stop()
        self._publisher.sender.stop(LIMIT_S)
        self._context.destroy(linger=0)
        self._journal.close()

    def _outgoing(self, made: Prediction) -> Outgoing:
        held = Held(CameraEnd(made.camera).frame(0).frame, b"")
        return Outgoing(topic(self.node, made.camera, "prediction").encode(), made, held, now_ns(), stale_ns=None)

    def _prediction(self, seq: int, camera: str, at: float) -> Prediction:
        return Prediction(
            node=self.node,
            boot=self._publisher.boot,
            seq=seq,
            camera=camera,
            frame=seq,
            captured_at=at,
            published_at=at,
            model=PredictionModel(name="m", sha256="0", precision="fp32", device="d", worker="local-0"),
            top=(Label(label="yes", index=1, score=1.0),),
            seconds=SECONDS,
            energy=PredictionEnergy(joules=None, method="none", rails=()),
        )


def fetch(context: Context, address: str, request: ReplayRequest) -> Iterator[Arrival | None]:
    """Yield every prediction that `request` covers; None now and then while a page is on its way."""
    for page in fetch_pages(context, address, request):
        if page is None:
            yield None
        else:
            yield from page.arrivals


class Addresses:
    """Where a hub is, so that it can come back there."""

    def __init__(self) -> None:
        self.stream = f"tcp://127.0.0.1:{free_port()}"
        self.replay = f"tcp://127.0.0.1:{free_port()}"


@contextmanager
def a_hub(folder: Path, where: Addresses, node: str = "test") -> Iterator[HubEnd]:
    hub = HubEnd(folder, where.stream, where.replay, node)
    try:
        yield hub
    finally:
        hub.close()


class Listener:
    """A subscriber in a thread of its own, and what it has got."""

    def __init__(self, address: str, **arguments: Any) -> None:
        self.got: list[Prediction] = []
        self._arguments = (address, arguments)
        self._stopped = False
        self._may_read = threading.Event()
        self._may_read.set()
        self._thread = threading.Thread(target=self._listen)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        self._thread.join()

    def stall(self) -> None:
        """Read nothing more for now, as a program that is stopped."""
        self._may_read.clear()

    def go_on(self) -> None:
        self._may_read.set()

    @property
    def numbers(self) -> list[int]:
        return [prediction.seq for prediction in self.got]

    def _listen(self) -> None:
        address, arguments = self._arguments
        with zmq.Context() as context:
            stream = PredictionStream(context, address, **arguments)
            for arrival in stream.arrivals():
                self._may_read.wait()
                if arrival:
                    self.got.append(arrival.prediction)
                if self._stopped:
                    break
            stream.close()
