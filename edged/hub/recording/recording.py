"""One recording: who wants it, of whom, and what is on its way to them."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from edged.clock import NANOSECONDS
from edged.hub.frames.slot import Pixels
from edged.hub.links.links import Links
from edged.messages import Layers, LinkMessage, Record, RecordingEnds

RENEWED_NS = NANOSECONDS  # so often every process is told to go on
LEAVE_S = 3.0  # and without it, it stops by itself
GONE_NS = 3 * NANOSECONDS  # who takes nothing for so long is dead, or as good as dead
LAST_WORDS_NS = NANOSECONDS  # what processes have for what they still have to tell
WAITING = 10_000  # messages for who has asked


@dataclass(eq=False)
class Recording:
    """`frames`: of which the layers are wanted, where they are the limit. Times are nanoseconds of one clock."""

    number: int
    asker: str
    layers: Layers
    until_ns: int
    sent_ns: int
    worker: str | None = None
    frames: int | None = None
    ending: RecordingEnds | None = None
    renewed_ns: int = 0
    _timed: int = 0
    _missed: int = 0
    _waiting: deque[tuple[LinkMessage, Sequence[Pixels]]] = field(default_factory=deque)
    _recorders: set[str] = field(default_factory=set)  # those that will have a last word

    def wants(self, peer: str) -> bool:
        """Whether it is of this camera, worker, or of the hub."""
        return self.worker is None or peer == f"worker/{self.worker}"

    def order(self) -> Record:
        """What the processes are to be told now."""
        for_s = 0.0 if self.ending else LEAVE_S
        return Record(recording=self.number, for_s=for_s, layers=self.layers)

    def put(self, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> None:
        """For who has asked, as soon as there is room."""
        if len(self._waiting) < WAITING:
            self._waiting.append((message, payloads))
        else:
            self._missed += 1

    def flush(self, links: Links, now: int) -> bool:
        """Send what there is room for. False where nobody is there to take it."""
        while self._waiting and links.send(self.asker, *self._waiting[0]):
            self._waiting.popleft()
            self.sent_ns = now
        if not self._waiting:
            self.sent_ns = now
        return now - self.sent_ns < GONE_NS

    def begins(self, peer: str) -> None:
        """A process records."""
        self._recorders.add(peer)

    def timed(self, frames: int) -> None:
        """The layers of so many more are known."""
        self._timed += frames

    def spoke_last(self, peer: str) -> None:
        """Nothing follows from this one."""
        self._recorders.discard(peer)

    def why_over(self, now: int, *, worker_is_lost: bool) -> RecordingEnds | None:
        """Whether there is enough, or no more to come."""
        if worker_is_lost:
            return RecordingEnds(why="lost")
        if self.frames is not None and self._timed >= self.frames:
            return RecordingEnds(why="frames")
        return RecordingEnds(why="time") if now >= self.until_ns else None

    def end(self, ending: RecordingEnds, now: int) -> None:
        """The processes may say what they still know."""
        self.ending, self.until_ns = ending, now + LAST_WORDS_NS

    def is_told(self, now: int) -> bool:
        """Whether nobody has anything to say any more, or has had time enough."""
        return self.ending is not None and (now >= self.until_ns or not self._recorders)

    @property
    def last_word(self) -> RecordingEnds:
        """To who has asked."""
        return RecordingEnds(why=self.ending.why if self.ending else "time", missed=self._missed)
