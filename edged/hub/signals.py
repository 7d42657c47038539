"""Turn SIGINT, SIGTERM, SIGHUP and SIGCHLD into a file descriptor to poll."""

import signal
import socket
from types import FrameType, TracebackType
from typing import Self

STOPPING = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """While entered, handlers only count; the poller wakes because `fileno` becomes readable."""

    def __init__(self) -> None:
        self.stops = 0
        self._reload = False

    def __enter__(self) -> Self:
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._before = {number: signal.signal(number, self._stop) for number in STOPPING}
        self._before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._hang_up)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _wake_only)
        self._wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # blocked since `edged run` began
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._read.close()
        self._write.close()

    def fileno(self) -> int:
        """Return a descriptor that is readable after a signal."""
        return self._read.fileno()

    def clear(self) -> None:
        """Read what signals have written, so that the descriptor is not readable until the next one."""
        try:
            while self._read.recv(64):
                pass
        except BlockingIOError:
            return

    def take_reload(self) -> bool:
        """Return whether a SIGHUP has come since the last call."""
        reload, self._reload = self._reload, False
        return reload

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        self._reload = True

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1


def _wake_only(number: int, frame: FrameType | None) -> None:
    """Only wake the loop, which then checks its children."""
