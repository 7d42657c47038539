"""Two subscriptions, each in a thread, that pass messages to a watcher."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import zmq

from edged.client.subscription import Subscription
from edged.messages import SNAPSHOTS
from edged.transport.client_socket import Context, Curve
from edged.view.watcher import Watcher

WAIT_MS = 100


@contextmanager
def listening(watcher: Watcher, curve: Curve | None = None) -> Iterator[None]:
    """Listen until the end of the block. `curve`: our keys, if any."""
    context: Context = zmq.Context()
    stopped = threading.Event()
    threads = [
        threading.Thread(target=tell, args=(watcher, context, curve, stopped), name=tell.__name__, daemon=True)
        for tell in (_listen, _look)
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
