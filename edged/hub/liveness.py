"""Track when cameras and workers last sent a message, and which cameras are silent or hang.

A camera process that was stopped by a signal is killed as soon as it is silent: it cannot be busy. Any other may
be busy with a slow network camera, a driver or a disk, and has longer.
"""

from collections.abc import Mapping

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.hub.events import HubEvent
from edged.messages import USUAL_WAIT_S

# a camera sends each second, and a read without a picture takes USUAL_WAIT_S, or is reported
SILENT_NS = 5 * NANOSECONDS // 2
HUNG_NS = 10 * NANOSECONDS  # opening a network camera may take 7 s
USUAL_WAIT_NS = nanoseconds(USUAL_WAIT_S)
STARTING_NS = 30 * NANOSECONDS  # from a slow SD card; doubled after each failed start
LONGEST_START = 16
OWN_END = {"exit", "signal"}  # workers that ended by themselves, against those that the hub has killed


class Liveness:
    """Records signs of life. Times are nanoseconds of one monotonic clock."""

    def __init__(self) -> None:
        self.worker_heard_ns = self._begun_ns = now_ns()  # any worker
        self._heard_ns: dict[str, int] = {}  # by camera: its last message, or its own end
        self._longer_ns: dict[str, int] = {}  # how much longer than usual a camera may wait for a picture
        self._watched: set[str] = set()  # cameras that are expected to send
        self._silent: set[str] = set()
        self._given_up: set[str] = set()  # cameras that the hub kills
        self._look_ns: int | None = None  # no camera can be silent before
        self._patience: dict[str, int] = {}  # how many times STARTING_NS a start may take

    def worker_heard(self, now: int) -> None:
        """Record a message of a worker."""
        self.worker_heard_ns = now

    def camera_heard(self, name: str, now: int) -> None:
        """Record a message of a camera."""
        self._heard_ns[name] = now
        self._watched.add(name)
        self._silent.discard(name)
        self._patience.pop(name, None)
        if self._look_ns is None:
            self._look_ns = now + SILENT_NS

    def camera_waits(self, name: str, longest_wait_s: float) -> None:
        """Record how long a camera may wait for its next picture, and send nothing."""
        before_ns, longer_ns = self._longer_ns.get(name, 0), max(0, nanoseconds(longest_wait_s) - USUAL_WAIT_NS)
        self._longer_ns[name] = longer_ns
        if longer_ns < before_ns and self._look_ns is not None and name in self._watched:
            self._look_ns = min(self._look_ns, self._heard_ns[name] + SILENT_NS + longer_ns)

    def give_up(self, camera: str) -> None:
        """Record that the hub kills a camera that hangs: the end that follows is not its own."""
        self._given_up.add(camera)

    def child_ended(self, event: HubEvent, now: int) -> None:
        """Record that a process has ended. One that did so by itself says as much as a message."""
        if event.camera:
            if event.camera not in self._given_up:
                self._heard_ns[event.camera] = now
            self._given_up.discard(event.camera)
        if event.worker and event.reason in OWN_END:
            self.worker_heard_ns = now

    def camera_left(self, name: str) -> None:
        """Expect nothing of a camera whose process has ended."""
        if name not in self._watched:
            self._patience[name] = min(2 * self._patience.get(name, 1), LONGEST_START)
        self._watched.discard(name)
        self._silent.discard(name)

    def hub_paused(self, paused_ns: int) -> None:
        """Extend the limit of all cameras by a time in which the hub itself received nothing."""
        self._heard_ns = {name: heard + paused_ns for name, heard in self._heard_ns.items()}
        if self._look_ns is not None:
            self._look_ns += paused_ns

    def camera_heard_ns(self, name: str) -> int:
        """Return when a camera last sent a message; if it never did, when this hub began."""
        return self._heard_ns.get(name, self._begun_ns)

    def newly_silent(self, now: int) -> list[str]:
        """Return the cameras that have sent nothing for too long, each once until it sends again."""
        if self._look_ns is None or now < self._look_ns:
            return []
        silent_ns = {
            name: heard + SILENT_NS + self._longer_ns.get(name, 0)
            for name, heard in self._heard_ns.items()
            if name in self._watched and name not in self._silent
        }
        silent = [name for name, at_ns in silent_ns.items() if now >= at_ns]
        self._silent.update(silent)
        self._look_ns = min((silent_ns[name] for name in silent_ns.keys() - silent), default=None)
        return silent

    def hung(self, now: int, started_ns: Mapping[str, int]) -> list[str]:
        """Return the cameras to kill, of those whose process runs since `started_ns`."""
        return [name for name, started in started_ns.items() if now >= self._hangs_ns(name, started)]

    def next_silence_ns(self) -> int | None:
        """Return when `newly_silent` must be called next; None: not before a camera has sent a message."""
        return self._look_ns

    def _hangs_ns(self, name: str, started_ns: int) -> int:
        heard_ns = self._heard_ns[name] if name in self._watched else 0
        if heard_ns > started_ns:
            return heard_ns + HUNG_NS + 2 * self._longer_ns.get(name, 0)  # opening takes two steps
        return started_ns + self._patience.get(name, 1) * STARTING_NS
