"""Run work that may block for ever, such as reading a file whose driver does not answer, with a time limit."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

BOUND_S = 0.5  # a counter needs a millisecond, a shared bus a few; the rest is margin

T = TypeVar("T")


def bounded(work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises.

    Raises TimeoutError after `BOUND_S`; `work` is then left running in its thread.
    """
    done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except Exception as error:
            done.put((None, error))

    threading.Thread(target=run, name="bounded", daemon=True).start()
    try:
        result, error = done.get(timeout=BOUND_S)
    except Empty:
        raise TimeoutError(f"no answer within {BOUND_S:g} s: its driver blocks") from None
    if error:
        raise error
    return result  # type: ignore[return-value]  # None where `work` returns None
