"""Which box of a frame continues which track: the pairs that overlap most, one after the other.

The optimal assignment, for which others load SciPy, kept no more numbers on the scenes of `bench.tracking`: boxes
that several tracks contest are few, and a pair that overlaps most is mostly the right one.
"""

from collections.abc import Mapping, Sequence

from edged.messages.detection import Corners

Labelled = tuple[int, Corners]  # a box with the index of its class


def associated(tracks: Sequence[Labelled], boxes: Sequence[Labelled], least: float) -> Mapping[int, int]:
    """Return the index of the track that each box continues, by the box's index; `least`: overlap of a pair."""
    pairs = [
        (shared, track, box)
        for track, (label, one) in enumerate(tracks)
        for box, (other_label, other) in enumerate(boxes)
        if label == other_label and one[0] < other[2] and other[0] < one[2]  # most are beside each other
        if (shared := overlap(one, other)) >= least
    ]
    pairs.sort(reverse=True)
    continued: dict[int, int] = {}
    taken = set[int]()
    for _, track, box in pairs:
        if track not in taken and box not in continued:
            continued[box] = track
            taken.add(track)
    return continued


def overlap(one: Corners, other: Corners) -> float:
    """Return intersection over union of two boxes."""
    left, top, right, bottom = one
    other_left, other_top, other_right, other_bottom = other
    across = min(right, other_right) - max(left, other_left)
    down = min(bottom, other_bottom) - max(top, other_top)
    if across <= 0 or down <= 0:
        return 0.0
    shared = across * down
    both = (right - left) * (bottom - top) + (other_right - other_left) * (other_bottom - other_top)
    return shared / (both - shared)
