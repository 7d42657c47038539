"""Which rails are found on complete machines, under which names, and with which numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edged.config import EnergyConfig
from edged.energy.find import Rails, find_rails
from tests.energy.sysfs import (
    JETSON,
    JUNO,
    JUNO_MILLIWATTS,
    hwmon_device,
    jetson,
    juno,
    old_juno,
    powercap_zone,
    rapl_server,
    scmi_juno,
)


def found_in(root: Path, **settings: Any) -> Rails:
    return find_rails(EnergyConfig(sysfs=root, **settings))


def names(rails: Rails) -> list[str]:
    return [rail.name for rail in rails.rails]


@pytest.mark.parametrize("number", [1, 7])
def test_juno_has_four_rails_whatever_the_number_of_the_device(tmp_path: Path, number: int) -> None:
    juno(tmp_path, number)

    found = found_in(tmp_path)

    assert names(found) == ["SYS", "BIG", "LITTLE", "GPU"]
    assert found.rails[3].read() == pytest.approx(JUNO["GPU"] * 1e-6)
    assert (found.method, found.note, found.others) == ("measured", "", ())


@pytest.mark.parametrize("tree", [juno, scmi_juno, old_juno])
def test_each_of_junos_three_drivers_gives_the_same_rails_and_energy_wins(
    tmp_path: Path, tree: Callable[[Path], object]
) -> None:
    tree(tmp_path)

    found = found_in(tmp_path)

    assert {rail.name: (rail.gives, round(rail.read() * 1e6)) for rail in found.rails} == {
        name: ("joules", microjoules) for name, microjoules in JUNO.items()
    }


def test_the_power_of_the_old_juno_driver_is_in_milliwatts(tmp_path: Path) -> None:
    old_juno(tmp_path, with_energy=False)

    found = found_in(tmp_path)

    watts = {rail.name: rail.read() for rail in found.rails}
    assert watts == pytest.approx({name: milliwatts / 1000 for name, milliwatts in JUNO_MILLIWATTS.items()})
    assert found.note == "SYS, BIG, LITTLE, GPU: power alone, integrated at 10 samples a second"


def test_a_device_whose_name_only_sounds_like_the_old_driver_keeps_to_the_rule(tmp_path: Path) -> None:
    hwmon_device(tmp_path, 0, "gpu_power_2", power1=(None, 2_000_000))
    hwmon_device(tmp_path, 1, "gpu_power", power1=("VDD_GPU", 3_000_000))

    assert {rail.name: rail.read() for rail in found_in(tmp_path).rails} == {"gpu_power_2": 2.0, "VDD_GPU": 3.0}


def test_junos_firmware_without_energy_is_named_as_the_reason(tmp_path: Path) -> None:
    scmi_juno(tmp_path, with_energy=False)

    assert found_in(tmp_path).note.endswith("Juno's firmware reports none by default since March 2020")


def test_a_server_has_its_packages_and_memory_but_not_what_they_include_already(tmp_path: Path) -> None:
    rapl_server(tmp_path)

    found = found_in(tmp_path)

    assert names(found) == ["package-0", "package-0.dram", "package-1", "package-1.dram"]
    assert {rail.name for rail in found.others} == {"package-0.core", "package-1.core", "psys"}
    assert found.rails[0].read() == pytest.approx(5.0)
    assert found.rails[0].range_joules == pytest.approx(262143.32885)
    assert names(found_in(tmp_path, rails=("psys",))) == ["psys"]


def test_a_jetson_has_millivolts_times_milliamperes_by_label(tmp_path: Path) -> None:
    jetson(tmp_path)

    found = found_in(tmp_path)

    watts = {rail.name: rail.read() for rail in (*found.rails, *found.others)}
    assert watts == pytest.approx({name: volts * current * 1e-6 for name, volts, current in JETSON.values()})
    assert names(found) == ["VDD_CPU_GPU_CV", "VDD_SOC"]  # VDD_IN holds them
    assert all(rail.gives == "watts" for rail in found.rails)


def test_where_the_driver_has_power_itself_that_is_read(tmp_path: Path) -> None:
    folder = jetson(tmp_path)
    (folder / "power2_label").write_text("VDD_CPU_GPU_CV\n")
    (folder / "power2_input").write_text("1100000\n")

    assert {rail.name: rail.times is None for rail in found_in(tmp_path).rails} == {
        "VDD_CPU_GPU_CV": True,
        "VDD_SOC": False,
    }


def test_an_average_power_is_read_where_a_driver_gives_that_alone(tmp_path: Path) -> None:
    folder = hwmon_device(tmp_path, 0, "amdgpu", power1=("PPT", 31_000_000))
    (folder / "power1_input").rename(folder / "power1_average")
    both = hwmon_device(tmp_path, 1, "nct6775", power1=("CPU", 5_000_000))
    (both / "power1_average").write_text("4000000\n")

    assert {rail.name: rail.read() for rail in found_in(tmp_path).rails} == {"PPT": 31.0, "CPU": 5.0}


def test_a_channel_that_nothing_is_connected_to_is_no_rail(tmp_path: Path) -> None:
    folder = jetson(tmp_path)
    (folder / "in3_enable").write_text("0\n")
    (folder / "in3_label").unlink()

    assert names(found_in(tmp_path)) == ["VDD_CPU_GPU_CV"]


def test_devices_of_the_same_name_are_distinguished_by_their_place_on_the_bus(tmp_path: Path) -> None:
    for number, address in enumerate(["1-0040", "1-0041"]):
        folder = hwmon_device(tmp_path, number, "ina238", power1=(None, 1_000_000))
        (tmp_path / "devices" / address).mkdir(parents=True)
        (folder / "device").symlink_to(tmp_path / "devices" / address)

    assert names(found_in(tmp_path)) == ["ina238@1-0040", "ina238@1-0041"]


def test_drivers_of_old_keep_their_files_one_folder_deeper(tmp_path: Path) -> None:
    hwmon = tmp_path / "class/hwmon/hwmon0"
    hwmon_device(tmp_path / "inside", 0, "board", energy1=(None, 7)).rename(tmp_path / "device")
    hwmon.mkdir(parents=True)
    (hwmon / "device").symlink_to(tmp_path / "device")

    assert names(found_in(tmp_path)) == ["board"]


def test_channels_without_labels_bear_their_devices_name(tmp_path: Path) -> None:
    hwmon_device(tmp_path, 0, "accelerator", energy1=(None, 1), power1=(None, 1))
    hwmon_device(tmp_path, 1, "board", energy1=(None, 1), energy2=(None, 1))

    assert names(found_in(tmp_path)) == ["accelerator", "board.energy1", "board.energy2"]


def test_named_rails_are_the_only_ones_read_and_a_missing_name_is_said(tmp_path: Path) -> None:
    juno(tmp_path)

    found = found_in(tmp_path, rails=("GPU", "DRAM"))

    assert names(found) == ["GPU"]
    assert found.note == "there is no rail named DRAM"


def test_a_rail_of_a_worker_that_nobody_reads_is_said(tmp_path: Path) -> None:
    juno(tmp_path)

    found = find_rails(EnergyConfig(sysfs=tmp_path), attributed_rails=("GPU", "NPU"))

    assert found.unread_attributed == ("NPU",)
    assert "no joules of predictions: the worker's rails NPU are not read" in found.note


def test_a_machine_without_counters_says_so_or_what_is_estimated_instead(tmp_path: Path) -> None:
    found, estimated = found_in(tmp_path), found_in(tmp_path, watts_per_core=3.5)

    assert (found.rails, found.method, estimated.method) == ((), "none", "estimated")
    assert "no energy or power counter" in found.note
    assert estimated.note.startswith("estimated: 3.5 W for each second of processor time of the worker; this")


def test_rails_that_only_hold_others_are_named_where_there_is_nothing_else(tmp_path: Path) -> None:
    powercap_zone(tmp_path, "intel-rapl:1", "psys", 1)

    assert "auto selects none of psys" in found_in(tmp_path).note


def test_energy_can_be_switched_off(tmp_path: Path) -> None:
    juno(tmp_path)

    found = found_in(tmp_path, rails="none")

    assert (found.rails, found.note) == ((), "switched off by energy.rails: none")
