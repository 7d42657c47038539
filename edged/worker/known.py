"""A picture, or features, whose answer the worker remembers from its start: a device that answers otherwise now is
broken.
"""

from dataclasses import dataclass, field

import numpy as np

from edged.clock import NANOSECONDS, now_ns
from edged.errors import DeviceError
from edged.worker.part import Features, Images
from edged.worker.runtime import ModelRuntime, Outputs

TOLERANCE = 1e-3  # of the largest output: more than rounding ever changes, less than a broken device does


@dataclass(eq=False)
class Known:
    """`outputs`: what the device made of `frames` at its start."""

    frames: Images | Features
    outputs: Outputs
    _checked_ns: int = field(default_factory=now_ns)

    def check(self, runtime: ModelRuntime, every_s: float) -> None:
        """Ask once more, where it was last asked longer ago, and wait for the answer: a job or two.

        Raises DeviceError if it is another one, or none.
        """
        now = now_ns()
        if now - self._checked_ns < every_s * NANOSECONDS:
            return
        self._checked_ns = now
        outputs = runtime.submit(self.frames).wait().outputs
        if not _agree(outputs, self.outputs):
            raise DeviceError(
                f"{runtime.device_name} no longer gives the answer that it gave at its start to the same picture"
            )


def _agree(one: Outputs, other: Outputs) -> bool:
    """Up to rounding; NaN agrees with NaN alone."""
    largest = np.abs(other, where=np.isfinite(other), out=np.zeros_like(other)).max()
    return np.allclose(one, other, rtol=0, atol=TOLERANCE * largest, equal_nan=True)
