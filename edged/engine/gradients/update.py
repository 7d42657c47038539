"""Launches of kernels that change every weight."""

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Argument, Launch
from edged.engine.layout import Defines
from edged.engine.variants.variant import WORK_GROUP

CHUNK = 4096  # floats that a CPU's work-item updates: enough to amortise its start


def update(
    kernel: str, arguments: tuple[Argument, ...], decayed: int, count: int, device: Device, how: Defines
) -> Launch:
    """Return a launch over `count` weights, of which the first `decayed` decay."""
    chunk = CHUNK if device.kind == "cpu" else 1
    return Launch(
        kernel=kernel,
        operator="update",
        defines={"COUNT": count, "DECAYED": decayed, "CHUNK": chunk, **how},
        arguments=arguments,
        items=ceil_div(count, chunk),
        group=1 if device.kind == "cpu" else WORK_GROUP,
    )
