from edged.hub.frames.ledger import Ledger
from edged.messages import CameraCount


def count(captured: int, **dropped: int) -> CameraCount:
    return CameraCount(captured=captured, dropped=dropped)


def test_what_the_camera_dropped_itself_counts() -> None:
    ledger = Ledger()
    assert ledger.frame(count(3, max_fps=2))
    ledger.predict()
    assert (ledger.captured, ledger.predicted, ledger.dropped) == (3, 1, {"max_fps": 2})


def test_frames_that_were_sent_and_never_arrived_are_lost_on_the_link() -> None:
    ledger = Ledger()
    assert ledger.frame(count(1))
    assert ledger.frame(count(4))  # the second and third are missing
    ledger.report(count(6, motion=1))  # and one that no later frame follows
    assert ledger.captured == 6
    assert ledger.dropped == {"link": 3, "motion": 1}
    assert ledger.pending == 2


def test_a_camera_that_starts_again_counts_from_zero_and_nothing_is_forgotten() -> None:
    ledger = Ledger()
    assert ledger.frame(count(5, motion=4))
    ledger.greeted("second", count(0))
    assert ledger.frame(count(2, motion=1))
    assert ledger.captured == 7
    assert ledger.dropped == {"motion": 5}


def test_frames_of_a_camera_that_connects_again_and_never_arrived_are_lost_on_the_link() -> None:
    ledger = Ledger()
    ledger.greeted("run", count(0))
    assert ledger.frame(count(1))
    ledger.greeted("run", count(9, link_full=5))
    assert (ledger.captured, ledger.dropped, ledger.pending) == (9, {"link": 3, "link_full": 5}, 1)


def test_what_a_camera_has_counted_for_another_hub_is_not_ours() -> None:
    ledger = Ledger()
    ledger.greeted("run", count(100, motion=40))
    assert ledger.frame(count(103, motion=42))
    assert (ledger.captured, ledger.dropped, ledger.pending) == (3, {"motion": 2}, 1)


def test_a_count_that_runs_backwards_is_not_believed() -> None:
    ledger = Ledger()
    assert ledger.frame(count(5, motion=4))
    assert not ledger.frame(count(5, motion=4))
    assert not ledger.frame(count(6, motion=3))
    ledger.report(count(2))
    assert ledger.captured == 5
    assert ledger.pending == 1
