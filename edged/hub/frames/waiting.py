"""The frames that wait for a worker, in the slots of their cameras."""

from collections.abc import Iterator

from edged.hub.frames.jobs import Capacity
from edged.hub.frames.ledger import Ledger
from edged.hub.frames.slot import Held, Slot

NEVER_NS = 1 << 63


class Camera:
    """What the router knows of one camera. `waits`: it captures what is granted, and nothing of it grows old.

    `to_grant` is below 0 while frames that came back from a lost worker take more places than there are.
    """

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.slot = Slot()
        self.waits = False
        self.to_grant = 0

    def left_slot(self, frames: int) -> None:
        """So many places are free again, or below 0 taken again."""
        if self.waits:
            self.to_grant += frames


class Waiting:
    """The cameras whose slots hold frames: most do not, at most times, and the hub asks at each turn."""

    def __init__(self) -> None:
        self._cameras: dict[str, Camera] = {}
        self._oldest_ns = NEVER_NS  # no frame that waits was captured before

    def __bool__(self) -> bool:
        return bool(self._cameras)

    def add(self, name: str, camera: Camera) -> None:
        """A frame has come into its slot."""
        self._cameras[name] = camera
        self._oldest_ns = min(self._oldest_ns, camera.slot.oldest_ns)

    def gathered_ns(self, capacity: Capacity, max_age_ns: int) -> int | None:
        """When the frames are to go, though there are not as many as a job may carry. None: none wait.

        No frame waits for others until it is half as old as it may be.
        """
        slots = [camera.slot for camera in self._cameras.values()]
        if not slots:
            return None
        if not capacity.gather_ns or sum(map(len, slots)) >= capacity.batch:
            return 0
        return min(
            min(slot.waiting_since_ns + capacity.gather_ns, slot.oldest_ns + max_age_ns // 2) for slot in slots
        )

    def take(self, most: int, now_ns: int) -> tuple[Held, ...]:
        """Frames in the order in which their cameras have waited, one a camera and turn."""
        frames: list[Held] = []
        while self._cameras and len(frames) < most:
            name, first = min(self._cameras.items(), key=lambda each: each[1].slot.waiting_since_ns)
            frames.append(first.slot.take(now_ns + len(frames)))
            first.left_slot(1)
            self._forget_if_empty(name)
        return tuple(frames)

    def take_older_than(self, captured_ns: int) -> list[Held]:
        """The frames that were captured before, but those of cameras that wait for room."""
        if captured_ns <= self._oldest_ns:
            return []
        old: list[Held] = []
        for name, camera in list(self._cameras.items()):
            old += [] if camera.waits else camera.slot.older_than(captured_ns)
            self._forget_if_empty(name)
        self._oldest_ns = min((camera.slot.oldest_ns for camera in self._cameras.values()), default=NEVER_NS)
        return old

    def clear(self) -> Iterator[Held]:
        """All of them."""
        for camera in self._cameras.values():
            yield from camera.slot.clear()
        self._cameras.clear()

    def _forget_if_empty(self, name: str) -> None:
        if not len(self._cameras[name].slot):
            del self._cameras[name]
