"""The prediction stream: predictions, events and the status, over ZeroMQ PUB."""

import uuid
from typing import Literal

import zmq

from edged.clock import wall_s
from edged.hub.figures.standing import Standing
from edged.hub.links.guard import Guard
from edged.hub.links.multipart import Part, send_parts
from edged.hub.links.sockets import SUBSCRIBER, bind
from edged.hub.stream.notice import Notice
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
    """Sends to whoever listens, and never waits."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        node: str,
        address: str,
        replay: str,
        guard: Guard | None = None,
    ) -> None:
        """Raises ConfigError where the address cannot be used."""
        self.boot = uuid.uuid4().hex
        self._node = node
        self._replay = replay
        self._socket = bind(context, zmq.PUB, "publish.address", address, QUEUED, guard, bounds=SUBSCRIBER)

    def prediction(self, camera: str, json: bytes) -> None:
        """Publish the JSON of a prediction."""
        self._send(camera, "prediction", json)

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
        send_parts(self._socket, [snapshot_topic(self._node, snapshot.camera).encode(), to_json(header), jpeg])

    def _send(self, camera: str | None, what: Literal["prediction", "event", "status"], json: bytes) -> None:
        send_parts(self._socket, [topic(self._node, camera, what).encode(), json])


def _best(top: tuple[Label, ...]) -> str:
    return f"{top[0].label} ({top[0].score:.2f})" if top else "nothing"
