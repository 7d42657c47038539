"""Where the records of a device are: the user's, what edged brings for the device, and for its family."""

import re
from importlib.resources import files
from pathlib import Path

from edged.engine.device import Device
from edged.paths import state_directory

SHIPPED = Path(str(files("edged.engine"))) / "tuned"


def user_record(device: Device, state: Path | None = None) -> Path:
    """The file that `edged tune` writes. `state`: folder of what must outlive a restart, None for the user's."""
    return (state or state_directory()) / "tuned" / file_name(device)


def record_places(device: Device, state: Path | None = None) -> tuple[Path, ...]:
    """Files to look into, in order of preference."""
    return user_record(device, state), SHIPPED / file_name(device), SHIPPED / f"{family_of(device)}.json"


def file_name(device: Device) -> str:
    """Equal on two boards of a kind: a record can be copied from one to the other."""
    return f"{_plain(f'{device.platform} {device.name} {device.driver} x{device.compute_units}')}.json"


def family_of(device: Device) -> str:
    """Devices that the same choices suit: mali-t6, mali-g, a maker's GPUs, CPUs by maker and vector width."""
    name = device.name.casefold()
    if mali := re.search(r"mali-(t\d|g)", name):
        return mali[0]
    maker = next((maker for maker in ("amd", "intel", "nvidia", "adreno", "powervr") if maker in name), None)
    if device.kind == "cpu":
        return f"cpu-{maker or 'other'}-{device.vector_width}"
    return f"{device.kind}-{maker or _plain(device.platform)}"


def _plain(text: str) -> str:
    """Small letters, digits and single hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
