"""Find energy and power sensors of hwmon by device name and channel label, never by number.

`energyN_input` is in µJ, `powerN_input` in µW: Linux, Documentation/hwmon/sysfs-interface.rst. If a device has
both for a rail, its energy is read: a counter misses nothing between two readings.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from edged.energy import ina3221
from edged.energy.rails import MICRO, MILLI, Rail, Unreadable, probe, text_of

# Prefix before SYS, BIG, LITTLE or GPU on a Juno: drivers scpi_sensors and scmi_sensors.
JUNO_PREFIXES = ("BOARD_ENERGY_", "BOARD_POWER_", "BRD_ENRG_", "BRD_PWR_")
# Driver v2m-juno-hwmon: one device a sensor, without labels, and its power in mW.
OLD_JUNO = re.compile(r"(sys|a57|a72|a53|gpu)_(energy|power)")
OLD_JUNO_RAILS = {"sys": "SYS", "a57": "BIG", "a72": "BIG", "a53": "LITTLE", "gpu": "GPU"}
PARTS = {("amd_energy", "Ecore"), ("xe", "pkg")}  # channels included in another one

Found = Rail | Unreadable


def find(root: Path) -> list[Found]:
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
        energies, powers = (
            sorted(place.glob(f"{kind}*_input"), key=_natural_order) for kind in ("energy", "power")
        )
        yield from (_energy(device, path, alone=len(energies) == 1) for path in energies)
        yield from (_power(device, path, alone=len(powers) == 1, counted=bool(energies)) for path in powers)
        if device == ina3221.DEVICE:
            yield from ina3221.channels(place)


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
    return text_of(path.with_name(path.name.replace("_input", "_label")))


def _name(device: str, label: str, path: Path, *, alone: bool) -> str:
    if label:
        return next((label.removeprefix(start) for start in JUNO_PREFIXES if label.startswith(start)), label)
    if old := OLD_JUNO.fullmatch(device):
        return OLD_JUNO_RAILS[old[1]]
    return device if alone else f"{device}.{path.name.removesuffix('_input')}"


def _family(path: Path) -> str:
    """Return the device, or all devices of the old Juno: within it, energy and power may be of the same rail."""
    device = text_of(path.with_name("name"))
    return "old juno" if OLD_JUNO.fullmatch(device) else str(path.parent)


def _natural_order(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]
