"""What every test may need: waiting for a condition, something that goes on beside it, and a free port."""

import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def eventually(condition: Callable[[], T], within_s: float = 60.0) -> T:
    """The first truthy value of `condition`, asked again and again; fails the test after `within_s`."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not true within {within_s} s: {condition}, last value {value!r}"
        time.sleep(0.005)
    return value


PORTS = range(20_000, 32_000)  # Ray takes those from 10002 to 19999 for its workers
_given: set[int] = set()


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listened on a moment ago, and that this process is given once.

    None of those that Linux gives to outgoing connections: one might take it before the listener that it is for.
    """
    while True:
        port = PORTS[secrets.randbelow(len(PORTS))]
        if port not in _given and _is_free(port):
            _given.add(port)
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """`work` runs in a thread of its own, until the event that it is given is set; its end is waited for."""
    stopped = threading.Event()
    thread = threading.Thread(target=work, args=(stopped,))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
