"""Which camera processes have fallen silent: held up in a driver, they cannot say so themselves.

Such a one may be busy with a network camera that is slow to open, a driver or a disk, and has time. One that is
stopped by a signal is killed earlier (see `children.child`).
"""

from collections.abc import Mapping

from edged.clock import NANOSECONDS

SILENT_NS = 5 * NANOSECONDS // 2  # a camera speaks each second, and a read that gives nothing takes 2 s
HUNG_NS = 10 * NANOSECONDS  # opening a network camera may take 7 s
STARTING_NS = 30 * NANOSECONDS  # from an SD card that is busy; twice as long after each start in vain
LONGEST_START = 16


class Vigil:
    """When each camera was heard last. Times are nanoseconds of one monotonic clock, given by the caller."""

    def __init__(self) -> None:
        self._heard_ns: dict[str, int] = {}
        self._silent: set[str] = set()
        self._look_ns: int | None = (
            None  # before this nobody can have fallen silent: no need to look at all each turn
        )
        self._patience: dict[str, int] = {}  # how many times STARTING_NS a start may take

    def heard(self, name: str, now_ns: int) -> None:
        """It has said something."""
        self._heard_ns[name] = now_ns
        self._silent.discard(name)
        self._patience.pop(name, None)
        if self._look_ns is None:
            self._look_ns = now_ns + SILENT_NS

    def stood_still(self, paused_ns: int) -> None:
        """The hub itself could hear nobody for so long: that is no silence of theirs."""
        self._heard_ns = {name: heard + paused_ns for name, heard in self._heard_ns.items()}
        if self._look_ns is not None:
            self._look_ns += paused_ns

    def left(self, name: str) -> None:
        """Its process has ended: nothing is expected of it."""
        if self._heard_ns.pop(name, None) is None:
            self._patience[name] = min(2 * self._patience.get(name, 1), LONGEST_START)
        self._silent.discard(name)

    def fallen_silent(self, now_ns: int) -> list[str]:
        """The cameras that have said nothing for `SILENT_NS`; each is told once, until it is heard again."""
        if self._look_ns is None or now_ns < self._look_ns:
            return []
        speaking = {name: heard for name, heard in self._heard_ns.items() if name not in self._silent}
        news = [name for name, heard in speaking.items() if now_ns - heard >= SILENT_NS]
        self._silent.update(news)
        self._look_ns = min((speaking[name] + SILENT_NS for name in speaking.keys() - news), default=None)
        return news

    def hung(self, now_ns: int, started_ns: Mapping[str, int]) -> list[str]:
        """Those of the running processes, by the time of their start, that are to be killed."""
        return [name for name, started in started_ns.items() if now_ns >= self._hangs_ns(name, started)]

    def next_ns(self) -> int | None:
        """When `fallen_silent` is to be asked next; it may have nothing to say."""
        return self._look_ns

    def _hangs_ns(self, name: str, started_ns: int) -> int:
        heard_ns = self._heard_ns.get(name, 0)
        return (
            heard_ns + HUNG_NS if heard_ns > started_ns else started_ns + self._patience.get(name, 1) * STARTING_NS
        )
