"""`python -m trials.soak.crowd KIND COUNT HUB`: many subscribers in one process, until its standard input ends.

KIND: `catch_up`, `leave`, `never_read`, `flood`, `rise`. HUB: JSON with the addresses `publish` and `replay`, the
files `key` and `server_key`, and the numbers `first_seq` and `last_seq` to ask for. It says `ready` once all have
begun, then `done` unless it stays until its standard input ends.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import zmq

from edged.messages import ReplayAnswer, ReplayFailure, ReplayRequest
from edged.transport.client_socket import Curve, connect, curve_of, unconnected

QUEUED = 2
AGAIN_S = 2.0  # without an answer: then it is asked for again, as a client does
STAY_S = (0.005, 0.010)
ROUNDS = 3
REQUESTS = 20
TOPICS, FEW = 3000, 50
FAILURE = msgspec.json.encode(ReplayFailure())

Context = zmq.Context[zmq.Socket[bytes]]
Hub = dict[str, Any]


class CatchingUp:
    """One that wants all of a range, page by page."""

    def __init__(self, context: Context, hub: Hub, curve: Curve | None) -> None:
        self._next, self._last = hub["first_seq"], hub["last_seq"]
        self.socket = connect(context, zmq.DEALER, hub["replay"], QUEUED, curve)
        self.is_done = False
        self._asked_at = 0.0

    def ask(self) -> None:
        """Unless an answer is still to come."""
        if not self.is_done and time.monotonic() - self._asked_at > AGAIN_S:
            request = ReplayRequest(first_seq=self._next, last_seq=self._last)
            self.socket.send(msgspec.json.encode(request), zmq.NOBLOCK)
            self._asked_at = time.monotonic()

    def take(self) -> None:
        """Take an answer; after a failure, the journal cannot be read now, `ask` repeats the request."""
        header, *_ = self.socket.recv_multipart()
        if header == FAILURE:
            return
        answer = msgspec.json.decode(header, type=ReplayAnswer)
        self._next = answer.next_seq
        self.is_done = answer.next_seq is None
        self._asked_at = 0.0


def catch_up(context: Context, count: int, hub: Hub, curve: Curve | None) -> None:
    """All at once; done once each has everything."""
    peers = [CatchingUp(context, hub, curve) for _ in range(count)]
    by_socket = {peer.socket: peer for peer in peers}
    poller = zmq.Poller()
    for peer in peers:
        poller.register(peer.socket, zmq.POLLIN)
    print("ready", flush=True)
    while not all(peer.is_done for peer in peers):
        for peer in peers:
            peer.ask()
        for socket, _ in poller.poll(100):
            by_socket[socket].take()


def leave(context: Context, count: int, hub: Hub, curve: Curve | None) -> None:
    """Ask for much and go before the answer, some rounds of it."""
    print("ready", flush=True)
    request = msgspec.json.encode(ReplayRequest(first_seq=hub["first_seq"]))
    for _ in range(ROUNDS):
        peers = [connect(context, zmq.DEALER, hub["replay"], QUEUED, curve) for _ in range(count)]
        for peer in peers:
            peer.send(request)
        time.sleep(0.1)  # a handshake takes this long: what follows is short
        for peer in peers:
            time.sleep(random.uniform(*STAY_S))  # noqa: S311
            peer.close(linger=0)


def never_read(context: Context, count: int, hub: Hub, curve: Curve | None) -> None:
    """Subscribe to all, ask for much, take nothing."""
    request = msgspec.json.encode(ReplayRequest(first_seq=hub["first_seq"]))
    subscribers = [connect(context, zmq.SUB, hub["publish"], 1, curve) for _ in range(count)]
    askers = [connect(context, zmq.DEALER, hub["replay"], REQUESTS, curve) for _ in range(count)]
    for subscriber, asker in zip(subscribers, askers, strict=True):
        subscriber.subscribe("")
        for _ in range(REQUESTS):
            asker.send(request)
    print("ready", flush=True)
    sys.stdin.read()


def flood(context: Context, count: int, hub: Hub, curve: Curve | None, topics: int = TOPICS) -> None:
    """Each subscribes to many short topics, which are few bytes, and others than those of the next one.

    Does not end: one that is disconnected connects again and subscribes to all of them once more, in `poll`.
    """
    sockets = [unconnected(context, zmq.SUB, hub["publish"], 1, curve) for _ in range(count)]
    poller = zmq.Poller()
    for socket in sockets:
        for _ in range(topics):
            socket.subscribe(random.randbytes(3))  # noqa: S311
        socket.connect(hub["publish"])
        poller.register(socket, zmq.POLLIN)
    poller.register(sys.stdin, zmq.POLLIN)
    print("ready", flush=True)
    while sys.stdin.fileno() not in (ready := dict(poller.poll())):
        for each in ready:
            each.recv_multipart()


KINDS: dict[str, Callable[[Context, int, Hub, Curve | None], None]] = {
    "catch_up": catch_up,
    "leave": leave,
    "never_read": never_read,
    "flood": flood,
    "rise": partial(flood, topics=FEW),
}


def main(kind: str, count: str, description: str) -> None:
    hub = json.loads(description)
    context: Context = zmq.Context()
    context.set(zmq.MAX_SOCKETS, 4 * int(count) + 100)
    KINDS[kind](context, int(count), hub, curve_of(hub["key"], hub["server_key"]))
    print("done", flush=True)
    sys.stdin.read()
    context.destroy(linger=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
