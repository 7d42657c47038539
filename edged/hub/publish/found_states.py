"""What a detector finds at a camera, over several frames: whether something is there, and how many there are.

A box is where its object stands: at the middle of its lower edge.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median_low

from edged.config import StateConfig
from edged.config.states import Corner, FoundConfig, PresentConfig, Zone
from edged.messages.published import ABSENT, PRESENT, Box


class FoundStates:
    """The states `present` and `count` of one camera, as far as they are known yet."""

    def __init__(self, wanted: StateConfig) -> None:
        self.present: dict[str, bool] = {}
        self.count: dict[str, int] = {}
        self._wanted = wanted
        of_all: dict[str, FoundConfig] = {**wanted.present, **wanted.count}
        self._last = {name: deque[int](maxlen=each.of) for name, each in of_all.items()}  # boxes of each frame

    def saw(self, boxes: Sequence[Box]) -> Iterator[tuple[str, str, FoundConfig]]:
        """Count the boxes of a frame; yield name, new state and config of each state that this changes."""
        for name, each in self._wanted.present.items():
            is_there = presence(self._counted(name, each, boxes), each)
            if is_there is not None and is_there != self.present.get(name):
                self.present[name] = is_there
                yield name, PRESENT if is_there else ABSENT, each
        for name, counted in self._wanted.count.items():
            last = self._counted(name, counted, boxes)
            if len(last) == counted.of and (number := median_low(last)) != self.count.get(name):
                self.count[name] = number
                yield name, str(number), counted

    def _counted(self, name: str, each: FoundConfig, boxes: Sequence[Box]) -> Sequence[int]:
        """Return how many of these boxes each of the last frames had, with this one."""
        zone = self._wanted.zones[each.zone] if each.zone else None
        last = self._last[name]
        last.append(sum(box.label in each.labels and (zone is None or stands_in(box, zone)) for box in boxes))
        return last


def presence(counts: Sequence[int], wanted: PresentConfig) -> bool | None:
    """Return whether it is there, by the boxes of at most the last `of` frames; None: too few to say."""
    found = sum(count > 0 for count in counts)
    if found >= wanted.least:
        return True
    return False if len(counts) - found > wanted.of - wanted.least else None


def stands_in(box: Box, zone: Zone) -> bool:
    """Return whether the middle of a box's lower edge lies in a zone, its border included."""
    left, _, right, bottom = box.box
    x, y = (left + right) / 2, bottom
    is_in = False
    for (a, b), (c, d) in pairwise((*zone, zone[0])):
        if _is_on((a, b), (c, d), (x, y)):
            return True
        if (b > y) != (d > y) and x < a + (y - b) * (c - a) / (d - b):  # the edge crosses a ray to the right
            is_in = not is_in
    return is_in


def _is_on(start: Corner, end: Corner, point: Corner) -> bool:
    """Return whether a point is on an edge, such as the picture's own."""
    (a, b), (c, d), (x, y) = start, end, point
    is_between = min(a, c) <= x <= max(a, c) and min(b, d) <= y <= max(b, d)
    return is_between and (c - a) * (y - b) == (d - b) * (x - a)
