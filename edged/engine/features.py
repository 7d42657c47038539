"""Read back the features of images, the input of the network's last layer, for jobs that request them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.executable import Executable
from edged.engine.layout import Elements, Tensor
from edged.engine.opencl import cl
from edged.engine.planner import Plan
from edged.errors import ModelError


@dataclass(frozen=True, eq=False)
class FeatureOutput:
    """A tensor of a job in its memory layout, complete once `event` has come; None: it is complete."""

    tensor: Tensor
    memory: Elements
    event: Any = None

    def wait(self) -> Elements:
        """Wait for the event. Raises cl.Error."""
        if self.event is not None:
            self.event.wait()
        return self.memory


class FeatureReader:
    """Reads the features of one plan; jobs that do not request them cost nothing."""

    def __init__(self, plan: Plan, executable: Executable, queue: Any) -> None:
        self._tensor = plan.features
        self._queue = queue
        in_the_arena = plan.features is not None and plan.features != plan.images
        self._memory = executable.memory_of(plan.features) if plan.features and in_the_arena else None

    def read(self, frames: int, uploaded: NDArray[np.uint8]) -> FeatureOutput:
        """Enqueue the copy after the kernels of a job, before those of the next one overwrite it.

        `uploaded`: the input of the job, which are the features if the part begins with them. Raises ModelError if
        there are none.
        """
        if self._tensor is None:
            raise ModelError("this network has no features: it does not end in a fully connected layer")
        if self._memory is None:
            return FeatureOutput(self._tensor, uploaded.view(self._tensor.dtype))
        values = np.empty(frames * self._tensor.nbytes // self._tensor.frames, np.uint8)
        event = cl.enqueue_copy(self._queue, values, self._memory, is_blocking=False)
        return FeatureOutput(self._tensor, values.view(self._tensor.dtype), event)
