"""The last events of a hub: what happened before a program came."""

import time
from pathlib import Path

import zmq

from edged.client.replay import fetch_events, same_host
from edged.client.subscription import Subscription
from edged.messages import Event, Status
from edged.transport.client_socket import Context, Curve, curve_of

TICK_MS = 100


def recent_events(
    address: str,
    *,
    replay: str | None = None,
    timeout_s: float = 10.0,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> list[Event]:
    """Return the last 200 events of the hub that publishes at `address` since it was started, oldest first.

    Later events come by `listen`.

    Args:
        address: the hub's publish.address, as in `tcp://127.0.0.1:5570`.
        replay: the hub's publish.replay; default: the hub's next status tells it, within a second.
        timeout_s: how long to wait for that status.
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
        fetching = fetch_events(context, replay or _announced(context, address, curve, timeout_s), curve)
        while True:
            try:
                next(fetching)
            except StopIteration as done:
                events: list[Event] = done.value
                return events


def _announced(context: Context, address: str, curve: Curve | None, timeout_s: float) -> str:
    """Return the address of the replay, as the hub's next status tells it. Raises TimeoutError."""
    subscription = Subscription(context, address, curve=curve)
    begun_s = time.monotonic()
    try:
        while time.monotonic() - begun_s < timeout_s:
            heard = subscription.receive(TICK_MS)
            if isinstance(heard, Status):
                return same_host(address, heard.replay)
    finally:
        subscription.close()
    raise TimeoutError(f"no status from {address} within {timeout_s:g} s")
