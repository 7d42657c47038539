"""A camera's or worker's end of the link to its hub: one way for a hub of this host, another for other hosts."""

from collections.abc import Sequence
from typing import Protocol

import zmq

from edged.messages import LinkMessage
from edged.transport.address import is_private_link
from edged.transport.client_socket import Curve
from edged.transport.unix_hub_link import UnixHubLink
from edged.transport.zmq_hub_link import ZmqHubLink


class HubLink(Protocol):
    """What both ways have: see `UnixHubLink` and `ZmqHubLink`."""

    same_host: bool

    def watch(self, descriptor: int | zmq.Socket[bytes]) -> None: ...
    def unwatch(self, descriptor: int) -> None: ...
    def wait(self, within_s: float) -> bool: ...
    def has_joined(self) -> bool: ...
    def send(self, message: LinkMessage, payloads: Sequence[bytes | memoryview] = ()) -> bool: ...
    def has_room(self, within_s: float = 0.0) -> bool: ...
    def receive(self) -> Sequence[bytes | memoryview] | None: ...
    def stop_requests(self) -> None: ...
    def close(self) -> None: ...


def open_hub_link(
    peer: str,
    address: str,
    *,
    queued: int,
    buffered: int = -1,
    linger_s: float = 0.0,
    curve: Curve | None = None,
) -> HubLink:
    """Return the link of the peer `camera/NAME` or `worker/NAME` to the hub at `address`.

    `queued`: messages that may wait to be sent; `buffered`: bytes that may wait in the kernel on their way to
    another host, −1: its default; `linger_s`: how long `close` waits for messages to be sent.
    """
    if is_private_link(address):
        return UnixHubLink(peer, address, queued=queued, linger_s=linger_s)
    return ZmqHubLink(peer, address, queued=queued, buffered=buffered, linger_s=linger_s, curve=curve)
