"""Which snapshots of a camera the hub publishes."""

from typing import Any

import pytest

from edged.config import CameraConfig
from edged.hub.links.sockets import Part
from edged.hub.publish.publisher import JPEG, Snapshots
from edged.messages import Snapshot
from edged.metrics import Metrics

SECOND = 1_000_000_000
HEADER = Snapshot(camera="door", frame=3, captured_at=1.0, width=4, height=3)
PICTURE = JPEG + bytes(100)


def camera(**snapshot: Any) -> CameraConfig:
    return CameraConfig.model_validate({"source": 0, "snapshot": snapshot})


class Desk:
    """Snapshots of a camera `door`, and what became of them."""

    def __init__(self, door: CameraConfig) -> None:
        self.published: list[Snapshot] = []
        self._metrics = Metrics("0")
        self.snapshots = Snapshots(self._publish, self._metrics, {"door": door})

    def take(self, *payloads: bytes, at: float = 1.0) -> None:
        self.snapshots.receive(HEADER, [memoryview(each) for each in payloads], round(at * SECOND))

    def count(self, result: str) -> float | None:
        labels = {"camera": "door", "result": result}
        return self._metrics.registry.get_sample_value("edged_snapshots_total", labels)

    def _publish(self, snapshot: Snapshot, jpeg: Part) -> None:
        assert jpeg == PICTURE
        self.published.append(snapshot)


def test_a_camera_is_asked_for_what_its_section_says_or_for_nothing() -> None:
    desk = Desk(camera(every_s=2, max_kilobytes=4))
    wish = desk.snapshots.order_for("door")
    assert wish
    assert (wish.every_s, wish.max_bytes) == (2, 4096)
    desk.snapshots.grant({"door": CameraConfig(source=0)})
    assert desk.snapshots.order_for("door") is None


def test_what_was_asked_for_is_published() -> None:
    desk = Desk(camera())
    desk.take(PICTURE)
    assert desk.published == [HEADER]
    assert desk.count("published") == 1


@pytest.mark.parametrize(
    ("payloads", "result"),
    [
        ([], "malformed"),
        ([PICTURE, PICTURE], "malformed"),
        ([b"<svg>"], "malformed"),
        ([b""], "malformed"),
        ([PICTURE + bytes(4096)], "too_large"),
    ],
)
def test_what_was_not_asked_for_is_counted_and_goes_no_further(payloads: list[bytes], result: str) -> None:
    desk = Desk(camera(max_kilobytes=4))
    desk.take(*payloads)
    assert (desk.published, desk.count(result)) == ([], 1)


def test_a_camera_without_the_section_publishes_none() -> None:
    desk = Desk(CameraConfig(source=0))
    desk.take(PICTURE)
    assert (desk.published, desk.count("not_wanted")) == ([], 1)


def test_a_camera_that_sends_more_than_its_rate_is_held_to_it() -> None:
    desk = Desk(camera(every_s=1))
    for tenth in range(100):
        desk.take(PICTURE, at=1 + tenth / 10)
    assert len(desk.published) in {10, 11}
    assert desk.count("too_many") == 100 - len(desk.published)


def test_one_that_was_held_up_on_its_way_does_not_cost_the_next_one() -> None:
    desk = Desk(camera(every_s=1))
    for at in (1.0, 2.9, 3.0, 4.9, 5.0, 6.0):
        desk.take(PICTURE, at=at)
    assert len(desk.published) == 6
