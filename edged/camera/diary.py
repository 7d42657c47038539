"""What a camera process tells of its pictures while somebody records."""

import os
import socket

from edged.camera.captured import Captured
from edged.camera.link import Link
from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.hub_clock import HubClock
from edged.messages import Record, Recorded, Recorder
from edged.notebook import Notebook

TOLD_NS = NANOSECONDS // 4  # how often; not with each frame, whose place on the link it would take


class Diary:
    """One camera's. At other times it costs a look at `is_open` for each picture."""

    def __init__(self, camera: str, link: Link, clock: HubClock) -> None:
        self._camera = camera
        self._link = link
        self._clock = clock
        self._notebook = Notebook()
        self._is_new = False
        self._told_ns = self._prepared_ns = 0

    def heard(self, order: Record) -> None:
        """Begin, go on or end."""
        self._is_new |= self._notebook.open(order.recording, order.for_s)
        if not order.for_s:
            self._tell(last=True)

    def prepared(self, at_ns: int) -> None:
        """It is about to be sent."""
        self._prepared_ns = at_ns

    def picture(self, number: int, captured: Captured, dropped: str | None) -> None:
        """It was captured, and sent just now, or let go for that reason."""
        if not self._notebook.is_open:
            return
        frames = ((self._camera, number),)
        now, read_ns = now_ns(), captured.read_ns
        was_prepared = self._prepared_ns >= read_ns  # else it was let go before
        prepared_ns = self._prepared_ns if was_prepared else now
        self._notebook.note("capture", read_ns - nanoseconds(captured.read_s), read_ns, frames=frames)
        self._notebook.note("preprocess", read_ns, prepared_ns, frames=frames)
        if was_prepared:
            self._notebook.note("send", prepared_ns, now, frames=frames)
        if dropped:
            self._notebook.note("drop", now, frames=frames, reason=dropped)

    def tell_if_due(self) -> None:
        """Nobody waits for it: one message at a time, and where the link has no room, later."""
        if not self._notebook.is_open or now_ns() - self._told_ns < TOLD_NS or not self._link.has_room():
            return
        self._notebook.close_if_due()
        if self._is_new:
            self._link.send(Recorder(pid=os.getpid(), host=socket.gethostname()))
            self._is_new, self._told_ns = False, now_ns()
        else:
            self._tell()

    def _tell(self, *, last: bool = False) -> None:
        self._told_ns = now_ns()
        offset_ns, error_ns = self._clock.offset_ns()
        notes = self._notebook.take()
        if notes or last:
            self._link.send(Recorded(notes=notes, offset_ns=offset_ns, error_ns=error_ns, last=last))
