"""A picture and the moment at which it was captured."""

from dataclasses import dataclass

from edged.camera.sources.picture import Picture
from edged.camera.sources.source import Source
from edged.clock import NANOSECONDS, now_ns, wall_s


@dataclass(frozen=True, slots=True)
class Captured:
    """`at_s`: wall clock; `at_ns`: monotonic clock: the end (`read_ns`) of the read that took `read_s`.

    Less what the picture was held up on its way: what is too old is let go by the hub, as if it had waited there.
    """

    picture: Picture
    at_s: float
    at_ns: int
    read_ns: int
    read_s: float


def capture(source: Source) -> Captured | None:
    """The next picture of `source`, or None at its end. Raises what `Source.read` raises."""
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
