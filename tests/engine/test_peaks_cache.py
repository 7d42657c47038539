"""Peaks that were measured once are known later."""

import dataclasses
from pathlib import Path

from edged.engine.device import Device
from edged.engine.peaks import Peaks, cached_peaks, keep_peaks

PEAKS = Peaks(flops_per_s=4.5e11, bytes_per_s=4.2e10)


def test_the_last_ones_hold_for_this_device_and_driver_alone(device: Device, tmp_path: Path) -> None:
    keep_peaks(device, Peaks(1.0, 1.0), tmp_path)
    keep_peaks(device, PEAKS, tmp_path)

    assert cached_peaks(device, tmp_path) == PEAKS
    assert cached_peaks(dataclasses.replace(device, driver="newer"), tmp_path) is None


def test_damaged_ones_are_not_believed(device: Device, tmp_path: Path) -> None:
    keep_peaks(device, PEAKS, tmp_path)
    (file,) = (tmp_path / "peaks").iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"9")

    assert cached_peaks(device, tmp_path) is None


def test_a_cache_that_cannot_be_written_is_no_error(device: Device, tmp_path: Path) -> None:
    (tmp_path / "peaks").write_text("not a folder")

    keep_peaks(device, PEAKS, tmp_path)

    assert cached_peaks(device, tmp_path) is None
