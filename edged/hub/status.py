"""Report the state of the node: each second on the stream, and in lines for the terminal."""

from collections.abc import Callable

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.config import Config, PublishConfig
from edged.hub.node import Node
from edged.hub.pipeline import Publication
from edged.hub.publish.publisher import Publisher


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
        f"stream   {address} (edged subscribe{argument})",
        f"metrics  {scheme}://{config.metrics.address}/metrics",
        f"page     edged view{argument}" + (" (in a checkout: make view)" if not argument else ""),
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
