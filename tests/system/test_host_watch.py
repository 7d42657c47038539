"""The state of a machine, read in a thread of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edged.messages import Frequency, HostState
from edged.messages.worker import MOST
from edged.system.host_watch import HostWatch, frequencies, read, temperatures
from tests.energy.sysfs import hwmon_device
from tests.eventually import eventually
from tests.system.sysfs import gpu, juno, policy, rk3588, write, zone


@contextmanager
def watch(root: Path) -> Iterator[HostWatch]:
    watch = HostWatch(root, every_s=0.01)
    try:
        yield watch
    finally:
        watch.stop()


def celsius(watch: HostWatch) -> dict[str, float]:
    """By sensor, as soon as there is news."""

    def popped() -> list[HostState]:
        news = watch.pop_state()
        return [news] if news else []

    return eventually(popped)[0].celsius


def test_it_tells_what_is_there_now(tmp_path: Path) -> None:
    zone(tmp_path, 0, "cpu-thermal", 41_000)
    with watch(tmp_path) as state:
        assert celsius(state) == {"cpu-thermal": 41}
        zone(tmp_path, 0, "cpu-thermal", 52_000)
        eventually(lambda: celsius(state) == {"cpu-thermal": 52})


def test_a_machine_that_shows_nothing_has_no_news(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    with watch(tmp_path) as state:
        zone(tmp_path, 0, "cpu-thermal", 41_000)
        eventually(state.pop_state)  # it has gone on looking


def test_a_sensor_that_blocks_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = zone(tmp_path, 0, "stuck", 0) / "temp"
    path.unlink()
    os.mkfifo(path)  # a reader waits until somebody writes
    with watch(tmp_path) as state:
        assert state.pop_state() is None
        with path.open("w") as writer:
            writer.write("41000\n")
        assert celsius(state) == {"stuck": 41}
        path.unlink()


def test_of_a_large_machine_the_first_of_each_are_reported(tmp_path: Path) -> None:
    for number in range(200):
        zone(tmp_path, number, f"zone-{number}", 40_000)
        policy(tmp_path, number, 400, 800, 800)
    juno(tmp_path)
    state = read(tmp_path)
    assert list(state.celsius) == [f"zone-{number}" for number in range(MOST)]
    assert list(state.frequencies) == [f"policy{number}" for number in range(MOST)]


def test_a_juno_whose_big_cluster_is_held_down(tmp_path: Path) -> None:
    juno(tmp_path)
    assert frequencies(tmp_path) == {
        "policy0": Frequency(now=450_000_000, limit=850_000_000, maximum=850_000_000),
        "policy1": Frequency(now=600_000_000, limit=600_000_000, maximum=1_100_000_000),
    }


def test_processors_gpu_and_memory_of_an_rk3588(tmp_path: Path) -> None:
    rk3588(tmp_path)
    found = frequencies(tmp_path)
    assert list(found) == ["policy0", "policy4", "dmc", "fb000000.gpu"]
    assert found["fb000000.gpu"] == Frequency(now=300_000_000, limit=850_000_000, maximum=1_000_000_000)


def test_a_gpu_that_does_not_tell_its_steps_could_do_what_it_may(tmp_path: Path) -> None:
    gpu(tmp_path, 100, 800, "")
    assert frequencies(tmp_path)["2d000000.gpu"].maximum == 800


def test_a_gpu_that_is_switched_off_stands_still(tmp_path: Path) -> None:
    gpu(tmp_path, 0, 800, "200 800")
    assert frequencies(tmp_path)["2d000000.gpu"].now == 0


@pytest.mark.parametrize("content", ["", "<unsupported>", "-1", "0x10", "9" * 30])
def test_a_policy_that_says_no_frequency_is_left_out(tmp_path: Path, content: str) -> None:
    policy(tmp_path, 0, 400, content, 800)
    policy(tmp_path, 4, 400, 800, 800)
    assert list(frequencies(tmp_path)) == ["policy4"]


def test_a_policy_whose_files_are_missing_is_left_out(tmp_path: Path) -> None:
    (policy(tmp_path, 0, 400, 800, 800) / "scaling_cur_freq").unlink()
    assert frequencies(tmp_path) == {}


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
