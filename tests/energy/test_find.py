"""Which rails are found, under which names, and what is said about the others."""

from pathlib import Path

import pytest

from edged.config import Energy
from edged.energy.find import find_rails
from tests.energy.sysfs import JUNO, hwmon_device, juno, powercap_zone


@pytest.mark.parametrize("number", [1, 7])
def test_juno_has_four_rails_whatever_the_number_of_the_device(tmp_path: Path, number: int) -> None:
    juno(tmp_path, number)

    found = find_rails(Energy(), tmp_path)

    assert [rail.name for rail in found.rails] == ["SYS", "BIG", "LITTLE", "GPU"]
    assert found.rails[3].read() == pytest.approx(JUNO["GPU"] * 1e-6)
    assert (found.method, found.note) == ("measured", "")


def test_named_rails_are_the_only_ones_read_and_a_missing_name_is_said(tmp_path: Path) -> None:
    juno(tmp_path)

    found = find_rails(Energy(rails=("GPU", "DRAM")), tmp_path)

    assert [rail.name for rail in found.rails] == ["GPU"]
    assert found.note == "there is no rail named DRAM"


def test_a_package_and_its_memory_are_taken_but_not_what_they_include_already(tmp_path: Path) -> None:
    powercap_zone(tmp_path, "intel-rapl:0", "package-0", 1)
    powercap_zone(tmp_path, "intel-rapl:0:0", "core", 1)
    powercap_zone(tmp_path, "intel-rapl:0:1", "dram", 1)
    powercap_zone(tmp_path, "intel-rapl:1", "psys", 1)
    powercap_zone(tmp_path, "intel-rapl-mmio:0", "package-0", 1)

    found = find_rails(Energy(), tmp_path)

    assert [rail.name for rail in found.rails] == ["package-0", "package-0.dram"]
    assert {rail.name for rail in found.others} == {"package-0.core", "psys"}
    assert find_rails(Energy(rails=("psys",)), tmp_path).rails[0].name == "psys"


def test_the_range_of_a_package_is_known(tmp_path: Path) -> None:
    powercap_zone(tmp_path, "intel-rapl:0", "package-0", 5_000_000, range_microjoules=262143328850)

    (rail,) = find_rails(Energy(), tmp_path).rails

    assert rail.read() == pytest.approx(5.0)
    assert rail.range_joules == pytest.approx(262143.32885)


def test_channels_without_labels_bear_their_devices_name(tmp_path: Path) -> None:
    hwmon_device(tmp_path, 0, "gpu_energy", energy1=(None, 1))
    hwmon_device(tmp_path, 1, "board", energy1=(None, 1), energy2=(None, 1))

    names = [rail.name for rail in find_rails(Energy(), tmp_path).rails]

    assert names == ["gpu_energy", "board.energy1", "board.energy2"]


def test_a_counter_that_gives_no_number_is_reported_with_its_file(tmp_path: Path) -> None:
    counter = powercap_zone(tmp_path, "intel-rapl:0", "package-0", 1)
    counter.write_text("")

    found = find_rails(Energy(), tmp_path)

    assert found.method == "none"
    assert str(counter) in found.note
    assert "no reading" in found.note


def test_a_counter_that_only_root_may_read_is_reported_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = powercap_zone(tmp_path, "intel-rapl:0", "package-0", 1)

    def denied(path: Path) -> str:  # root, who runs tests in a container, is never refused by file modes
        if path == counter:
            raise PermissionError(13, "Permission denied")
        return path.read_bytes().decode()

    monkeypatch.setattr(Path, "read_text", denied)
    found = find_rails(Energy(), tmp_path)

    (unreadable,) = found.unreadable
    assert (unreadable.name, unreadable.reason) == ("package-0", "permission denied")
    assert f"chmod a+r {counter}" in unreadable.remedy
    assert found.method == "none"


def test_a_machine_without_counters_says_so(tmp_path: Path) -> None:
    found = find_rails(Energy(), tmp_path)

    assert (found.rails, found.method) == ((), "none")
    assert "no energy counter" in found.note


def test_energy_can_be_switched_off(tmp_path: Path) -> None:
    juno(tmp_path)

    found = find_rails(Energy(rails="none"), tmp_path)

    assert (found.rails, found.note) == ((), "switched off by energy.rails: none")
