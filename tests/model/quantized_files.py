"""Quantized ONNX files in QDQ form, as quantization tools write them, and what onnxruntime makes of them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from tests.model.onnx_files import Network

STEP = 0.05  # scale of most tensors
SIZE = (9, 11)


class QuantizedNetwork(Network):
    """A network with QuantizeLinear and DequantizeLinear around its operators."""

    def through_steps(self, scale: float = STEP, zero: int = 0, dtype: type[np.generic] = np.uint8) -> str:
        """Quantize the last tensor and dequantize it again."""
        grid = self.weight(np.array(scale, np.float32)), self.weight(np.array(zero, dtype))
        self.add("QuantizeLinear", *grid)
        return self.add("DequantizeLinear", *grid)

    def layer(
        self, kind: str, *shape: int, source_scale: float = STEP, reads: str | None = None, **attributes: Any
    ) -> str:
        """A Conv or Gemm with quantized weights (by output channel) and bias, for inputs of `source_scale`."""
        scale = self.random.uniform(0.002, 0.006, shape[0]).astype(np.float32)
        weight = self.random.integers(-127, 128, shape).astype(np.int8)
        bias = self.random.integers(-4000, 4000, shape[0]).astype(np.int32)
        source = self.tensor if reads is None else reads
        names = [
            self._dequantized(weight, scale, np.zeros(shape[0], np.int8)),
            self._dequantized(bias, scale * np.float32(source_scale), np.zeros(shape[0], np.int32)),
        ]
        return self.add(kind, *names, reads=source, **attributes)

    def _dequantized(self, numbers: NDArray[Any], scale: NDArray[Any], zero: NDArray[Any]) -> str:
        grid = self.weight(scale), self.weight(zero)
        return self.add("DequantizeLinear", *grid, reads=self.weight(numbers), axis=0)


def network_of_all_kinds() -> QuantizedNetwork:
    """Convolutions, a sum, a concatenation, pools, a fully connected layer, and activations that become bounds."""
    network = QuantizedNetwork(["N", 3, *SIZE])
    network.through_steps(1 / 255)
    network.layer("Conv", 16, 3, 3, 3, source_scale=1 / 255, pads=[1, 1, 1, 1])
    network.add("Relu")
    stem = network.through_steps()
    network.layer("Conv", 16, 1, 3, 3, pads=[1, 1, 1, 1], group=16)
    network.add("Clip", *(network.weight(np.array(bound, np.float32)) for bound in (0, 6)))
    network.through_steps(6 / 255)
    network.layer("Conv", 16, 16, 1, 1, source_scale=6 / 255)
    branch = network.through_steps(zero=114)
    network.add("Add", stem, reads=branch)
    network.add("Relu")
    total = network.through_steps(0.07)
    network.layer("Conv", 24, 16, 3, 3, source_scale=0.07, strides=[2, 2])
    network.through_steps(0.08, zero=3, dtype=np.int8)
    network.add("MaxPool", kernel_shape=[2, 2], strides=[1, 1])
    pooled = network.through_steps(0.08, zero=3, dtype=np.int8)
    other = network.layer("Conv", 8, 16, 5, 5, reads=total, source_scale=0.07, strides=[2, 2])
    network.through_steps(0.08, zero=3, dtype=np.int8)
    other = network.tensor
    network.add("Concat", other, reads=pooled, axis=1)
    network.through_steps(0.08, zero=3, dtype=np.int8)
    network.add("GlobalAveragePool")
    network.through_steps(0.04)
    network.add("Flatten")
    network.layer("Gemm", 10, 32, source_scale=0.04, transB=1)
    network.through_steps(0.02, zero=100)
    return network


def network_with_silu() -> QuantizedNetwork:
    """Two layers with SiLU, joined and pooled in floats; steps of that are read by the last layer."""
    network = QuantizedNetwork(["N", 3, *SIZE])
    image = network.through_steps(1 / 255)
    branches = []
    for kernel in (1, 3):
        pads = [kernel // 2] * 4
        conv = network.layer("Conv", 8, 3, kernel, kernel, reads=image, source_scale=1 / 255, pads=pads)
        gate = network.add("Sigmoid")
        branches.append(network.add("Mul", gate, reads=conv))
    network.add("Concat", branches[1], reads=branches[0], axis=1)
    network.add("MaxPool", kernel_shape=[2, 2])
    network.through_steps(zero=20)
    network.layer("Conv", 4, 16, 3, 3)
    network.add("Flatten")
    return network


def node_by_node(path: Path, x: NDArray[Any]) -> NDArray[Any]:
    """Return the first output [n, values] by onnxruntime, one node after the other as the file says.

    Its fused kernels saturate sums of two products on CPUs without VNNI instructions.
    """
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {session.get_inputs()[0].name: x})[0]).reshape(len(x), -1)
