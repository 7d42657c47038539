"""Energy counters of hwmon: `energyN_input` in µJ, found by device name and channel label, never by number.

Interface: Linux, Documentation/hwmon/sysfs-interface.rst.
"""

import re
from pathlib import Path

from edged.energy.rails import Rail, Unreadable, probe, text_of

JUNO_PREFIX = "BOARD_ENERGY_"  # driver scpi_sensors; the rest is SYS, BIG, LITTLE or GPU
PARTS = {("amd_energy", "Ecore"), ("xe", "pkg")}  # channels that the same device counts in another one too


def find(root: Path) -> list[Rail | Unreadable]:
    """Every energy channel below `root`/class/hwmon, by device and channel number."""
    inputs = sorted((root / "class/hwmon").glob("hwmon*/energy*_input"), key=_natural_order)
    return [probe(_rail(path)) for path in inputs]


def _rail(path: Path) -> Rail:
    device = text_of(path.with_name("name")) or path.parent.name
    label = text_of(path.with_name(path.name.replace("_input", "_label")))
    overlaps = any(device == part_of and label.startswith(start) for part_of, start in PARTS)
    return Rail(_rail_name(device, label, path), path, overlaps=overlaps)


def _rail_name(device: str, label: str, path: Path) -> str:
    if label:
        return label.removeprefix(JUNO_PREFIX)
    channels = list(path.parent.glob("energy*_input"))
    return device if len(channels) == 1 else f"{device}.{path.name.removesuffix('_input')}"


def _natural_order(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", f"{path.parent.name}/{path.name}")]
