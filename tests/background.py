"""Something that goes on beside a test."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
