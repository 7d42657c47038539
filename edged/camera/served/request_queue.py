"""Requests that wait for a worker: the newest is sent first, since the oldest has the least time left."""

from collections import deque
from collections.abc import Iterator
from typing import Generic

from edged.camera.served.endpoint import R

MOST = 32  # more would only be late: the oldest is given up


class RequestQueue(Generic[R]):
    """At most `MOST` requests, oldest first."""

    def __init__(self) -> None:
        self._waiting: deque[R] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, request: R) -> R | None:
        """Add a request; return the oldest if there are too many."""
        self._waiting.append(request)
        return self._waiting.popleft() if len(self._waiting) > MOST else None

    def take_newest(self) -> R:
        """Take the request that came last."""
        return self._waiting.pop()

    def take_late(self, now_ns: int) -> Iterator[R]:
        """Take the requests whose answers are due."""
        while self._waiting and self._waiting[0].due_ns <= now_ns:
            yield self._waiting.popleft()

    def clear(self) -> Iterator[R]:
        """Take all requests."""
        while self._waiting:
            yield self._waiting.popleft()

    @property
    def due_ns(self) -> int | None:
        """Return when the next answer is due."""
        return self._waiting[0].due_ns if self._waiting else None
