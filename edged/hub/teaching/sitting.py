"""Somebody teaches: what they want, how long, and what they have got."""

from dataclasses import dataclass, field

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.slot import Pixels
from edged.hub.links.links import Links
from edged.hub.teaching.lesson import Lesson
from edged.messages import LinkMessage, TeachEnds, TeachProgress, TeachRequest

TOLD_NS = NANOSECONDS
GONE_NS = 3 * NANOSECONDS  # who takes nothing for so long is dead, or as good as dead


@dataclass(eq=False)
class Sitting:
    """`lesson`: what answers in the shadow. Times are nanoseconds of one clock."""

    asker: str
    request: TeachRequest
    lesson: Lesson | None
    begun_ns: int = field(default_factory=now_ns)
    frames: int = 0
    missed: int = 0
    _due_ns: int = 0
    _told_ns: int = 0
    _heard_ns: int = field(default_factory=now_ns)

    def is_of(self, camera: str) -> bool:
        """Whether its frames are wanted."""
        return self.request.camera in {None, camera}

    def is_in(self, assigned: Assigned) -> bool:
        """Whether some of them are in this job."""
        return any(self.is_of(held.frame.camera) for held in assigned.frames)

    def takes(self, assigned: Assigned, now: int) -> bool:
        """Whether a crop of this job is due; then the next one is so a while later."""
        if now < self._due_ns or not self.is_in(assigned):
            return False
        self._due_ns = max(now, self._due_ns + nanoseconds(self.request.every_s))
        return True

    def tell(self, links: Links, message: LinkMessage, *payloads: Pixels) -> None:
        """What there is no room for is missed: nobody waits for who has asked."""
        if links.send(self.asker, message, payloads):
            self.frames += 1
            self._heard_ns = now_ns()
        else:
            self.missed += 1

    def is_to_be_told(self, now: int) -> bool:
        """Each second; so it is noticed when nobody is there."""
        return now - self._told_ns >= TOLD_NS

    def progress(self, links: Links, now: int, waits: str) -> None:
        """Say that we live; `waits`: why there is nothing."""
        self._told_ns = now
        if links.send(self.asker, TeachProgress(frames=self.frames, missed=self.missed, waits=waits)):
            self._heard_ns = now

    def is_left(self, now: int) -> bool:
        """Whether nobody is there any more."""
        return now - self._heard_ns > GONE_NS

    def why_over(self, now: int) -> TeachEnds | None:
        """Whether there is enough."""
        if self.request.frames is not None and self.frames >= self.request.frames:
            return self.ending("frames")
        if now - self.begun_ns >= nanoseconds(self.request.seconds):
            return self.ending("time")
        return None

    def ending(self, why: str, message: str = "") -> TeachEnds:
        """The last word."""
        return TeachEnds.model_validate(
            {"why": why, "frames": self.frames, "missed": self.missed, "message": message}
        )

    @property
    def next_ns(self) -> int:
        """When there is something to do though nothing comes."""
        return min(self._told_ns + TOLD_NS, self.begun_ns + nanoseconds(self.request.seconds))
