"""Find energy counters of Intel's and AMD's RAPL: `energy_uj` in µJ, which wraps at `max_energy_range_uj`.

Interface: Linux, Documentation/power/powercap/powercap.rst. Zones nest by name: intel-rapl:0 is a package,
intel-rapl:0:1 a part of it. Only root may read them since CVE-2020-8694.
"""

from collections.abc import Sequence
from pathlib import Path

from edged.energy.rails import MICRO, Rail, Unreadable, probe, text_of

APART = {"dram"}  # zones below a package that the package's counter does not include
WHOLE_PLATFORM = "psys"  # includes the packages, on machines that support it


def find(root: Path) -> list[Rail | Unreadable]:
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
    return Rail(name, zone / "energy_uj", _range_joules(zone), overlaps)


def _range_joules(zone: Path) -> float | None:
    text = text_of(zone / "max_energy_range_uj")
    return int(text) * MICRO if text.isdecimal() else None
