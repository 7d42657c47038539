"""A child process of the hub: start, exit code, out-of-memory kills, and restarts with a pause."""

import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from edged.clock import nanoseconds, now_ns, seconds_since
from edged.errors import OUT_OF_MEMORY
from edged.system.backoff import Backoff
from edged.system.exclusive_lock import state_of
from edged.system.process_end import NOT_STARTED, PARENT

GROUPS = Path("/sys/fs/cgroup")


def own_group() -> Path:
    """Return the folder of this process's control group (version 2); the root group's if it is in none."""
    own = Path("/proc/self/cgroup")
    groups = own.read_text().splitlines() if own.exists() else []
    return next((GROUPS / line[len("0::/") :] for line in groups if line.startswith("0::/")), GROUPS)


class OomKills:
    """Counts the kernel's out-of-memory kills in one control group; without one they are never detected."""

    def __init__(self, group: Path) -> None:
        """`group`: the folder with `memory.events`."""
        self._events = group / "memory.events"
        self._claimed = self._count()

    def claim(self) -> bool:
        """Return whether there is a kill that was not claimed yet.

        The kernel counts it before the process ends.
        """
        if self._count() <= self._claimed:
            return False
        self._claimed += 1
        return True

    def _count(self) -> int:
        try:
            events = dict(line.split() for line in self._events.read_text().splitlines())
        except OSError:
            return 0
        return int(events.get("oom_kill", 0))


HEALTHY_S = 10.0


class Pauses:
    """Pauses before restarts of a child: none at first, then longer ones, until it has lived for `HEALTHY_S`."""

    def __init__(self) -> None:
        self._backoff = Backoff(chance=lambda: 0.0)  # one hub has few children
        self._healthy = True

    def wait_s(self, lived_s: float) -> float:
        """Return seconds to wait after the death of a child that has lived so long."""
        if lived_s >= HEALTHY_S:
            self._backoff.succeeded()
            self._healthy = True
        wait_s = 0.0 if self._healthy else self._backoff.failed()
        self._healthy = False
        return wait_s


class Budget:
    """Limits losses: used up after so many within so many seconds."""

    def __init__(self, losses: int, within_s: float) -> None:
        self._losses: deque[float] = deque(maxlen=losses)
        self._most = losses
        self._within_s = within_s

    def lost(self, now_s: float) -> bool:
        """Count a loss; return whether it exceeds the limit."""
        self._losses.append(now_s)
        return len(self._losses) == self._most and now_s - self._losses[0] <= self._within_s


STDERR = 2
STOPPED_S = 0.5  # of SIGSTOP, before the child is killed: the stop may be intended

oom_kills = OomKills(own_group())


class Child:
    """A camera or worker process in its own session, so that Ctrl-C reaches the hub alone.

    It is started when `due`, and ends with the hub (see `edged.system.process_end`).
    """

    def __init__(
        self,
        peer: str,
        command: Sequence[str],
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        take_spare: Callable[[], subprocess.Popen[bytes] | None] = lambda: None,
    ) -> None:
        """`peer`: its name on the link; `command`: program and arguments; `environment`: read at each start.

        `take_spare`: returns a waiting process that can become this one, or None.
        """
        self.peer = peer
        self._command = command
        self._environment = environment
        self._take_spare = take_spare
        self._process: subprocess.Popen[bytes] | None = None
        self._pauses = Pauses()
        self._start_error: int | None = None
        self._stopped_ns: int | None = None  # when that state was first seen
        self.started_ns = 0
        self.due_ns: int | None = now_ns()

    @property
    def running(self) -> bool:
        """Return whether there is a process, alive or not yet reaped."""
        return self._process is not None

    @property
    def next_step_ns(self) -> int | None:
        """Return when it must be started, or checked again because it is stopped."""
        return self.due_ns if self._stopped_ns is None else self._stopped_ns + nanoseconds(STOPPED_S)

    @property
    def is_in_the_kernel(self) -> bool:
        """Return whether a driver or a disk blocks one of its threads (state D), which no signal ends."""
        if self._process is None:
            return False
        pid = self._process.pid
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            return False
        return any(state_of(pid, thread) == "D" for thread in threads)

    def has_stood_still(self, now: int) -> bool:
        """Return whether a signal (SIGSTOP) has stopped it for `STOPPED_S`: it sends and receives nothing.

        The kernel reports the stop at once (SIGCHLD), so `now` is a moment after it at first.
        """
        if self._process is None or state_of(self._process.pid) != "T":
            self._stopped_ns = None
            return False
        self._stopped_ns = self._stopped_ns or now
        return now - self._stopped_ns >= nanoseconds(STOPPED_S)

    @property
    def age_s(self) -> float:
        """Return seconds since the last start."""
        return seconds_since(self.started_ns)

    def start_if_due(self, now: int) -> None:
        """Start the process if it is due. Sets `exit_code` if the system refuses it."""
        if self.due_ns is None or now < self.due_ns:
            return
        self.due_ns, self.started_ns = None, now
        try:
            self._process = self._take_spare() or subprocess.Popen(
                self._command,
                env={**self._environment(), PARENT: str(os.getpid())},
                stdin=subprocess.DEVNULL,
                stdout=STDERR,  # our own standard output is for the summary
                start_new_session=True,
            )
        except OSError as error:  # no more processes, memory or descriptors; or the program is being replaced
            self._start_error, self.due_ns = NOT_STARTED + (error.errno or 0), now

    def exit_code(self) -> int | None:
        """Return the code of a process that has just ended (negative: the signal), once; else None.

        `OUT_OF_MEMORY` also stands for a kill by the kernel; codes from `NOT_STARTED` on: it could not be started.
        """
        code, self._start_error = self._start_error, None
        code = self._process.poll() if self._process else code
        if code == -signal.SIGKILL and oom_kills.claim():
            code = OUT_OF_MEMORY
        if code is not None:
            self._process = self._stopped_ns = None
        return code

    def start_again(self) -> float:
        """Make it due after a pause; return the pause in seconds."""
        wait_s = self._pauses.wait_s(self.age_s)
        self.due_ns = now_ns() + nanoseconds(wait_s)
        return wait_s

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process, if there is one."""
        if self._process:
            self._process.send_signal(number)


def when(wait_s: float) -> str:
    """Describe a pause: `at once`, `in 0.5 s`."""
    return f"in {wait_s:g} s" if wait_s else "at once"
