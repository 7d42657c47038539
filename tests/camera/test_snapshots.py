"""Small pictures of frames."""

import logging

import cv2
import msgspec
import numpy as np
import pytest

from edged.camera.snapshots import SnapshotEncoder
from edged.messages import CameraCount, Frame, SnapshotSettings
from edged.pictures.prepare import Pixels
from tests.camera.pictures import plain

SECOND = 1_000_000_000
FRAME = Frame(
    camera="door",
    frame=7,
    captured_at=1.5,
    captured_ns=1,
    capture_s=0,
    preprocess_s=0,
    width=2,
    height=2,
    count=CameraCount(captured=8, dropped={}),
)


def wish(**fields: object) -> SnapshotSettings:
    return msgspec.convert(
        {"every_s": 1, "width": 64, "quality": 90, "max_bytes": 32_768, **fields}, SnapshotSettings
    )


def noise(width: int = 256, height: int = 256) -> Pixels:
    """What compresses worst."""
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)


def asked(**fields: object) -> SnapshotEncoder:
    snapshots = SnapshotEncoder("door")
    snapshots.configure(wish(**fields))
    return snapshots


def decoded(jpeg: Pixels) -> Pixels:
    pixels = cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
    assert pixels is not None
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)


def test_none_is_due_before_it_is_asked_for_nor_after_it_is_no_more() -> None:
    snapshots = SnapshotEncoder("door")
    assert not snapshots.is_due(5 * SECOND)
    snapshots.configure(wish())
    assert snapshots.is_due(5 * SECOND)
    snapshots.configure(None)
    assert not snapshots.is_due(9 * SECOND)


def test_it_belongs_to_its_frame_and_shows_its_colours() -> None:
    red = plain(0)
    red[:, :, 0] = 200
    taken = asked().encode(red, FRAME, SECOND)
    assert taken
    header = taken.header
    assert (header.camera, header.frame, header.captured_at) == ("door", 7, 1.5)
    pixels = decoded(taken.jpeg)
    assert pixels.shape == (header.height, header.width, 3)
    assert pixels.mean(axis=(0, 1)) == pytest.approx((200, 0, 0), abs=4)


def test_the_next_one_is_due_after_its_time() -> None:
    snapshots = asked(every_s=0.5)
    assert snapshots.encode(plain(9), FRAME, SECOND)
    assert not snapshots.is_due(SECOND + SECOND // 2 - 1)
    assert snapshots.is_due(SECOND + SECOND // 2)


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [(640, 480, (64, 48)), (480, 640, (48, 64)), (32, 24, (32, 24)), (1000, 1, (64, 1))],
)
def test_it_keeps_its_proportions_and_is_never_enlarged(width: int, height: int, size: tuple[int, int]) -> None:
    taken = asked().encode(plain(9, width, height), FRAME, SECOND)
    assert taken
    assert (taken.header.width, taken.header.height) == size


def test_one_that_would_be_too_large_has_less_quality_and_gains_it_again() -> None:
    snapshots = asked(width=256, max_bytes=45_000)
    large = snapshots.encode(noise(), FRAME, 0)
    small = [snapshots.encode(plain(9), FRAME, 0) for _ in range(6)]
    again = snapshots.encode(noise(), FRAME, 0)
    assert large
    assert all(small)
    assert again
    assert len(large.jpeg) <= 45_000
    assert len(again.jpeg) <= 45_000


def test_one_that_is_too_large_at_any_quality_is_left_out_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    snapshots = asked(width=256, max_bytes=2048)
    with caplog.at_level(logging.WARNING):
        assert [snapshots.encode(noise(), FRAME, at) for at in range(9)] == [None] * 9
    assert [record.message for record in caplog.records if "is left out" in record.message] == [
        caplog.records[0].message
    ]
    assert snapshots.encode(plain(9), FRAME, SECOND)
