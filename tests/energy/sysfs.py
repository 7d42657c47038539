"""Sysfs trees as drivers show them, built in a temporary directory."""

from pathlib import Path

JUNO = {"SYS": 27697142, "BIG": 3956123, "LITTLE": 778037, "GPU": 2142136}


def hwmon_device(root: Path, number: int, name: str, **channels: tuple[str | None, int]) -> Path:
    """A hwmon device; `channels` like energy1=("label", microjoules)."""
    folder = root / "class/hwmon" / f"hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    for channel, (label, value) in channels.items():
        (folder / f"{channel}_input").write_text(f"{value}\n")
        if label is not None:
            (folder / f"{channel}_label").write_text(f"{label}\n")
    return folder


def juno(root: Path, number: int = 1) -> Path:
    """Juno's SCPI sensors, with other devices before them so that numbers mean nothing."""
    hwmon_device(root, 0, "acpitz", temp1=(None, 40000))
    channels = {f"energy{n}": (f"BOARD_ENERGY_{rail}", value) for n, (rail, value) in enumerate(JUNO.items(), 1)}
    return hwmon_device(root, number, "scpi_sensors", **channels)


def powercap_zone(
    root: Path, zone: str, name: str, microjoules: int, range_microjoules: int = 262143328850
) -> Path:
    """A RAPL zone; returns its counter."""
    folder = root / "class/powercap" / zone
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "max_energy_range_uj").write_text(f"{range_microjoules}\n")
    counter = folder / "energy_uj"
    counter.write_text(f"{microjoules}\n")
    return counter
