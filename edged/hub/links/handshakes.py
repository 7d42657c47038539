"""How fast new peers of an endpoint are admitted.

libzmq adds the topics of a new subscriber before the guard can see how many bytes they are, and removes those of
one that leaves by a walk over the topics of all others. 150 subscribers that connect together with thousands of
topics each, are disconnected and connect again held up everybody's stream for 10 s. libzmq has no bound for that;
if few are admitted between two checks of the guard, and none while it still adds topics, they are disconnected
before the next ones cost anything.

A peer may also be admitted, wait, and send its topics later, together with all others that waited. So while there
is such a crowd, few are admitted that have not subscribed to anything; for others that wait, those that still have
not are disconnected.
"""

import math
import time
from collections import deque
from collections.abc import Sequence

from edged.hub.links.connection import PLAIN, Handshake

EACH_CHECK = 8  # peers
EACH_CHECK_OF_A_CROWD = 1  # after one was disconnected because it sent too much
MOST_SILENT = 8  # peers of a crowd that are admitted and have not subscribed yet
SILENT_S = 1.0  # seconds after which such a peer is disconnected, if others wait
CROWD_S = 10.0  # seconds for which such a disconnection counts
PATIENCE_S = 1.8  # by then libzmq has ended the handshake: see HANDSHAKE_IVL in `sockets`

Answer = Sequence[bytes]  # to a request of libzmq whether a peer is admitted


class HandshakePace:
    """Holds back the answers that admit peers; first come, first served."""

    def __init__(self, handshake: Handshake = PLAIN) -> None:
        self.handshake = handshake
        self._silent = 0
        self._waiting: deque[tuple[float, Answer]] = deque()
        self._admitted = 0  # since the last check
        self._crowd_until_s = 0.0

    def add(self, answer: Answer) -> None:
        """Queue an answer that admits a peer."""
        self._waiting.append((time.monotonic(), answer))

    def slow_down(self) -> None:
        """Admit fewer for a while: a peer was disconnected because it sent too much."""
        self._crowd_until_s = time.monotonic() + CROWD_S

    @property
    def is_crowded(self) -> bool:
        """Return whether peers of a crowd wait to be admitted."""
        return bool(self._waiting) and self._is_crowd(time.monotonic())

    def checked(self, silent: int) -> None:
        """Admit the next ones: all connections were checked, and so many of them have not subscribed yet."""
        self._admitted, self._silent = 0, silent

    def due(self) -> Answer | None:
        """Return the next answer if it may be given now. Those for peers that have gone are dropped."""
        now_s = time.monotonic()
        while self._waiting and now_s - self._waiting[0][0] > PATIENCE_S:
            self._waiting.popleft()
        if not self._waiting or self._admitted >= self._most(now_s):
            return None
        self._admitted += 1
        return self._waiting.popleft()[1]

    def due_s(self) -> float:
        """Return 0 if an answer may be given now; infinity if none waits, or not before the next check."""
        return 0.0 if self._waiting and self._admitted < self._most(time.monotonic()) else math.inf

    def _most(self, now_s: float) -> int:
        if self._is_crowd(now_s):
            return min(EACH_CHECK_OF_A_CROWD, MOST_SILENT - self._silent)
        return EACH_CHECK

    def _is_crowd(self, now_s: float) -> bool:
        return now_s < self._crowd_until_s
