"""The last events of a hub: what happened before a program came."""

from pathlib import Path

import zmq

from edged.client.replay import fetch_events, next_port
from edged.messages import Event
from edged.transport.client_socket import curve_of


def recent_events(
    address: str,
    *,
    replay: str | None = None,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> list[Event]:
    """Return the last 200 events of the hub that publishes at `address` since it was started, oldest first.

    Later events come by `listen`.

    Args:
        address: the hub's publish.address, as in `tcp://127.0.0.1:5570`.
        replay: the hub's publish.replay; default: the next port.
        key: our secret, as for `subscribe`.
        server_key: the hub's public key, as for `subscribe`.

    Raises:
        ConfigError: a key file that cannot be used.
        TimeoutError: no hub answers.
        ConnectionError: the hub closed the connection.
        MessageError: the answer cannot be read: another version of edged?
    """
    curve = curve_of(key, server_key)
    with zmq.Context() as context:
        fetching = fetch_events(context, replay or next_port(address), curve)
        while True:
            try:
                next(fetching)
            except StopIteration as done:
                events: list[Event] = done.value
                return events
