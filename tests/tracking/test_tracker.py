"""The same object keeps its number: while it moves, behind others, over gaps, and in frames that come late."""

from edged.messages.detection import FoundBox
from edged.tracking.tracker import KEPT, Tracker
from tests.tracking.scene import NS, crossing


def box(x: float, *, label: int = 0, score: float = 0.9) -> FoundBox:
    """A box around x, a tenth of the picture wide."""
    return FoundBox(index=label, score=score, box=(x - 0.05, 0.4, x + 0.05, 0.8))


def numbers(
    tracker: Tracker, frame: int, *boxes: FoundBox, faint: tuple[FoundBox, ...] = ()
) -> tuple[int | None, ...]:
    return tracker.numbers(frame, frame * NS, boxes, faint)


def walking(tracker: Tracker, frames: int) -> None:
    """Let one object walk to the right, a hundredth a frame, from frame 0 on."""
    for frame in range(frames):
        numbers(tracker, frame, box(0.1 + 0.01 * frame))


def test_an_object_has_a_number_from_its_second_box_on() -> None:
    tracker = Tracker()

    assert numbers(tracker, 0, box(0.2), box(0.7)) == (None, None)
    assert numbers(tracker, 1, box(0.71), box(0.21)) == (1, 2)
    assert numbers(tracker, 2, box(0.22), box(0.72), box(0.5)) == (2, 1, None)


def test_a_box_that_comes_once_takes_no_number() -> None:
    tracker = Tracker()
    numbers(tracker, 0, box(0.2))
    numbers(tracker, 1)

    assert numbers(tracker, 2, box(0.2)) == (None,)
    assert numbers(tracker, 3, box(0.2)) == (1,)


def test_frames_that_never_come_are_gaps_over_which_it_moves_on() -> None:
    tracker = Tracker()
    walking(tracker, 20)

    assert numbers(tracker, 35, box(0.45)) == (1,)  # it would overlap with nothing where it was last


def test_a_box_of_another_label_is_another_object() -> None:
    tracker = Tracker()
    walking(tracker, 3)

    assert numbers(tracker, 3, box(0.13, label=1)) == (None,)
    assert numbers(tracker, 4, box(0.14, label=1), box(0.14)) == (2, 1)


def test_a_faint_box_keeps_the_track_of_an_object_that_stops_but_begins_none() -> None:
    tracker = Tracker()
    walking(tracker, 20)
    for frame in range(20, 40):
        assert numbers(tracker, frame, faint=(box(0.3, score=0.2), box(0.8, score=0.2))) == ()

    assert numbers(tracker, 40, box(0.3), box(0.8)) == (1, None)


def test_one_that_is_away_for_long_is_another_one() -> None:
    tracker = Tracker()
    numbers(tracker, 0, box(0.3))
    numbers(tracker, 1, box(0.3))

    assert numbers(tracker, 1 + KEPT, box(0.3)) == (1,)
    assert numbers(tracker, 2 + 2 * KEPT, box(0.3)) == (None,)
    assert numbers(tracker, 3 + 2 * KEPT, box(0.3)) == (2,)


def test_a_late_frame_gets_the_numbers_and_changes_nothing() -> None:
    tracker, without = Tracker(), Tracker()
    walking(tracker, 20)
    walking(without, 20)

    assert numbers(tracker, 12, box(0.22), box(0.7)) == (1, None)
    for each in (tracker, without):
        assert numbers(each, 20, box(0.3), box(0.7)) == (1, None)


def test_a_camera_that_counts_anew_has_new_tracks() -> None:
    tracker = Tracker()
    walking(tracker, 20)

    assert tracker.numbers(0, 100 * NS, [box(0.3)]) == (None,)
    assert tracker.numbers(1, 101 * NS, [box(0.3)]) == (2,)


def test_objects_that_cross_keep_their_numbers() -> None:
    for seed in range(5):
        tracker, last = Tracker(), dict[int, int]()
        for frame in crossing(seed, objects=5, frames=300):
            clear, faint = ([each.found for each in some] for some in (frame.clear, frame.faint))
            found = tracker.numbers(frame.frame, frame.captured_ns, clear, faint)
            for sighting, number in zip(frame.clear, found, strict=True):
                if sighting.of is not None and number is not None:
                    assert last.setdefault(sighting.of, number) == number
        assert len({*last.values()}) == 5
