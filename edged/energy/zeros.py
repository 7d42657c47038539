"""Notice rails that read nothing but zero: a sensor that does not answer, or a supply that is off.

Either is no figure: "0 J" would be taken for a measured one.
"""

from collections.abc import Callable, Mapping

ZERO_S = 60.0  # a supply that is on draws something for longer than any counter's or sensor's resolution


class Zeros:
    """Watches for how long each rail has read exactly zero."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """clock: returns seconds."""
        self._clock = clock
        self._since_s: dict[str, float] = {}  # the first reading of zero without another number after it
        self._unread: set[str] = set()

    def leave_out(self, readings: Mapping[str, float]) -> dict[str, float]:
        """Return the readings without rails that have read nothing but zero for `ZERO_S`."""
        now_s = self._clock()
        for name, number in readings.items():
            if number:
                self._since_s.pop(name, None)
                self._unread.discard(name)
            elif now_s - self._since_s.setdefault(name, now_s) >= ZERO_S:
                self._unread.add(name)
        return {name: number for name, number in readings.items() if name not in self._unread}

    def problem_of(self, name: str) -> str:
        """Return what is wrong with a rail that is left out, and what to do; empty for another rail."""
        if name not in self._unread:
            return ""
        return (
            f"has read exactly 0 for {ZERO_S:g} s: its sensor does not answer (see the kernel's log for its "
            "driver), or its supply is off (then list the others in energy.rails)"
        )
