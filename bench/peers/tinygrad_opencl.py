"""tinygrad on its OpenCL device, which the environment chooses: see `__main__`."""

import numpy as np

from bench.peers.cases import Case, Run


def prepare(case: Case, threads: int, device: str) -> Run:
    """The weights on the device, and all kernels of the network recorded at its second run (TinyJit)."""
    from tinygrad import Device, Tensor, TinyJit
    from tinygrad.nn.onnx import OnnxRunner

    if Device.DEFAULT != "CL":
        raise RuntimeError(f"tinygrad chose {Device.DEFAULT} instead of OpenCL")
    network = OnnxRunner(Tensor(case.onnx))
    for name, value in network.graph_values.items():  # else each run would cut the weights out of the file again
        if isinstance(value, Tensor):
            network.graph_values[name] = value.contiguous().realize()
    forward = TinyJit(lambda x: network({case.network.input: x})[case.network.output].realize())
    return lambda: np.asarray(forward(Tensor(case.x).realize()).numpy())
