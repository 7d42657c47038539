"""A line an event, but no flood: what is said again and again is counted, and the count told once a minute."""

import copy
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

WINDOW_S = 60.0
SHOWN = 5  # times in a window: somebody who reads along sees that it goes on
KNOWN = 256  # different messages at a time

DURATION = re.compile(r"\d[\d.]*(?= m?s\b)")  # "again in 0.5 s" and "again in 1 s" say the same


@dataclass(slots=True)
class _Said:
    record: logging.LogRecord
    since_s: float
    times: int = 1

    @property
    def untold(self) -> int:
        return max(0, self.times - SHOWN)


class Sparing(logging.Handler):
    """Hands records on to `target`; the same message, whatever durations it names, `SHOWN` times in `WINDOW_S`.

    `clock`: seconds, monotonic. The count of what was left out is told with the first record after the window,
    or by `close`.
    """

    def __init__(self, target: logging.Handler, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._target = target
        self._clock = clock
        self._said: dict[tuple[str, int, str], _Said] = {}  # oldest first

    def emit(self, record: logging.LogRecord) -> None:
        """Show or count it."""
        now = self._clock()
        while self._said and (now - self._oldest().since_s >= WINDOW_S or len(self._said) >= KNOWN):
            self._close_oldest()
        key = (record.name, record.levelno, DURATION.sub("#", record.getMessage()))
        said = self._said.get(key)
        if said is None:
            self._said[key] = _Said(record, now)
        else:
            said.times += 1
        if said is None or said.times <= SHOWN:
            self._target.handle(record)

    def close(self) -> None:
        """Tell what has not been told."""
        while self._said:
            self._close_oldest()
        self._target.close()
        super().close()

    def _oldest(self) -> _Said:
        return next(iter(self._said.values()))

    def _close_oldest(self) -> None:
        said = self._said.pop(next(iter(self._said)))
        if said.untold:
            told = copy.copy(said.record)
            seconds = self._clock() - said.since_s
            again = f"repeated {said.untold} times in the last {seconds:.0f} s"
            told.msg, told.args, told.exc_info, told.exc_text = f"{told.getMessage()} … {again}", None, None, None
            self._target.handle(told)
