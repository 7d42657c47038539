"""How a job's images reach the device and its outputs come back: what `copied` and `mapped` have in common."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Float32

Bytes = NDArray[np.uint8]


class Upload(Protocol):
    """A job's images on their way. The first kernel waits for `events`."""

    @property
    def events(self) -> list[Any]: ...
    def seconds(self) -> float:
        """What it took, once it is through."""


class Download(Protocol):
    """A job's outputs on their way back."""

    def take(self) -> Float32:
        """Wait for them, in any thread, as often as one likes. Raises cl.Error."""

    def seconds(self) -> float:
        """What it took, once they were taken."""


class Slot(Protocol):
    """What one job in flight has to itself at both ends. Used in turn: `send`, the kernels, `fetch`."""

    def send(self, images: Bytes) -> Upload:
        """Enqueue the way in. `images` must stay as they are until the job is done."""

    def fetch(self, first: Any) -> Download:
        """Enqueue the way back. `first`: the event of the kernel that reads the images."""


def duration(first: Any, last: Any = None) -> float:
    """Seconds by the device's clock from the start of a command to the end of it, or of a later one."""
    return float((last or first).profile.end - first.profile.start) * 1e-9
