"""Compile a composition in another process: a compiler takes seconds and memory, and may end its process."""

from pathlib import Path

from edged.engine.apart import run_apart
from edged.engine.device import Device

MODULE = "edged.engine.compiler_process"


def compile_apart(device: Device, cache: Path, source: str) -> None:
    """Compile `source` for `device` into the folder of programs `cache`. Raises DeviceError."""
    run_apart(MODULE, device, {"cache": str(cache), "source": source}, "compilation for one launch")
