"""What every test may need: waiting for a condition, something that goes on beside it, and a free port."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from random import SystemRandom
from typing import TypeVar

LIMIT_S = 60.0  # of every wait whose end is not itself a promise: only a fault takes so long, a busy machine never
LIMIT_MS = round(1000 * LIMIT_S)  # as ZeroMQ counts
TURN_S = 0.05  # of a loop that looks again and again until what it waits for is there
TURN_MS = round(1000 * TURN_S)
SILENCE_S = 0.25  # of listening to show that nothing comes: shorter proves less, and never fails a test
SILENCE_MS = round(1000 * SILENCE_S)

T = TypeVar("T")


def eventually(condition: Callable[[], T], within_s: float = LIMIT_S) -> T:
    """The first truthy value of `condition`, asked again and again; fails the test after `within_s`."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not true within {within_s} s: {condition}, last value {value!r}"
        time.sleep(0.005)
    return value


PORTS = range(20_000, 32_000)  # Ray takes those from 10002 to 19999 for its workers
BLOCK = 300


@cache
def _ports() -> Iterator[int]:
    """Yield the ports of this process again and again, in an order of chance.

    A process claims a whole block by holding its first port until it ends, so that neither another process of the
    same run nor another checkout that is tested at the same time gives out the same ones.
    """
    blocks = SystemRandom().sample(PORTS[::BLOCK], len(PORTS) // BLOCK)
    first = next((port for port in blocks if _claim(port)), None)
    assert first is not None, f"all blocks of ports from {PORTS.start} to {PORTS.stop} are in use"
    return cycle(SystemRandom().sample(range(first + 1, first + BLOCK), BLOCK - 1))


_claims: list[socket.socket] = []  # held until the process ends


def _claim(port: int) -> bool:
    claim = socket.socket()
    try:
        claim.bind(("127.0.0.1", port))
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listened on a moment ago. All others come before it comes again.

    None of those that Linux gives to outgoing connections: one might take it before the listener that it is for.
    """
    return next(port for port in _ports() if _is_free(port))


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
