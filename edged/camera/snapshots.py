"""Small pictures of frames for display: made by the camera process, and only if configured."""

import logging
from dataclasses import dataclass

import cv2
import numpy as np

from edged.clock import nanoseconds
from edged.messages import Frame, Snapshot, SnapshotSettings
from edged.pictures import prepare
from edged.pictures.prepare import Pixels

log = logging.getLogger(__name__)

LEAST_QUALITY = 10
STEP = 10  # quality added from one picture to the next, if the size allows


@dataclass(frozen=True, slots=True)
class EncodedSnapshot:
    """A snapshot as a JPEG. `jpeg`: uint8 [bytes]."""

    header: Snapshot
    jpeg: Pixels


class SnapshotEncoder:
    """Encodes snapshots of one camera, at the rate and size that the hub requests."""

    def __init__(self, camera: str) -> None:
        self._camera = camera
        self._settings: SnapshotSettings | None = None
        self._quality = 0
        self._due_ns = 0
        self._has_warned = False

    def configure(self, settings: SnapshotSettings | None) -> None:
        """Use these settings from now on; None: make no snapshots."""
        if settings and settings != self._settings:
            self._quality, self._due_ns, self._has_warned = settings.quality, 0, False
        self._settings = settings

    def is_due(self, now_ns: int) -> bool:
        """Return whether the frame that is sent now needs a snapshot."""
        return self._settings is not None and now_ns >= self._due_ns

    def encode(self, region: Pixels, frame: Frame, now_ns: int) -> EncodedSnapshot | None:
        """Encode the `region` that `frame` was made of. Returns None if it is too large at any quality."""
        settings = self._settings
        if settings is None:
            return None
        self._due_ns = now_ns + nanoseconds(settings.every_s)
        small = _shrunk(region, settings.width)
        jpeg = self._encoded(cv2.cvtColor(small, cv2.COLOR_RGB2BGR), settings)
        if jpeg is None:
            return None
        height, width = small.shape[:2]
        header = Snapshot(
            camera=self._camera,
            frame=frame.frame,
            captured_at=frame.captured_at,
            width=width,
            height=height,
            region=frame.region,
        )
        return EncodedSnapshot(header, jpeg)

    def _encoded(self, picture: "cv2.typing.MatLike", settings: SnapshotSettings) -> Pixels | None:
        """Encode at the quality that last fitted, then at half of it: never more than two attempts per picture."""
        for _ in range(2):
            _, jpeg = cv2.imencode(".jpg", picture, (cv2.IMWRITE_JPEG_QUALITY, self._quality))
            if len(jpeg) <= settings.max_bytes // 2:  # the size allows more quality next time
                self._quality = min(settings.quality, self._quality + STEP)
            if len(jpeg) <= settings.max_bytes:
                return np.asarray(jpeg, np.uint8)
            self._quality = max(min(LEAST_QUALITY, settings.quality), self._quality // 2)
        if not self._has_warned:
            self._has_warned = True
            log.warning(
                "camera %s: a snapshot of %d bytes is left out, more than snapshot.max_kilobytes",
                self._camera,
                len(jpeg),
            )
        return None


def _shrunk(pixels: Pixels, longest: int) -> Pixels:
    height, width = pixels.shape[:2]
    scale = min(1.0, longest / max(width, height))
    return prepare.fitted(pixels, max(1, round(scale * width)), max(1, round(scale * height)))
