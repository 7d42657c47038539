"""Temperatures on trees as drivers show them, whole and damaged."""

from pathlib import Path

import pytest

from edged.system.host_watch import temperatures
from tests.energy.sysfs import hwmon_device
from tests.system.sysfs import juno, rk3588, write, zone


def test_a_juno_shows_what_its_system_controller_measures(tmp_path: Path) -> None:
    juno(tmp_path)
    found = temperatures(tmp_path)
    assert found["scpi_sensors.SENSOR_TEMP_SOC"] == pytest.approx(40.002)
    assert len(found) == 6


def test_a_zone_that_hwmon_shows_once_more_is_one_sensor(tmp_path: Path) -> None:
    rk3588(tmp_path)
    assert temperatures(tmp_path) == {"package-thermal": 50, "bigcore0-thermal": 51, "gpu-thermal": 52}


def test_a_sensor_without_a_label_is_called_by_its_channel(tmp_path: Path) -> None:
    hwmon_device(tmp_path, 3, "lm75", temp1=(None, 21_500))
    assert temperatures(tmp_path) == {"lm75.temp1": 21.5}


def test_two_sensors_of_the_same_name_are_distinguished_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number, millidegrees in ((10, 30_000), (2, 20_000)):
        hwmon_device(tmp_path, number, "nvme", temp1=("Composite", millidegrees))
    assert temperatures(tmp_path) == {"nvme.Composite": 20, "nvme.Composite-2": 30}


@pytest.mark.parametrize("content", ["", "N/A", "\0", "-274000", "2147483647", "9" * 5000, "41.5"])
def test_what_is_no_temperature_is_left_out(tmp_path: Path, content: str) -> None:
    zone(tmp_path, 0, "broken-thermal", content)
    zone(tmp_path, 1, "cpu-thermal", 41_000)
    assert temperatures(tmp_path) == {"cpu-thermal": 41}


def test_a_zone_that_is_switched_off_or_half_gone_harms_no_other(tmp_path: Path) -> None:
    (zone(tmp_path, 0, "off", 1) / "temp").unlink()
    (write(tmp_path / "class/thermal/thermal_zone1", type="odd") / "temp").mkdir()  # an error at each reading
    (zone(tmp_path, 2, "gone", 40_000) / "type").unlink()
    (zone(tmp_path, 3, "bytes", 30_000) / "type").write_bytes(b"\xff\xfe")
    assert temperatures(tmp_path) == {"thermal_zone2": 40, "thermal_zone3": 30}


def test_a_machine_without_sensors_has_no_temperature(tmp_path: Path) -> None:
    assert temperatures(tmp_path) == {}
