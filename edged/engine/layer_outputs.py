"""Read the output of each layer of a network on a device, to find how large an error is and where it begins."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.config import Precision
from edged.engine.device import Device, open_device
from edged.engine.executable import Executable
from edged.engine.layout import Tensor, from_memory, memory_for
from edged.engine.memory import lifetimes
from edged.engine.opencl import cl, device_errors
from edged.engine.planner import make_plan
from edged.engine.programs import Binaries, Programs
from edged.engine.selection import Chooser
from edged.model.graph import Float32, Graph
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.system.paths import cache_directory


class LayerOutputs:
    """Runs the plan of a `Runtime` with the same arguments kernel by kernel, and reads its tensors.

    output: name of the tensor that holds the scores.
    """

    def __init__(
        self,
        graph: Graph,
        wanted: Input,
        device: Device,
        precision: Precision,
        chooser: Chooser,
        cache: Path | None = None,
    ) -> None:
        plan = make_plan(ModelPart(graph, wanted), device, precision=precision, chooser=chooser)
        self.output = plan.output.name
        self._device_name = device.name
        with device_errors(device.name, "opening it"):
            context = cl.Context([open_device(device)])
            self._queue = cl.CommandQueue(context)
        programs = Programs(context, device, Binaries(cache or cache_directory() / "programs"))
        self._executable = Executable(plan, context, device, programs)
        programs.save()
        # After the last kernel that touches a tensor it is complete, and nothing else has taken its place yet.
        self._complete: list[list[Tensor]] = [[] for _ in plan.launches]
        for tensor, (_, last) in lifetimes(plan.launches).items():
            if tensor.name in graph.shapes:
                self._complete[last].append(tensor)

    def compute(self, image: NDArray[np.uint8]) -> dict[str, Float32]:
        """Return every tensor that the plan writes, by name, for one image, uint8 RGB [1, height, width, 3].

        Each is float32 [1, channels, height, width]; features are the channels of one pixel. Raises
        DeviceError.
        """
        tensors: dict[str, Float32] = {}
        with device_errors(self._device_name, "computing layer by layer"):
            cl.enqueue_copy(self._queue, self._executable.images[0], np.ascontiguousarray(image))
            for step, complete in zip(self._executable.forward[0], self._complete, strict=True):
                step.enqueue(self._queue, 1)
                tensors |= {tensor.name: self._read(tensor) for tensor in complete}
        return tensors

    def _read(self, tensor: Tensor) -> Float32:
        memory = memory_for(tensor, tensor.frames)
        cl.enqueue_copy(self._queue, memory, self._executable.memory_of(tensor))
        image = from_memory(tensor, memory)
        shape = (1, tensor.channels, tensor.height, tensor.width)
        return np.full(shape, np.nan, np.float32) if image is None else image
