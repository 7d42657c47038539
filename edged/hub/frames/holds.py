"""Hold cameras back that prepare more pictures than workers take.

To convert and scale a picture of 1920×1080 takes longer than to decode it (4.4 and 2.6 ms on an EPYC), and is
wasted where a newer one replaces the frame before a worker is free. While workers are never free, the hub knows
when a camera's turn comes again: after the others that wait and had no more turns. Until shortly before it the
camera prepares nothing; then it sends every picture, as always, so that the frame that is taken is as young as
without this.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from edged.clock import NANOSECONDS
from edged.messages import Frame

FEWEST = 10  # frames replaced within a second, from which cameras are held
LONGEST_NS = 5 * NANOSECONDS
PREPARING_NS = NANOSECONDS // 100  # from a picture until its frame is here
PICTURES = 1  # that comes between the end of a hold and the turn
SMOOTH = 0.1  # share of the newest of the times that are averaged
SHORTER = 0.9  # for each camera that was held for too long


@dataclass
class HeldCamera:
    """One camera. `until_ns`: end of its hold. `interval_ns`: from one of its pictures to the next, 0: unknown."""

    until_ns: int = 0
    interval_ns: float = 0.0
    captured_ns: int = 0
    captured: int = 0

    def sent(self, frame: Frame) -> None:
        """Record the newest frame."""
        if 0 < self.captured < frame.count.captured and frame.captured_ns > self.captured_ns:
            self.interval_ns = (frame.captured_ns - self.captured_ns) / (frame.count.captured - self.captured)
        self.captured_ns, self.captured = frame.captured_ns, frame.count.captured

    @property
    def lead_ns(self) -> float:
        """Return how long before its turn the hold ends."""
        return PICTURES * self.interval_ns + PREPARING_NS


class Holds:
    """Computes holds while `are_on`: from when many frames are replaced until a worker has nothing to do.

    Knows the cameras that can be held; others have their turns among them.
    """

    def __init__(self) -> None:
        self.are_on = False
        self._replaced, self._counted_ns = 0, 0
        self._cameras: dict[str, HeldCamera] = {}
        self._take_ns = 0.0  # from one taken frame to the next, averaged
        self._took_ns: int | None = None
        self.changed: dict[str, int] = {}  # ends of holds, to be sent; 0: the camera is not held any more

    def add(self, name: str) -> None:
        """Add a camera whose process has started; it is not held."""
        self._cameras[name] = HeldCamera()

    def remove(self, name: str) -> None:
        """Remove a camera, or one that cannot be held."""
        self._cameras.pop(name, None)
        self.changed.pop(name, None)

    def frame_replaced(self, now_ns: int) -> None:
        """Record that a frame took the place of one that waited."""
        if now_ns - self._counted_ns > NANOSECONDS:
            self._replaced, self._counted_ns = 0, now_ns
        self._replaced += 1
        self.are_on |= self._replaced >= FEWEST

    def frame_arrived(self, frame: Frame) -> None:
        """Record a frame."""
        if camera := self._cameras.get(frame.camera):
            camera.sent(frame)

    def is_held(self, name: str, now_ns: int) -> bool:
        """Return whether a camera is held."""
        camera = self._cameras.get(name)
        return camera is not None and camera.until_ns > now_ns

    def frames_taken(self, names: Sequence[str], waiting: Set[str], turns: Mapping[str, int], now_ns: int) -> None:
        """Record the cameras of the frames that a worker has taken; of those in `waiting` a frame still waits.

        turns: of each camera; those with fewer or as many come before it.
        """
        if self._took_ns is not None:
            sample = (now_ns - self._took_ns) / len(names)
            self._take_ns += (SMOOTH if self._take_ns else 1) * (sample - self._take_ns)
        self._took_ns = now_ns
        others = waiting | {name for name in self._cameras if self.is_held(name, now_ns)}
        for number, name in enumerate(names, 1):
            camera = self._cameras.get(name)
            if camera and name not in waiting:
                ahead = sum(turns[other] <= turns[name] for other in others)
                until_ns = now_ns + min((ahead + number) * self._take_ns - camera.lead_ns, LONGEST_NS)
                if camera.interval_ns and until_ns > now_ns + camera.interval_ns:
                    self._hold(name, round(until_ns))

    def none_wait(self, now_ns: int) -> None:
        """Record that no frame waits for a worker that is free, or may be soon: all holds end."""
        self._took_ns = None
        for name, camera in self._cameras.items():
            if camera.until_ns > now_ns:
                self._take_ns *= SHORTER
                self._hold(name, 0)

    def turn_off(self, now_ns: int) -> None:
        """End all holds, since a worker had nothing to do until a frame came, or is lost."""
        self.are_on, self._replaced, self._take_ns = False, 0, 0.0
        self.none_wait(now_ns)

    def _hold(self, name: str, until_ns: int) -> None:
        self._cameras[name].until_ns = self.changed[name] = until_ns
