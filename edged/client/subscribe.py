"""Iterate over the predictions of a hub, or over everything that it publishes."""

import math
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import zmq

from edged.client.stream import PredictionStream
from edged.client.subscription import Arrival, SnapshotPicture, Subscription
from edged.messages import Event, Prediction, Status
from edged.transport.client_socket import curve_of

TICK_MS = 100

Published = Prediction | Event | Status | SnapshotPicture
T = TypeVar("T")


def listen(
    address: str,
    *,
    node: str | None = None,
    snapshots: bool = False,
    timeout_s: float | None = None,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> Iterator[Published]:
    """Yield each message that a hub publishes at `address`, in the order of arrival.

    For displays: what is missed by an interruption or by slow reading is not fetched. `subscribe` yields every
    prediction.

    Args:
        address: the hub's publish.address, as in `tcp://127.0.0.1:5570`.
        node: only this node, where several publish at one address.
        snapshots: yield the pictures of cameras that have `snapshot`, too.
        timeout_s: raise TimeoutError where no message comes for so long; default: wait for ever.
        key: our secret, as for `subscribe`.
        server_key: the hub's public key, as for `subscribe`.

    Raises:
        ConfigError: a key file that cannot be used.
        TimeoutError: see `timeout_s`.
    """
    messages = messages_or_none(address, node=node, snapshots=snapshots, key=key, server_key=server_key)
    return _each_in_time(messages, f"message from {address}", timeout_s)


def messages_or_none(
    address: str,
    *,
    node: str | None = None,
    snapshots: bool = False,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> Generator[Published | None, None, None]:
    """Yield messages for ever, and None from time to time while there are none. Raises ConfigError."""
    curve = curve_of(key, server_key)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    part = f"{node}/" if node else ""
    subscription = Subscription(context, address, topic=f"edged/{part}", curve=curve)
    if snapshots:
        subscription.add(f"snapshot/{part}")
    try:
        while True:
            message = subscription.receive_any(TICK_MS)
            yield message.prediction if isinstance(message, Arrival) else message
    finally:
        subscription.close()
        context.term()


def subscribe(
    address: str,
    *,
    replay: str | None = None,
    node: str | None = None,
    camera: str | None = None,
    since_s: float | None = None,
    timeout_s: float | None = None,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> Iterator[Prediction]:
    """Yield each prediction that a hub publishes at `address` from now on, exactly once and in order.

    It waits for a hub that is not running yet, reconnects after an interruption, and fetches missed predictions.

    Args:
        address: the hub's publish.address, as in `tcp://127.0.0.1:5570`.
        replay: the hub's publish.replay; default: the hub tells it.
        node: only this node, where several publish at one address.
        camera: only this camera.
        since_s: begin with what was published so many seconds ago, as far as the hub's journal holds it.
        timeout_s: raise TimeoutError where no prediction comes for so long; default: wait for ever.
        key: our secret, NAME.key of `edged keys new NAME`; its NAME.pub is in the hub's `security.allow`.
        server_key: the hub's public key, its .pub. Both are needed where the hub has a section `security`.

    Raises:
        ConfigError: a key file that cannot be used.
        TimeoutError: see `timeout_s`.
    """
    predictions = predictions_or_none(
        address, replay=replay, node=node, camera=camera, since_s=since_s, key=key, server_key=server_key
    )
    return _each_in_time(predictions, f"prediction from {address}", timeout_s)


def predictions_or_none(
    address: str,
    *,
    replay: str | None = None,
    node: str | None = None,
    camera: str | None = None,
    since_s: float | None = None,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> Generator[Prediction | None, None, None]:
    """Yield predictions for ever, and None from time to time while there are none. Raises ConfigError."""
    curve = curve_of(key, server_key)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    stream = PredictionStream(context, address, replay=replay, node=node, since_s=since_s, curve=curve)
    try:
        for arrival in stream.arrivals():
            is_wanted = arrival is not None and camera in {None, arrival.prediction.camera}
            yield arrival.prediction if arrival and is_wanted else None
    finally:
        stream.close()
        context.term()


def _each_in_time(
    messages: Generator[T | None, None, None], awaited: str, timeout_s: float | None
) -> Generator[T, None, None]:
    """Yield each message and close `messages` at the end. Raises TimeoutError after `timeout_s` without one."""
    last, most_s = time.monotonic(), math.inf if timeout_s is None else timeout_s
    with closing(messages):
        for message in messages:
            if message is not None:
                yield message
                last = time.monotonic()
            elif time.monotonic() - last > most_s:
                raise TimeoutError(f"no {awaited} within {timeout_s:g} s")
