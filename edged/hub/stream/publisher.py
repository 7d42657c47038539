"""The prediction stream: predictions, events and the status, over ZeroMQ PUB."""

import uuid
from collections.abc import Sequence
from typing import Literal

import zmq
from prometheus_client import Counter

from edged.clock import wall_s
from edged.hub.figures.standing import Standing
from edged.hub.links.guard import Guard
from edged.hub.links.multipart import Part
from edged.hub.links.sockets import SUBSCRIBER, bind
from edged.hub.service_threads import ServiceThreads
from edged.hub.stream.notice import Notice
from edged.hub.stream.sender import Outcome, Outgoing, StreamSender, What
from edged.messages import (
    Event,
    Label,
    ShadowAnswers,
    Shadowed,
    Snapshot,
    SnapshotHeader,
    Status,
    snapshot_topic,
    to_json,
    topic,
)

QUEUED = 100  # messages for a subscriber that stalls; what is over is dropped, and can be fetched again


class Publisher:
    """Hands over to the thread that sends, and never waits."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        node: str,
        address: str,
        replay: str,
        services: ServiceThreads,
        unsent: Counter,
        guard: Guard | None = None,
    ) -> None:
        """`unsent` counts messages that are dropped, by `what`. Raises ConfigError for an unusable address."""
        self.boot = uuid.uuid4().hex
        self._node = node
        self._replay = replay
        self._unsent = unsent
        self._waiting = 0
        socket = bind(context, zmq.PUB, "publish.address", address, QUEUED, guard, bounds=SUBSCRIBER)
        self._sender = StreamSender(socket, services)

    @property
    def waiting(self) -> int:
        """Predictions of which no outcome is known yet."""
        return self._waiting

    def topic_of(self, camera: str) -> bytes:
        """Of the predictions of a camera."""
        return topic(self._node, camera, "prediction").encode()

    def predictions(self, outgoing: Sequence[Outgoing]) -> None:
        """Publish them; `outcomes` tells when and whether that was done."""
        self._waiting += len(outgoing)
        if dropped := self._sender.put(*outgoing):
            self._unsent.labels("prediction").inc(dropped)

    def outcomes(self) -> list[Outcome]:
        """Of predictions, since the call before."""
        outcomes = self._sender.outcomes()
        self._waiting -= len(outcomes)
        return outcomes

    def stop(self, within_s: float) -> list[Outgoing]:
        """Send what is queued; the predictions for which the time did not suffice."""
        return self._sender.stop(within_s)

    def event(self, notice: Notice) -> None:
        """Publish what has happened."""
        event = Event(
            node=self._node,
            boot=self.boot,
            at=wall_s(),
            event=notice.event,
            camera=notice.camera,
            worker=notice.worker,
            message=notice.message,
        )
        self._send(notice.camera, "event", to_json(event))

    def shadow(self, told: Shadowed, answered_by: str, shadow: str) -> None:
        """Publish what two models answer to a frame."""
        answers = ShadowAnswers(
            frame=told.frame,
            sha256=answered_by,
            top=told.top,
            shadow_sha256=shadow,
            shadow_top=told.shadow,
            truth=told.truth,
        )
        event = Event(
            node=self._node,
            boot=self.boot,
            at=wall_s(),
            event="shadow",
            camera=told.camera,
            message=f"answered {_best(told.top)}, in the shadow {_best(told.shadow)}",
            shadow=answers,
        )
        self._send(told.camera, "event", to_json(event))

    def status(self, first_seq: int, last_seq: int, last_frames: dict[str, int], standing: Standing) -> None:
        """Publish that this node is alive, what came last, and how it stands."""
        status = Status(
            node=self._node,
            boot=self.boot,
            at=wall_s(),
            first_seq=first_seq,
            last_seq=last_seq,
            replay=self._replay,
            cameras=last_frames,
            camera_states=standing.cameras,
            workers=standing.workers,
            energy=standing.energy,
        )
        self._send(None, "status", to_json(status))

    def snapshot(self, snapshot: Snapshot, jpeg: Part) -> None:
        """Publish a picture of a frame; who stalls misses it."""
        header = SnapshotHeader(
            node=self._node,
            boot=self.boot,
            camera=snapshot.camera,
            frame=snapshot.frame,
            captured_at=snapshot.captured_at,
            width=snapshot.width,
            height=snapshot.height,
        )
        self._put("snapshot", [snapshot_topic(self._node, snapshot.camera).encode(), to_json(header), jpeg])

    def _send(self, camera: str | None, what: Literal["event", "status"], json: bytes) -> None:
        self._put(what, [topic(self._node, camera, what).encode(), json])

    def _put(self, what: What, parts: Sequence[Part]) -> None:
        if self._sender.put(parts):
            self._unsent.labels(what).inc()


def _best(top: tuple[Label, ...]) -> str:
    return f"{top[0].label} ({top[0].score:.2f})" if top else "nothing"
