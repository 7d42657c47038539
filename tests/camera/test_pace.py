from edged.camera.sources.source import Pace
from edged.clock import NANOSECONDS


class Clock:
    """A clock that only sleeping and `work` move."""

    def __init__(self) -> None:
        self.now_ns = 0

    def now(self) -> int:
        return self.now_ns

    def sleep(self, nanoseconds: int) -> None:
        assert nanoseconds > 0
        self.now_ns += nanoseconds

    def work(self, seconds: float) -> None:
        self.now_ns += round(seconds * NANOSECONDS)


def test_each_picture_leaves_at_its_own_time() -> None:
    clock = Clock()
    pace = Pace(clock.now, clock.sleep)
    left = []

    for at_s in (0.0, 0.1, 0.3):
        clock.work(0.02)
        pace.wait_until(at_s)
        left.append(clock.now_ns / NANOSECONDS)

    assert left == [0.02, 0.12, 0.32]


def test_after_a_pause_nothing_hurries_to_catch_up() -> None:
    clock = Clock()
    pace = Pace(clock.now, clock.sleep)
    pace.wait_until(0.0)
    clock.work(5.0)
    left = []

    for at_s in (0.1, 0.2, 0.3):
        pace.wait_until(at_s)
        left.append(clock.now_ns / NANOSECONDS)

    assert left == [5.0, 5.1, 5.2]
