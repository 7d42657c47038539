"""How a job's images reach the device and its outputs come back: what `copied` and `mapped` have in common."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Float32

Bytes = NDArray[np.uint8]


class Upload(Protocol):
    """A job's images on their way. The first kernel waits for `events`.

    `command`: the event of what the device does for it; `host_s`: what the host has done itself.
    """

    @property
    def events(self) -> list[Any]: ...
    @property
    def command(self) -> Any: ...
    @property
    def host_s(self) -> float: ...


class Download(Protocol):
    """A job's outputs on their way back. `command`, `host_s`: as of an upload, once they were taken."""

    @property
    def command(self) -> Any: ...
    @property
    def host_s(self) -> float: ...
    def take(self) -> Float32:
        """Wait for them, in any thread, as often as one likes. Raises cl.Error."""


class Slot(Protocol):
    """What one job in flight has to itself at both ends. Used in turn: `send`, the kernels, `fetch`."""

    def send(self, images: Bytes) -> Upload:
        """Enqueue the way in. `images` must stay as they are until the job is done."""

    def fetch(self, first: Any) -> Download:
        """Enqueue the way back. `first`: the event of the kernel that reads the images."""


@dataclass(frozen=True, slots=True)
class Ran:
    """From when to when the device was at a command, in nanoseconds of its own clock."""

    start_ns: int
    end_ns: int

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) * 1e-9


def ran(first: Any, last: Any = None) -> Ran:
    """From the start of the command of this event to the end of it, or of a later one."""
    return Ran(first.profile.start, (last or first).profile.end)
