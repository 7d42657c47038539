"""Small pictures of frames for people who watch: made by the camera process, and only if configured."""

import logging
from dataclasses import dataclass

import cv2
import numpy as np

from edged.camera import preprocess
from edged.camera.sources.source import Pixels
from edged.clock import nanoseconds
from edged.messages import Frame, Snapshot, SnapshotSettings

log = logging.getLogger(__name__)

LEAST_QUALITY = 10
STEP = 10  # from one picture to the next, where there is room for more quality


@dataclass(frozen=True, slots=True)
class EncodedSnapshot:
    """A snapshot as a JPEG. `jpeg`: uint8 [bytes]."""

    header: Snapshot
    jpeg: Pixels


class SnapshotEncoder:
    """Encodes snapshots of one camera, at the rate and size that the hub requests."""

    def __init__(self, camera: str) -> None:
        self._camera = camera
        self._wish: SnapshotSettings | None = None
        self._quality = 0
        self._due_ns = 0
        self._told = False

    def configure(self, wish: SnapshotSettings | None) -> None:
        """Use these settings from now on; None: make no snapshots."""
        if wish and wish != self._wish:
            self._quality, self._due_ns, self._told = wish.quality, 0, False
        self._wish = wish

    def is_due(self, now_ns: int) -> bool:
        """Return whether the frame that is sent now shall be seen."""
        return self._wish is not None and now_ns >= self._due_ns

    def encode(self, region: Pixels, frame: Frame, now_ns: int) -> EncodedSnapshot | None:
        """Return a picture of `region`, of which `frame` was made.

        None where it would be too large at any quality.
        """
        wish = self._wish
        if wish is None:
            return None
        self._due_ns = now_ns + nanoseconds(wish.every_s)
        small = _shrunk(region, wish.width)
        jpeg = self._encoded(cv2.cvtColor(small, cv2.COLOR_RGB2BGR), wish)
        if jpeg is None:
            return None
        height, width = small.shape[:2]
        header = Snapshot(
            camera=self._camera, frame=frame.frame, captured_at=frame.captured_at, width=width, height=height
        )
        return EncodedSnapshot(header, jpeg)

    def _encoded(self, picture: "cv2.typing.MatLike", wish: SnapshotSettings) -> Pixels | None:
        """At the quality that was enough last time, or at half of that: never more than two attempts a picture."""
        for _ in range(2):
            jpeg = _jpeg(picture, self._quality)
            if len(jpeg) <= wish.max_bytes // 2:  # there is room for more quality, next time
                self._quality = min(wish.quality, self._quality + STEP)
            if len(jpeg) <= wish.max_bytes:
                return jpeg
            self._quality = max(min(LEAST_QUALITY, wish.quality), self._quality // 2)
        if not self._told:
            self._told = True
            log.warning(
                "camera %s: a snapshot of %d bytes is left out, more than snapshot.max_kilobytes",
                self._camera,
                len(jpeg),
            )
        return None


def _shrunk(pixels: Pixels, longest: int) -> Pixels:
    height, width = pixels.shape[:2]
    scale = min(1.0, longest / max(width, height))
    return preprocess.fitted(pixels, max(1, round(scale * width)), max(1, round(scale * height)))


def _jpeg(picture: "cv2.typing.MatLike", quality: int) -> Pixels:
    _, jpeg = cv2.imencode(".jpg", picture, (cv2.IMWRITE_JPEG_QUALITY, quality))
    return np.asarray(jpeg, np.uint8)
