"""Let Ctrl-C and SIGTERM wait while something is written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Handle SIGINT and SIGTERM after the block. Only the main thread is ever interrupted, so others need none.

    By handlers, not by a mask: the system gives a masked signal to another thread, such as one of an OpenCL
    runtime, and Python then runs the handler in the main thread all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def wait(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    before = {number: signal.signal(number, wait) for number in NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])
