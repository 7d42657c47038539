"""Stop the children in order, in well under two seconds."""

import logging
import signal
from collections.abc import Callable, Sequence

import zmq

from edged.clock import now_ns, seconds_since
from edged.hub.children.child import Child
from edged.hub.links.peers import Links
from edged.hub.links.received import Received
from edged.hub.signals import Signals
from edged.messages import Stop

PATIENCE = ((0.3, signal.SIGTERM), (1.2, signal.SIGKILL))  # seconds after Stop
GIVEN_UP_S = 1.7  # a process that is blocked in the kernel cannot be killed
FLUSH_MS = 30
FLUSH_S = 0.2  # in all: cameras of other hosts keep sending
MESSAGES_A_TURN = 256

log = logging.getLogger("edged.hub")


def stop_children(
    children: Sequence[Child], links: Links, signals: Signals, take: Callable[[Received], None]
) -> None:
    """Send Stop to all children, receive their last messages, and wait for their end.

    A second signal kills them at once.
    """
    for child in children:
        links.send(child.peer, Stop())
    poller = zmq.Poller()
    for socket in links.sockets:
        poller.register(socket, zmq.POLLIN)
    poller.register(signals.fileno(), zmq.POLLIN)
    start_ns, steps = now_ns(), list(PATIENCE)
    while left := [child for child in children if child.running and child.exit_code() is None]:
        if signals.stops > 1:
            _send(left, signal.SIGKILL)
        if steps and seconds_since(start_ns) > steps[0][0]:
            _send(left, steps.pop(0)[1])
        if seconds_since(start_ns) > GIVEN_UP_S:
            log.warning("%s cannot be killed: left to the system", ", ".join(child.peer for child in left))
            break
        poller.poll(20)
        signals.clear()
        _hear(links, take)
    ended_ns = now_ns()
    # messages that are still on their way
    while seconds_since(ended_ns) < FLUSH_S and links.wait(FLUSH_MS):
        _hear(links, take)


def _hear(links: Links, take: Callable[[Received], None]) -> None:
    for _ in range(MESSAGES_A_TURN):
        if received := links.receive():
            take(received)


def _send(children: Sequence[Child], number: signal.Signals) -> None:
    for child in children:
        child.signal(number)
