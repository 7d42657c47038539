"""A session of one client with the hub, such as a recording: who it is, and whether it is still there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from edged.clock import NANOSECONDS, now_ns
from edged.hub.frames.queues import Pixels
from edged.hub.links.peers import Links
from edged.messages import LinkMessage

GONE_NS = 3 * NANOSECONDS  # a client that receives nothing for so long is considered dead


@dataclass(eq=False, kw_only=True)
class ClientSession:
    """One client, a peer of the hub's links. Times are nanoseconds of one clock.

    until_ns: when the requested time is over. received_ns: when the client last received something.
    """

    client: str
    until_ns: int
    received_ns: int = field(default_factory=now_ns)

    def send(self, links: Links, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        """Send a message; False if the client has no room for it."""
        is_sent = links.send(self.client, message, payloads)
        if is_sent:
            self.received_ns = now_ns()
        return is_sent

    def is_gone(self, now: int) -> bool:
        """Return whether the client has received nothing for too long."""
        return now - self.received_ns > GONE_NS

    def refusal(self, now: int) -> str:
        """Return why another client has to wait."""
        verb, _, pid = self.client.partition("/")
        left_s = max(0, self.until_ns - now) / 1e9
        return f"another `edged {verb}` (process {pid}) is active for up to {left_s:.0f} s; one session at a time"
