"""Find the energy and power sensors of Linux: hwmon, TI's INA3221 in it, and powercap.

hwmon: by device name and channel label, never by number. `energyN_input` is in µJ, `powerN_input` in µW, as is
`powerN_average`
(Documentation/hwmon/sysfs-interface.rst). If a device has both for a rail, its energy is read: a counter misses
nothing between two readings.

INA3221, a power monitor of Jetsons and others: mV × mA = µW for each of three channels
(Documentation/hwmon/ina3221.rst). in4 to in6 are shunt voltages in µV and curr4 is a sum of currents: they look
like a fourth channel, but are not.

powercap, of Intel's and AMD's RAPL: `energy_uj` in µJ, which wraps at `max_energy_range_uj`
(Documentation/power/powercap/powercap.rst). Zones nest by name: intel-rapl:0 is a package, intel-rapl:0:1 a part
of it. Only root may read them since CVE-2020-8694.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from edged.energy.rails import MICRO, MILLI, Rail, Unreadable, probe, text_of

INA3221 = "ina3221"
INA3221_CHANNELS = (1, 2, 3)
ALL_OF_THE_BOARD = {"VDD_IN", "POM_5V_IN"}  # input rail of a Jetson: it includes the other rails, and more
# Prefix before SYS, BIG, LITTLE or GPU on a Juno: drivers scpi_sensors and scmi_sensors.
JUNO_PREFIXES = ("BOARD_ENERGY_", "BOARD_POWER_", "BRD_ENRG_", "BRD_PWR_")
# Driver v2m-juno-hwmon: one device a sensor, without labels, and its power in mW.
OLD_JUNO = re.compile(r"(sys|a57|a72|a53|gpu)_(energy|power)")
OLD_JUNO_RAILS = {"sys": "SYS", "a57": "BIG", "a72": "BIG", "a53": "LITTLE", "gpu": "GPU"}
PARTS = {("amd_energy", "Ecore"), ("xe", "pkg")}  # channels included in another one

Found = Rail | Unreadable
APART = {"dram"}  # zones below a package that the package's counter does not include
WHOLE_PLATFORM = "psys"  # includes the packages, on machines that support it


def _ina3221_channels(folder: Path) -> Iterator[Rail]:
    """Yield the connected channels, unless the driver reports power itself."""
    for number in INA3221_CHANNELS:
        current, volts = folder / f"curr{number}_input", folder / f"in{number}_input"
        label = text_of(folder / f"in{number}_label")
        is_off = text_of(folder / f"in{number}_enable") == "0" and not label  # treat as not connected
        if is_off or (folder / f"power{number}_input").exists() or not (current.exists() or volts.exists()):
            continue
        name = label or f"{INA3221}.{number}"
        yield Rail(name, current, overlaps=name in ALL_OF_THE_BOARD, gives="watts", times=volts)


def hwmon_rails(root: Path) -> list[Found]:
    """Return every rail below `root`/class/hwmon, by device and channel number; each is read once."""
    energies: list[Found] = []
    powers: list[Found] = []
    for folder in sorted((root / "class/hwmon").glob("hwmon*"), key=_natural_order):
        for channel in channels(folder):
            (energies if channel.gives == "joules" else powers).append(probe(channel))
    counted = {(_family(rail.path), rail.name) for rail in energies if isinstance(rail, Rail)}
    return energies + [rail for rail in powers if (_family(rail.path), rail.name) not in counted]


def channels(folder: Path) -> Iterator[Rail]:
    """Yield the rails of one device; old drivers keep their files one folder deeper."""
    for place in (folder, folder / "device"):
        device = text_of(place / "name") or folder.name
        energies = sorted(place.glob("energy*_input"), key=_natural_order)
        powers = _powers(place)
        yield from (_energy(device, path, alone=len(energies) == 1) for path in energies)
        yield from (_power(device, path, alone=len(powers) == 1, counted=bool(energies)) for path in powers)
        if device == INA3221:
            yield from _ina3221_channels(place)


def _powers(place: Path) -> list[Path]:
    """Return the file of each power channel: the present power, or the average where a driver gives that alone."""
    present = {_channel(path): path for path in place.glob("power*_input")}
    average = {_channel(path): path for path in place.glob("power*_average")}
    return sorted((average | present).values(), key=_natural_order)


def is_without_energy(root: Path, device: str = "scmi_sensors") -> bool:
    """Return whether the device has neither energy nor power channels, as with Juno's firmware since 2020."""
    folders = [name.parent for name in (root / "class/hwmon").glob("hwmon*/name") if text_of(name) == device]
    return bool(folders) and not any(True for folder in folders for _ in channels(folder))


def _energy(device: str, path: Path, *, alone: bool) -> Rail:
    label = _label(path)
    overlaps = any(device == part_of and label.startswith(start) for part_of, start in PARTS)
    return Rail(_name(device, label, path, alone=alone), path, overlaps=overlaps)


def _power(device: str, path: Path, *, alone: bool, counted: bool) -> Rail:
    """Return a power rail. `counted`: the device has energies too, which may be of the same rail."""
    label = _label(path)
    scale = MILLI if OLD_JUNO.fullmatch(device) and not label else MICRO
    name = _name(device, label, path, alone=alone)
    return Rail(name, path, overlaps=counted and not label, gives="watts", scale=scale)


def _label(path: Path) -> str:
    return text_of(path.with_name(f"{_channel(path)}_label"))


def _channel(path: Path) -> str:
    """Return `power1` of `power1_input` and `power1_average`."""
    return path.name.rpartition("_")[0]


def _name(device: str, label: str, path: Path, *, alone: bool) -> str:
    if label:
        return next((label.removeprefix(start) for start in JUNO_PREFIXES if label.startswith(start)), label)
    if old := OLD_JUNO.fullmatch(device):
        return OLD_JUNO_RAILS[old[1]]
    return device if alone else f"{device}.{_channel(path)}"


def _family(path: Path) -> str:
    """Return the device, or all devices of the old Juno: within it, energy and power may be of the same rail."""
    device = text_of(path.with_name("name"))
    return "old juno" if OLD_JUNO.fullmatch(device) else str(path.parent)


def _natural_order(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def powercap_rails(root: Path) -> list[Rail | Unreadable]:
    """Return every zone below `root`/class/powercap; a part of a package is named package-0.core and so on."""
    zones = sorted(path.parent for path in (root / "class/powercap").glob("*/energy_uj"))
    return _without_twins([probe(_rail(zone)) for zone in zones])


def _without_twins(found: Sequence[Rail | Unreadable]) -> list[Rail | Unreadable]:
    """Return one rail per name: RAPL shows the same package through two interfaces (MSR and MMIO)."""
    by_name: dict[str, Rail | Unreadable] = {}
    for rail in found:
        if rail.name not in by_name or isinstance(by_name[rail.name], Unreadable):
            by_name[rail.name] = rail
    return list(by_name.values())


def _rail(zone: Path) -> Rail:
    kind = text_of(zone / "name") or zone.name
    package = zone.with_name(zone.name.rpartition(":")[0])
    is_part = zone.name.count(":") > 1
    name = f"{text_of(package / 'name') or package.name}.{kind}" if is_part else kind
    overlaps = (is_part and kind not in APART) or kind == WHOLE_PLATFORM
    most = text_of(zone / "max_energy_range_uj")
    return Rail(name, zone / "energy_uj", int(most) * MICRO if most.isdecimal() else None, overlaps)
