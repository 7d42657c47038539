"""Report the state of the node: each second on the stream, and in lines or values for the terminal."""

import time
from collections.abc import Callable

from edged.client.board import Rates, summarized
from edged.client.node_state import CameraSummary, NodeState
from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.config import Config, PublishConfig
from edged.hub.node import Node
from edged.hub.pipeline import Publication
from edged.hub.publish.publisher import Publisher
from edged.hub.stats.summary import share_right
from edged.messages import CameraState
from edged.system.own_command import own_command


class StatusReport:
    """Publishes the status of the node."""

    def __init__(self, node: Node, publication: Publication, publisher: Publisher) -> None:
        self._node = node
        self._publication = publication
        self._publisher = publisher

    def publish(self) -> None:
        """Publish that this node is alive, its last prediction, and its state."""
        first_seq, last_seq = self._publication.first_seq, self._publication.next_seq - 1
        self._publisher.status(first_seq, last_seq, self._node.last_frames(), self._node.status())


def places(config: Config) -> list[str]:
    """Return lines that say where the stream, the metrics and the page of a daemon are."""
    address = config.publish.address
    argument = "" if address == PublishConfig().address else f" {address}"
    scheme = "https" if config.metrics.tls else "http"
    return [
        f"stream   {address} ({own_command()} subscribe{argument})",
        f"metrics  {scheme}://{config.metrics.address}/metrics",
        f"page     {own_command()} view{argument}" + (" (in a checkout: make view)" if not argument else ""),
    ]


class Display:
    """Shows a line for each camera: after the first second, then every `every_s` seconds."""

    def __init__(self, node: Node, show: Callable[[str], None], every_s: float) -> None:
        self._node = node
        self._show = show
        self._every_ns = nanoseconds(every_s)
        self._shown_ns = now_ns()
        self._due_ns = self._shown_ns + NANOSECONDS // 2  # called once a second

    def show_if_due(self, now: int) -> None:
        """Show the lines, if it is time."""
        if now < self._due_ns:
            return
        for line in self._node.camera_lines((now - self._shown_ns) / NANOSECONDS):
            self._show(line)
        self._shown_ns, self._due_ns = now, now + self._every_ns


class LiveDisplay:
    """Passes the state of the node, as a subscriber knows it, to the screen of this process."""

    def __init__(self, node: Node, show: Callable[[NodeState], None]) -> None:
        self._node = node
        self._show = show
        self._predicted: Rates[str] = Rates()
        self._dropped: Rates[tuple[str, str]] = Rates()
        self._joules: Rates[str] = Rates()

    def update(self, now: int) -> None:
        """Pass the present state, once a second."""
        status, now_s, at = self._node.status(), now / NANOSECONDS, time.time()
        cameras = status.cameras
        self._predicted.take(now_s, {name: camera.predicted for name, camera in cameras.items()})
        sums = {(name, reason): n for name, camera in cameras.items() for reason, n in camera.dropped.items()}
        self._dropped.take(now_s, sums)
        self._joules.take(now_s, status.energy.rails)
        fps, dropping = self._predicted.each_second(), self._dropped.each_second()
        known = NodeState(
            node=self._node.name,
            boot=None,
            at=at,
            away_s=0.0,
            stale=False,
            cameras=tuple(
                self._camera(
                    name,
                    camera,
                    at,
                    fps.get(name, 0.0),
                    {reason: rate for (of, reason), rate in dropping.items() if of == name},
                )
                for name, camera in cameras.items()
            ),
            workers=status.workers,
            watts=self._joules.each_second(),
            method=status.energy.method,
            events=(),
        )
        self._show(known)

    def _camera(
        self, name: str, status: CameraState, at: float, fps: float, dropping: dict[str, float]
    ) -> CameraSummary:
        tally, state = self._node.tally(name), summarized(status)
        if state == "up" and tally.last is None and not self._node.is_ready:
            state = "starting"  # it has frames, which no worker takes yet
        median_s, p99_s = tally.total.median_and_p99() or (None, None)
        return CameraSummary(
            name=name,
            state=state,
            why="" if state == "up" else status.error or self._node.why_nothing(name),
            last=tally.last,
            age_s=None if tally.last is None else max(0.0, at - tally.last.captured_at),
            fps=fps,
            median_s=median_s,
            p99_s=p99_s,
            right=share_right(tally.truth),
            captured=status.captured,
            predicted=status.predicted,
            reconnects=status.reconnects,
            dropped=status.dropped,
            dropping=dropping,
        )
