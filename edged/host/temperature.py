"""Temperatures: thermal zones, and the `tempN_input` of hwmon, found by name and label.

Interfaces: Linux, Documentation/driver-api/thermal/sysfs-api.rst and Documentation/hwmon/sysfs-interface.rst;
both in thousandths of a degree.
"""

from collections.abc import Iterator
from pathlib import Path

from edged.host.files import in_order, new_name, number, text

BELIEVED = range(-100_000, 250_001)  # m°C; a sensor that is off or broken shows −274000, or 2147483


def temperatures(root: Path) -> dict[str, float]:
    """°C by sensor, thermal zones first: `cpu-thermal`, `scpi_sensors.SENSOR_TEMP_SOC`, `coretemp.temp1`."""
    found: dict[str, float] = {}
    for name, path in (*_zones(root), *_hwmon(root)):
        millidegrees = number(path)
        if millidegrees is not None and millidegrees in BELIEVED:
            found[new_name(name, found)] = millidegrees / 1000
    return found


def _zones(root: Path) -> Iterator[tuple[str, Path]]:
    for zone in in_order((root / "class/thermal").glob("thermal_zone*")):
        yield text(zone / "type") or zone.name, zone / "temp"


def _hwmon(root: Path) -> Iterator[tuple[str, Path]]:
    """Those that are no thermal zone's second face (`cpu_thermal` is `cpu-thermal` once more)."""
    zones = {name.replace("-", "_") for name, _ in _zones(root)}
    for path in in_order((root / "class/hwmon").glob("hwmon*/temp*_input")):
        device = text(path.with_name("name")) or path.parent.name
        channel = path.name.removesuffix("_input")
        if device not in zones:
            yield f"{device}.{text(path.with_name(f'{channel}_label')) or channel}", path
