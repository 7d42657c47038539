"""The NumPy reference as a device: slow, but without dependencies."""

import time
from dataclasses import dataclass

from edged.model.graph import Graph
from edged.model.model_part import Features, Images, run_reference
from edged.model.package import Input
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

    graph: Graph
    input: Input | None
    images: Images | Features
    features: str | None = None

    @property
    def is_computed(self) -> bool:
        """Return False: it is computed by `wait`."""
        return False

    def wait(self) -> NumpyResult:
        """Compute the forward pass, in the thread that waits for it."""
        start = time.perf_counter()
        tensors = run_reference(self.graph, self.input, self.images)
        outputs = tensors[self.graph.output].reshape(len(self.images), -1)
        features = tensors[self.features].reshape(len(self.images), -1) if self.features else None
        return NumpyResult(outputs, time.perf_counter() - start, features=features)


class NumpyRuntime:
    """Runs a model in NumPy (see `runtime.ModelRuntime`)."""

    device_name = NUMPY
    has_cpu_threads = False
    kernels = 0
    costs = ()

    def __init__(self, graph: Graph, model_input: Input | None, features: str | None = None) -> None:
        """`features`: the tensor that holds them."""
        self._graph = graph
        self._input = model_input
        self._features = features

    def compose(self, *, apart: bool = False) -> bool:
        """Return False: NumPy launches nothing."""
        return False

    def one_launches(self) -> tuple[int, int]:
        """Return zeros: NumPy launches nothing."""
        return 0, 0

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> NumpyPending:
        """Submit frames as `ModelRuntime` does, any n."""
        return NumpyPending(self._graph, self._input, frames, self._features if features else None)

    def cached_peaks(self) -> None:
        """Return None: peaks of NumPy are not measured."""

    def close(self) -> None:
        """Do nothing: no resources are held."""
