"""The NumPy reference as a device: slow, but without dependencies."""

import time
from dataclasses import dataclass

from edged.model.model_part import Features, Images, ModelPart
from edged.runtime.base import NUMPY, Outputs


@dataclass(frozen=True)
class NumpyResult:
    """A result with the fields of `runtime.Result`. Nothing is transferred, so only `forward_s` is not zero."""

    outputs: Outputs
    forward_s: float
    upload_s: float = 0.0
    download_s: float = 0.0
    on_device: None = None
    features: Outputs | None = None

    def read_clocks(self) -> tuple[()]:
        """Return nothing: NumPy has no kernels."""
        return ()


@dataclass(frozen=True, eq=False)
class NumpyPending:
    """Images, or features behind a cut, that wait for their forward pass."""

    part: ModelPart
    frames: Images | Features
    wants_features: bool = False

    @property
    def is_computed(self) -> bool:
        """Return False: it is computed by `wait`."""
        return False

    def wait(self) -> NumpyResult:
        """Compute the forward pass, in the thread that waits for it."""
        start = time.perf_counter()
        tensors = self.part.tensors(self.frames)
        outputs = tensors[self.part.graph.output].reshape(len(self.frames), -1)
        name = self.part.features if self.wants_features else None
        features = tensors[name].reshape(len(self.frames), -1) if name else None
        return NumpyResult(outputs, time.perf_counter() - start, features=features)


class NumpyRuntime:
    """Runs a part of a model in NumPy (see `base.ModelRuntime`). Its weights are read."""

    device_name = NUMPY
    has_cpu_threads = False
    kernels = 0
    costs = ()

    def __init__(self, part: ModelPart) -> None:
        self._part = part

    def compose(self, *, apart: bool = False) -> bool:
        """Return False: NumPy launches nothing."""
        return False

    def one_launches(self) -> tuple[int, int]:
        """Return zeros: NumPy launches nothing."""
        return 0, 0

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> NumpyPending:
        """Submit frames as `ModelRuntime` does, any n."""
        return NumpyPending(self._part, frames, features)

    def cached_peaks(self) -> None:
        """Return None: peaks of NumPy are not measured."""

    def close(self) -> None:
        """Do nothing: no resources are held."""
