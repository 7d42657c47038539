"""A worker process that has loaded its program, and waits for the index of its worker.

It is started once a worker is suspected to hang, so that its replacement has half of its start done when that
worker is given up. It has opened no device, and ends if it is not needed.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

from edged.clock import NANOSECONDS
from edged.system.process_end import ON_REQUEST, PARENT

STDERR = 2
KEPT_NS = 5 * NANOSECONDS  # by then the suspicion was confirmed or not
PAUSE_NS = 10 * NANOSECONDS  # between two spares: a worker that is slow repeatedly must not cost one each time

Process = subprocess.Popen[bytes]


class Spare:
    """Keeps at most one spare, for the next worker that starts."""

    def __init__(self, command: Sequence[str], environment: Callable[[], Mapping[str, str]]) -> None:
        """`command`: of a worker, without its number."""
        self._command = (*command, ON_REQUEST)
        self._environment = environment
        self._process: Process | None = None
        self._leaving: list[Process] = []
        self._started_ns = -PAUSE_NS

    def prepare(self, now: int) -> None:
        """Start a spare, unless there is one. It does no harm if the system refuses it."""
        if self._process or now - self._started_ns < PAUSE_NS:
            return
        self._started_ns = now
        try:
            self._process = subprocess.Popen(
                self._command,
                env={**self._environment(), PARENT: str(os.getpid())},
                stdin=subprocess.PIPE,
                stdout=STDERR,
                start_new_session=True,
            )
        except OSError:
            return

    def take(self, index: str) -> Process | None:
        """Make the spare worker number `index`, and return its process; None if there is none."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return None
        try:
            with process.stdin as pipe:
                pipe.write(f"{index}\n".encode())
        except OSError:  # it has ended in the meantime
            self._leaving.append(process)
            return None
        return process

    def step(self, now: int) -> None:
        """End a spare that was not needed; reap those that have ended."""
        if self._process and now - self._started_ns >= KEPT_NS:
            self.dismiss()
        self._leaving = [process for process in self._leaving if process.poll() is None]

    def dismiss(self) -> None:
        """End the spare: it is not needed."""
        if process := self._process:
            self._process = None
            self._leaving.append(process)
            process.send_signal(signal.SIGKILL)
            if process.stdin:
                process.stdin.close()

    def close(self) -> None:
        """End the spare and wait for it, at the end of the hub."""
        self.dismiss()
        for process in self._leaving:
            process.wait()

    @property
    def next_ns(self) -> int | None:
        """Return when `step` must be called."""
        return self._started_ns + KEPT_NS if self._process else None
