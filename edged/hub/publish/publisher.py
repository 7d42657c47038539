"""Publish events, the status of the node, and snapshots. Predictions: see `pipeline`."""

import logging
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import zmq
from prometheus_client import Counter

from edged import config
from edged.clock import nanoseconds, wall_s
from edged.hub.events import HubEvent
from edged.hub.links.guard import Guard
from edged.hub.links.sockets import SUBSCRIBER, Part, bind
from edged.hub.publish.notifier import Notifier
from edged.hub.publish.sender import StreamSender, What
from edged.hub.service_threads import ServiceThreads
from edged.messages import (
    Event,
    Label,
    ShadowAnswers,
    ShadowResult,
    Snapshot,
    SnapshotHeader,
    SnapshotSettings,
    Status,
    snapshot_topic,
    to_json,
    topic,
)
from edged.messages.published import NodeStatus
from edged.metrics import Metrics

RECENT = 200  # events that are kept in memory for subscribers that come later
QUEUED = 100  # messages for a subscriber that stalls; more are dropped, and can be fetched from the journal

log = logging.getLogger("edged.hub")


class Publisher:
    """Passes messages to the sending thread (`sender`), and never waits."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        node: str,
        address: str,
        replay: str,
        services: ServiceThreads,
        unsent: Counter,
        guard: Guard | None = None,
        notifier: Notifier | None = None,
    ) -> None:
        """`unsent` counts dropped messages, by `what`. `notifier` gets all events.

        Raises ConfigError for an unusable address.
        """
        self.boot = uuid.uuid4().hex
        self.node = node
        self._replay = replay
        self._events: deque[bytes] = deque(maxlen=RECENT)
        self._unsent = unsent
        self._notifier = notifier
        socket = bind(context, zmq.XPUB, "publish.address", address, QUEUED, guard, bounds=SUBSCRIBER)
        self.sender = StreamSender(socket, services)
        if guard:
            guard.bound_topics("publish.address", self.sender.topics)

    def stop(self) -> None:
        """Close the socket at once."""
        self.sender.stop(0.0)

    def recent_events(self) -> tuple[bytes, ...]:
        """Return the newest events as JSON, oldest first. Any thread may call it."""
        return tuple(self._events)

    def announce(self, notice: HubEvent) -> None:
        """Log an event and publish it."""
        log.log(logging.WARNING if notice.is_bad else logging.INFO, "%s", notice.message)
        event = Event(
            node=self.node,
            boot=self.boot,
            at=wall_s(),
            event=notice.event,
            camera=notice.camera,
            worker=notice.worker,
            message=notice.message,
            state=notice.state,
            name=notice.name,
        )
        if self._notifier:
            self._notifier.put(event)
        self._events.append(to_json(event))
        self._send(notice.camera, "event", self._events[-1])

    def shadow(self, result: ShadowResult, answered_by: str, shadow: str) -> None:
        """Publish the answers of both models to one frame."""
        answers = ShadowAnswers(
            frame=result.frame,
            sha256=answered_by,
            top=result.top,
            shadow_sha256=shadow,
            shadow_top=result.shadow,
            truth=result.truth,
        )
        event = Event(
            node=self.node,
            boot=self.boot,
            at=wall_s(),
            event="shadow",
            camera=result.camera,
            message=f"answered {_best(result.top)}, in shadow {_best(result.shadow)}",
            shadow=answers,
        )
        self._send(result.camera, "event", to_json(event))

    def status(self, first_seq: int, last_seq: int, last_frames: dict[str, int], node: NodeStatus) -> None:
        """Publish that this node is alive, its last prediction, and its state."""
        status = Status(
            node=self.node,
            boot=self.boot,
            at=wall_s(),
            first_seq=first_seq,
            last_seq=last_seq,
            replay=self._replay,
            cameras=last_frames,
            camera_states=dict(node.cameras),
            workers=dict(node.workers),
            energy=node.energy,
        )
        self._send(None, "status", to_json(status))

    def snapshot(self, snapshot: Snapshot, jpeg: Part) -> None:
        """Publish a picture of a frame; a subscriber that stalls misses it."""
        header = SnapshotHeader(
            node=self.node,
            boot=self.boot,
            camera=snapshot.camera,
            frame=snapshot.frame,
            captured_at=snapshot.captured_at,
            width=snapshot.width,
            height=snapshot.height,
            region=snapshot.region,
        )
        self._put("snapshot", [snapshot_topic(self.node, snapshot.camera).encode(), to_json(header), jpeg])

    def _send(self, camera: str | None, what: Literal["event", "status"], json: bytes) -> None:
        self._put(what, [topic(self.node, camera, what).encode(), json])

    def _put(self, what: What, parts: Sequence[Part]) -> None:
        if self.sender.put(parts):
            self._unsent.labels(what).inc()


def _best(top: tuple[Label, ...]) -> str:
    return f"{top[0].label} ({top[0].score:.2f})" if top else "nothing"


JPEG = b"\xff\xd8\xff"  # the first bytes of each


class Snapshots:
    """Limits the snapshots of each camera to its config, whichever peer sends them."""

    def __init__(
        self,
        publish: Callable[[Snapshot, Part], None],
        metrics: Metrics,
        cameras: Mapping[str, config.CameraConfig],
    ) -> None:
        self._publish = publish
        self._metrics = metrics
        self._due_ns: dict[str, int] = {}
        self.grant(cameras)

    def grant(self, cameras: Mapping[str, config.CameraConfig]) -> None:
        """Apply these settings from now on."""
        self._granted = {name: camera.snapshot for name, camera in cameras.items() if camera.snapshot}

    def order_for(self, camera: str) -> SnapshotSettings | None:
        """Return which snapshots a camera must send; None: none."""
        granted = self._granted.get(camera)
        if granted is None:
            return None
        return SnapshotSettings(
            every_s=granted.every_s, width=granted.width, quality=granted.quality, max_bytes=_bytes(granted)
        )

    def receive(self, snapshot: Snapshot, payloads: Sequence[memoryview], now_ns: int) -> None:
        """Publish a snapshot, or count in the metrics why not."""
        result = self._problem(snapshot.camera, payloads, now_ns) or "published"
        self._metrics.snapshots.labels(snapshot.camera, result).inc()
        if result == "published":
            self._publish(snapshot, payloads[0])

    def _problem(self, camera: str, payloads: Sequence[memoryview], now_ns: int) -> str:
        granted = self._granted.get(camera)
        if granted is None:
            return "not_wanted"  # no longer: it may have been on its way
        if len(payloads) != 1 or bytes(payloads[0][:3]) != JPEG:
            return "malformed"
        if len(payloads[0]) > _bytes(granted):
            return "too_large"
        every_ns = nanoseconds(granted.every_s)
        due_ns = self._due_ns.get(camera, 0)
        if now_ns < due_ns - every_ns:  # one may come early: the one before may have been delayed
            return "too_many"
        self._due_ns[camera] = max(due_ns, now_ns) + every_ns
        return ""


def _bytes(granted: config.SnapshotConfig) -> int:
    return 1024 * granted.max_kilobytes
