"""A picture and the moment at which it was read."""

from dataclasses import dataclass

from edged.camera.sources.picture import Picture
from edged.camera.sources.source import Source
from edged.clock import NANOSECONDS, now_ns, wall_s


@dataclass(frozen=True, slots=True)
class Captured:
    """`at_s`: wall clock; `at_ns`: monotonic clock, the end of the read that took `read_s`."""

    picture: Picture
    at_s: float
    at_ns: int
    read_s: float


def capture(source: Source) -> Captured | None:
    """The next picture of `source`, or None at its end. Raises what `Source.read` raises."""
    start_ns = now_ns()
    picture = source.read()
    at_s, at_ns = wall_s(), now_ns()
    if picture is None:
        return None
    return Captured(picture, at_s, at_ns, (at_ns - start_ns) / NANOSECONDS)
