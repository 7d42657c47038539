"""The peaks of a device, kept: who looks at a daemon that runs cannot measure them, for the device is busy."""

import json
import logging
from pathlib import Path

from edged.engine.device import Device
from edged.engine.peaks import Peaks
from edged.engine.record_places import file_name
from edged.entries import Entries
from edged.paths import cache_directory

log = logging.getLogger(__name__)


def keep_peaks(device: Device, peaks: Peaks, cache: Path | None = None) -> None:
    """For `kept_peaks`. A cache that cannot be written is told of in the log. `cache`: None for the user's."""
    content = json.dumps([peaks.flops_per_s, peaks.bytes_per_s]).encode()
    try:
        _entries(cache).save(file_name(device), [content])
    except OSError as error:
        log.warning("the peaks of %s cannot be kept: %s", device.name, error)


def kept_peaks(device: Device, cache: Path | None = None) -> Peaks | None:
    """What was measured last of this device with this driver, or None."""
    content = _entries(cache).load(file_name(device))
    return Peaks(*json.loads(bytes(content))) if content else None


def _entries(cache: Path | None) -> Entries:
    return Entries((cache or cache_directory()) / "peaks", "peaks")
