"""A frame's way, in pieces: without gaps, whatever the clocks say."""

from edged.tracing.frames import FrameStop, Piece, laid_out


def pieces(stops: list[FrameStop], begin_ns: int = 100, end_ns: int = 200) -> list[tuple[str, int]]:
    """What they are and how long they take, once it is sure that they follow one another."""
    found = list(laid_out(stops, begin_ns, end_ns))
    edges = [begin_ns, *(piece.end_ns for piece in found)]
    assert [piece.begin_ns for piece in found] == edges[:-1]
    return [(piece.name, piece.end_ns - piece.begin_ns) for piece in found]


def test_between_the_stages_it_waits() -> None:
    stops = [
        FrameStop("preprocess", 10, 100, "…"),
        FrameStop("forward", 30, 150, "for a worker"),
        FrameStop("publish", 5, 195, "b"),
    ]

    assert pieces(stops) == [
        ("preprocess", 10), ("wait for a worker", 40), ("forward", 30), ("wait b", 15), ("publish", 5),
    ]  # fmt: skip


def test_a_stage_that_seems_to_begin_before_the_one_before_it_ends_is_moved_and_not_shortened() -> None:
    stops = [
        FrameStop("preprocess", 10, 100, "…"),
        FrameStop("forward", 30, 90, "a"),
        FrameStop("publish", 5, 195, "b"),
    ]

    assert pieces(stops) == [("preprocess", 10), ("forward", 30), ("wait b", 55), ("publish", 5)]


def test_one_that_seems_to_begin_too_late_leaves_room_for_those_that_follow() -> None:
    stops = [
        FrameStop("preprocess", 10, 100, "…"),
        FrameStop("forward", 30, 900, "a"),
        FrameStop("publish", 5, 195, "b"),
    ]

    assert pieces(stops) == [("preprocess", 10), ("wait a", 55), ("forward", 30), ("publish", 5)]


def test_a_mark_without_a_stage_tells_what_was_waited_for() -> None:
    stops = [FrameStop("", 0, 120, "in the slot"), FrameStop("forward", 30, 150, "for a worker")]

    assert list(laid_out(stops, 100, 180)) == [
        Piece("wait in the slot", 100, 120), Piece("wait for a worker", 120, 150), Piece("forward", 150, 180),
    ]  # fmt: skip
