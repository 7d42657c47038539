"""The interface of a source of pictures, their times of capture, and the pace of recorded ones."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from edged.clock import NANOSECONDS, nanoseconds, now_ns, wall_s
from edged.pictures.prepare import Pixels

Sleep = Callable[[int], None]

KINDS = (
    "a V4L2 index or path (0, /dev/v4l/by-id/…), a rtsp:// or http:// URL, exec: and a command, a video file, "
    "a folder of pictures, synthetic:digits or synthetic:shapes"
)

SLOWEST_WAIT_S = 10.0  # for a picture of a network camera that sends few


@dataclass(slots=True)
class Picture:
    """One image from a source.

    `decoded`: its pixels, or what makes them when they are needed. `truth`: its label if the source knows it, else
    None. `late_ns`: how long the picture was delayed before it arrived, if the source knows it.
    """

    decoded: Pixels | Callable[[], Pixels]
    truth: str | None = None
    late_ns: int = 0

    @property
    def pixels(self) -> Pixels:
        """Return the pixels, uint8 [height, width, 3], RGB."""
        if callable(self.decoded):
            self.decoded = self.decoded()
        return self.decoded


class NoPictureError(Exception):
    """A stream has sent no picture in time (`late`), or will send none. Its text is a reason for a sentence."""

    def __init__(self, reason: str, cause: Literal["late", "login", "other"] = "other") -> None:
        super().__init__(reason)
        self.cause = cause


class Source(Protocol):
    """A camera's pictures.

    `longest_wait_s`: the longest time that the next `read` takes. The hub hears nothing meanwhile.

    A source with a rate keeps it inside `read`, and never bursts to catch up. After `close` or an error, `open`
    may be called again.
    """

    @property
    def longest_wait_s(self) -> float: ...

    def open(self) -> None:
        """Open the source. Raises CameraError if there is nothing to read from."""

    def read(self) -> Picture | None:
        """Return the newest picture, or None at the end.

        Raises CameraError when the source has failed, ImageError when one picture cannot be read and the next may;
        the pixels of a picture may raise both, too.
        """

    def close(self) -> None:
        """Release the device, connection or file. May be called at any time, more than once."""


@dataclass(frozen=True, slots=True)
class Captured:
    """`at_s`: wall clock; `at_ns`: monotonic clock: the end (`read_ns`) of the read that took `read_s`.

    The delay before it arrived is subtracted, so that the hub drops a
    picture that is too old as if it had waited there.
    """

    picture: Picture
    at_s: float
    at_ns: int
    read_ns: int
    read_s: float


def capture(source: Source) -> Captured | None:
    """Return the next picture of `source`, or None at its end. Raises what `Source.read` raises."""
    start_ns = now_ns()
    picture = source.read()
    at_s, read_ns = wall_s(), now_ns()
    if picture is None:
        return None
    late_ns = picture.late_ns
    return Captured(
        picture,
        at_s - late_ns / NANOSECONDS,
        max(0, read_ns - late_ns),
        read_ns,
        (read_ns - start_ns) / NANOSECONDS,
    )


def sleep_ns(nanoseconds: int) -> None:
    time.sleep(nanoseconds / NANOSECONDS)


class Pace:
    """Releases each picture at its time. A late picture delays the next ones: they never catch up in a burst."""

    def __init__(self, now: Callable[[], int] = now_ns, sleep: Sleep = sleep_ns) -> None:
        self._now = now
        self._sleep = sleep
        self._start_ns: int | None = None

    def wait_until(self, at_s: float) -> None:
        """Wait until `at_s` seconds after the picture at 0 s was released; return at once if that has passed."""
        at_ns = nanoseconds(at_s)
        now = self._now()
        start = now - at_ns if self._start_ns is None else self._start_ns
        early = start + at_ns - now
        if early > 0:
            self._sleep(early)
        self._start_ns = start - min(early, 0)
