"""Subscriptions, each in a thread, that pass messages to a watcher."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import zmq

from edged.client.replay import fetch_events
from edged.client.stream import PredictionStream
from edged.client.subscription import Subscription
from edged.errors import MessageError
from edged.messages import SNAPSHOTS
from edged.transport.client_socket import Context, Curve
from edged.view.watcher import HOUR_S, Watcher

WAIT_MS = 100
AGAIN_S = 5.0  # after a request for events that failed


@contextmanager
def listening(watcher: Watcher, curve: Curve | None = None) -> Iterator[None]:
    """Listen until the end of the block. `curve`: our keys, if any."""
    context: Context = zmq.Context()
    stopped = threading.Event()
    threads = [
        threading.Thread(target=tell, args=(watcher, context, curve, stopped), name=tell.__name__, daemon=True)
        for tell in (_listen, _look, _recall)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
        context.term()


def _listen(watcher: Watcher, context: Context, curve: Curve | None, stopped: threading.Event) -> None:
    subscription = Subscription(context, watcher.address, curve=curve)
    while not stopped.is_set():
        if heard := subscription.receive(WAIT_MS):
            watcher.add(heard, time.monotonic())
        watcher.refusal = subscription.refusal
    subscription.close()


def _look(watcher: Watcher, context: Context, curve: Curve | None, stopped: threading.Event) -> None:
    subscription = Subscription(context, watcher.address, topic=SNAPSHOTS, curve=curve)
    while not stopped.is_set():
        if picture := subscription.receive_picture(WAIT_MS):
            watcher.add_picture(picture, time.monotonic())
    subscription.close()


def _recall(watcher: Watcher, context: Context, curve: Curve | None, stopped: threading.Event) -> None:
    """Fetch the last hour from the journal, then follow the stream without gaps; fetch events that were missed."""
    stream = PredictionStream(context, watcher.address, since_s=HOUR_S, curve=curve)
    again_s = 0.0
    for arrival in stream.arrivals():
        if stopped.is_set():
            break
        if arrival:
            watcher.add_past(arrival.prediction)
        elif watcher.lacks_events and time.monotonic() >= again_s:
            again_s = time.monotonic() + AGAIN_S
            _recall_events(watcher, context, stream.replay, curve, stopped)
    stream.close()


def _recall_events(
    watcher: Watcher, context: Context, replay: str, curve: Curve | None, stopped: threading.Event
) -> None:
    fetching = fetch_events(context, replay, curve)
    try:
        while not stopped.is_set():
            next(fetching)
    except StopIteration as done:
        watcher.add_earlier(done.value)
    except (TimeoutError, ConnectionError, MessageError):
        pass  # a hub of another version, or one that has just gone: the events from now on are shown
    finally:
        fetching.close()
