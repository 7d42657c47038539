"""The OpenCL devices, listed and tested in other processes: a driver may crash as soon as it is loaded."""

from collections.abc import Callable
from typing import Any

from edged.cli.doctor.facts import ExaminedDevice
from edged.runtime.drivers import list_apart

SHOWN = ("platform", "name", "kind", "version", "driver", "fp16", "compute_units", "memory_bytes")


def read_devices(show: Callable[[str], None]) -> tuple[tuple[ExaminedDevice, ...], str]:
    """List and test every device; also return why none could be listed. `show`: called with the progress."""
    listed, problem = list_apart()
    return tuple(_tested(device, show) for device in listed), problem


def _tested(listed: dict[str, Any], show: Callable[[str], None]) -> ExaminedDevice:
    from edged.cli.doctor.collect.self_test import try_device
    from edged.engine.apart import device_of

    device = device_of(listed)
    tried = try_device(
        device, lambda step: show(f"testing {device.name}: {step}; the first time, kernels compile")
    )
    return ExaminedDevice(**{name: listed[name] for name in SHOWN}, tried=tried)
