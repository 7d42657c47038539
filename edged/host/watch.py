"""The state of this machine, read now and then in a thread: the driver of a sensor may block for ever."""

import contextlib
import threading
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Literal

from edged.host.frequency import frequencies
from edged.host.temperature import temperatures
from edged.messages import HostState
from edged.messages.host import MOST

READ_S = 5.0


def start_thread(name: Literal["host"], run: Callable[[], None]) -> threading.Thread:
    """Run in a thread of that name, which keeps no process alive."""
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


class HostWatch:
    """Reads at once, and then every `every_s`. Where a machine shows nothing, there is no news."""

    def __init__(
        self,
        root: Path = Path("/sys"),
        every_s: float = READ_S,
        start: Callable[[Literal["host"], Callable[[], None]], threading.Thread] = start_thread,
    ) -> None:
        """`start`: starts the thread; whoever gives another one can look after it."""
        self._root = root
        self._every_s = every_s
        self._news: HostState | None = None
        self._stopped = threading.Event()
        start("host", self._run)

    def news(self) -> HostState | None:
        """What was read since the call before, once."""
        news, self._news = self._news, None
        return news

    def stop(self) -> None:
        """Read no more; a driver that blocks is not waited for."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(OSError):  # a device that goes while its files are looked for
                state = read(self._root)
                self._news = state if state.celsius or state.frequencies else None
            self._stopped.wait(self._every_s)


def read(root: Path) -> HostState:
    """The first sensors and domains below `root`, as many as are told. Raises OSError."""
    return HostState(
        celsius=dict(islice(temperatures(root).items(), MOST)),
        frequencies=dict(islice(frequencies(root).items(), MOST)),
    )
