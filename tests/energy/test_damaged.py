"""Machines whose sensors are broken: what is whole is read, the rest is named, and nothing is held up."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from edged.config import EnergyConfig
from edged.energy import bounded
from edged.energy.find import Rails, find_rails
from edged.energy.reader import Reader
from tests.energy.sysfs import hwmon_device, jetson, juno, old_juno, powercap_zone, rapl_server, scmi_juno

Damage = Callable[[Path], object]


def becomes_a_pipe(path: Path) -> None:
    """It blocks whoever opens it, as the driver of a bus that hangs does."""
    path.unlink()
    os.mkfifo(path)


def becomes_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


# A tree, its rails, the file of one of them, and its name
MACHINES: dict[str, tuple[Callable[[Path], object], set[str], str, str]] = {
    "scpi": (juno, {"SYS", "BIG", "LITTLE", "GPU"}, "class/hwmon/hwmon1/energy4_input", "GPU"),
    "scmi": (scmi_juno, {"SYS", "BIG", "LITTLE", "GPU"}, "class/hwmon/hwmon0/energy4_input", "GPU"),
    "old juno": (old_juno, {"SYS", "BIG", "LITTLE", "GPU"}, "class/hwmon/hwmon15/energy1_input", "GPU"),
    "rapl": (
        rapl_server,
        {"package-0", "package-0.dram", "package-1", "package-1.dram"},
        "class/powercap/intel-rapl:1:1/energy_uj",
        "package-1.dram",
    ),
    "jetson": (jetson, {"VDD_CPU_GPU_CV", "VDD_SOC"}, "class/hwmon/hwmon3/in3_input", "VDD_SOC"),
}
DAMAGES: dict[str, tuple[Damage, str]] = {
    "empty": (lambda path: path.write_text(""), "no reading"),
    "text": (lambda path: path.write_text("N/A\n"), "no reading"),
    "bytes": (lambda path: path.write_bytes(b"\xff\xfe\x00"), "no reading"),
    "a folder": (becomes_a_folder, "no reading"),
    "blocks": (becomes_a_pipe, "its driver blocks"),
}


def found_in(root: Path) -> Rails:
    return find_rails(EnergyConfig(sysfs=root))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_rail_that_is_damaged_is_named_and_the_others_are_read(
    tmp_path: Path, passed: list[float], machine: str, damage: str
) -> None:
    tree, rails, file, damaged = MACHINES[machine]
    harm, words = DAMAGES[damage]
    tree(tmp_path)
    harm(tmp_path / file)

    found = found_in(tmp_path)

    (unreadable,) = found.unreadable
    assert (unreadable.name, words in unreadable.reason) == (damaged, True)
    assert f"{damaged}: {unreadable.reason}" in found.note
    powers = {rail.name for rail in found.rails if rail.gives == "watts" and machine != "jetson"}
    assert {rail.name for rail in found.rails} - powers == rails - {damaged}
    assert powers <= {damaged}  # on a Juno its power takes the place of its energy
    assert set(passed) == ({bounded.BOUND_S} if damage == "blocks" else set())


def test_files_that_are_missing_leave_names_that_still_tell_rails_apart(tmp_path: Path) -> None:
    folder = juno(tmp_path)
    (folder / "name").unlink()
    (folder / "energy4_label").unlink()
    for path in folder.glob("power*"):
        path.unlink()

    assert [rail.name for rail in found_in(tmp_path).rails] == ["SYS", "BIG", "LITTLE", "hwmon1.energy4"]


def test_labels_that_do_not_answer_are_as_good_as_absent(tmp_path: Path) -> None:
    folder = juno(tmp_path)
    becomes_a_pipe(folder / "energy4_label")

    assert "scpi_sensors.energy4" in [rail.name for rail in found_in(tmp_path).rails]


def test_a_counter_below_zero_and_a_range_that_is_none_are_no_numbers(tmp_path: Path) -> None:
    powercap_zone(tmp_path, "intel-rapl:0", "package-0", 1).with_name("max_energy_range_uj").write_text("large\n")
    powercap_zone(tmp_path, "intel-rapl:1", "package-1", -5)

    found = found_in(tmp_path)

    assert [(rail.name, rail.range_joules) for rail in found.rails] == [("package-0", None)]
    assert "negative" in found.unreadable[0].reason


def test_a_supply_that_is_charged_supplies_nothing(tmp_path: Path) -> None:
    (jetson(tmp_path) / "curr2_input").write_text("-8\n")

    rails = found_in(tmp_path).rails

    assert Reader(rails).read()[rails[0].name] == 0


@pytest.mark.parametrize("bits", [32, 63, 64])
def test_a_sensor_that_gives_all_ones_gives_no_reading(tmp_path: Path, bits: int) -> None:
    power = hwmon_device(tmp_path, 0, "ina226", power1=("SYS", 5_000_000)) / "power1_input"
    (rail,) = found_in(tmp_path).rails
    power.write_text(f"{2**bits - 1}\n")

    with pytest.raises(ValueError, match="the sensor does not answer"):
        rail.read()
    assert "all bits are set" in found_in(tmp_path).unreadable[0].reason


def test_what_only_root_may_read_comes_with_the_lines_that_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rapl_server(tmp_path)
    opened = os.open

    def denied(path: Path, flags: int, *rest: int) -> int:
        if str(path).endswith("energy_uj"):  # root, who runs tests in a container, is never refused by modes
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *rest)

    monkeypatch.setattr(os, "open", denied)
    found = found_in(tmp_path)

    assert (found.method, len(found.unreadable)) == ("none", 7)
    first = found.unreadable[0]
    assert (first.name, first.reason) == ("package-0", "permission denied")
    zones = tmp_path / "class/powercap/*"
    assert f"sudo chmod g+r {zones}/energy_uj {zones}/max_energy_range_uj" in first.remedies[0]
    assert 'SUBSYSTEM=="powercap", TEST=="energy_uj"' in first.remedies[1]
    assert {each.remedies for each in found.unreadable} == {first.remedies}
    assert "package-0, package-0.core" in found.note
