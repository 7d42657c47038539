"""The interface of a model ready on a device: submit images, wait for the result."""

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from edged.model.model_part import Features, Images

if TYPE_CHECKING:
    from edged.engine.job import DeviceInterval
    from edged.engine.launch_cost import LaunchCost
    from edged.engine.transfer import CommandInterval

Outputs = NDArray[np.float32]


NUMPY = "NumPy"  # as a device's name


class Result(Protocol):
    """The result of a job, and seconds of device time.

    `outputs`: float32, the network's own, [n, classes], or of a part [n, *shape of what crosses the cut].
    `features`: float32 [n, values], the input of the last Dense, if requested.
    """

    @property
    def outputs(self) -> Outputs: ...
    @property
    def features(self) -> Outputs | None: ...
    @property
    def upload_s(self) -> float: ...
    @property
    def forward_s(self) -> float: ...
    @property
    def download_s(self) -> float: ...
    @property
    def on_device(self) -> "DeviceInterval | None":
        """Return the times by the device's own clock; None if it has no clock of its own."""

    def read_clocks(self) -> "tuple[CommandInterval, ...]":
        """Return when each kernel ran. The device records that in any case, but reading it takes time."""


class Pending(Protocol):
    """A job that was submitted to a device."""

    @property
    def is_computed(self) -> bool:
        """Return whether the device has computed it, so that `wait` takes no time to speak of."""

    def wait(self) -> Result:
        """Block until it is done, in any thread. Raises DeviceError."""


class ModelRuntime(Protocol):
    """A model, ready on a device."""

    @property
    def device_name(self) -> str: ...
    @property
    def has_cpu_threads(self) -> bool:
        """Return whether threads of its driver compute on the processors that this process runs on."""

    @property
    def kernels(self) -> int:
        """Return the kernels that one forward pass launches."""

    @property
    def costs(self) -> "tuple[LaunchCost, ...]":
        """Return the operations and bytes of each, for a full batch."""

    def cached_peaks(self) -> tuple[float, float] | None:
        """Return operations and bytes per second of the device, if `edged profile` has measured them there."""

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> Pending:
        """Start images, uint8 [n, height, width, 3] RGB with 1 ≤ n ≤ batch, without waiting for the answer.

        A part behind a cut takes float32 [n, channels, height, width]. Two submissions may be in flight.
        `features`: return those too, if the part has them. `by_layer`: the result holds when each kernel ran.
        Raises DeviceError.
        """

    def compose(self, *, apart: bool = False) -> bool:
        """Compile all layers into one launch, which jobs take where it is faster.

        `apart`: compile in another process. Returns False where that is impossible or gives another answer.
        Raises DeviceError.
        """

    def one_launches(self) -> tuple[int, int]:
        """Return the jobs that one launch computed, and how often a work-group gave up its wait for another.

        Raises DeviceError.
        """

    def close(self) -> None: ...
