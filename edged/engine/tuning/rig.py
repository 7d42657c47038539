"""A device on which candidates run as in a whole network: with their weights not in the caches."""

from pathlib import Path
from typing import Any

from edged.engine.device import Device, open_device
from edged.engine.executable import Executable
from edged.engine.launch import Images, Launch
from edged.engine.layout import Tensor
from edged.engine.memory import arrange
from edged.engine.opencl import cl, device_errors
from edged.engine.planner import Plan
from edged.engine.programs import Binaries, Programs
from edged.engine.variants.elementwise import ACTIVATE
from edged.engine.variants.variant import Site
from edged.model.activations import RELU
from edged.model.graph import Activate

MOST_SWEPT = 128 * 2**20  # larger than any cache
SIDE, BLOCK = 64, 16  # of the images that clear the caches


class Rig:
    """The device with a queue and its programs.

    between: bytes that a frame uses between two uses of the same layer. A ReLU passes as many through the caches
    before each run, since a fill by the driver might use only one core's. Raises DeviceError.
    """

    def __init__(self, device: Device, programs: Path, between: int) -> None:
        self.device = device
        with device_errors(device.name, "opening it"):
            self.context = cl.Context([open_device(device)])
            profiling = cl.command_queue_properties.PROFILING_ENABLE
            self.queue = cl.CommandQueue(self.context, properties=profiling)
        self.programs = Programs(self.context, device, Binaries(programs))
        self._sweep = self.executable(ACTIVATE.launches(_swept(device, min(between, MOST_SWEPT)), {}))
        self.sweep()
        self.finish()

    def executable(self, launches: tuple[Launch, ...]) -> Executable:
        """Return `launches` ready to run, no two of their tensors in the same memory."""
        spans = {tensor: (0, 0) for launch in launches for tensor in launch.tensors}
        plan = Plan(Images(1, 1, 1), launches, launches[-1].tensors[-1], arrange(spans, self.device.alignment))
        return Executable(plan, self.context, self.device, self.programs)

    def sweep(self) -> None:
        """Pass other data through the caches."""
        self.run(self._sweep, 1)

    def run(self, executable: Executable, frames: int) -> list[Any]:
        """Enqueue all kernels; return their events."""
        return [step.enqueue(self.queue, frames) for step in executable.forward[0]]

    def finish(self) -> None:
        """Wait until everything enqueued has finished. Raises DeviceError."""
        with device_errors(self.device.name, "running a candidate"):
            self.queue.finish()


def _swept(device: Device, nbytes: int) -> Site[Activate]:
    """Return a ReLU that reads and writes about `nbytes` in all."""
    blocks = max(1, nbytes // (2 * SIDE * SIDE * BLOCK * 4))
    source, target = (Tensor(name, 1, blocks * BLOCK, SIDE, SIDE, BLOCK) for name in ("old", "new"))
    return Site(Activate("sweep", ("old",), "new", RELU), (source,), target, device)
